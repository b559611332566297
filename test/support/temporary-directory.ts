import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { TestContext } from 'node:test'
import { afterwards, beforeExit } from './cleanup.ts'

/** With SVC_TEST_KEEP=on the folders of the tests are kept (docs/debugging.md). */
const areKept = process.env.SVC_TEST_KEEP === 'on'

/** An empty folder under the system's temporary one, removed after the test, or after the file when none is given. */
export const temporaryDirectory = (t?: TestContext): string => {
  const directory = mkdtempSync(path.join(tmpdir(), 'svc-test-'))
  if (areKept) {
    process.stderr.write(`Kept: ${directory} (${t?.fullName ?? 'for the whole file'})\n`)
    return directory
  }
  const remove = () => rmSync(directory, { recursive: true, force: true, maxRetries: 3 })
  // A test file that is ended early removes them, too.
  const forget = beforeExit(remove)
  afterwards(t, () => {
    forget()
    remove()
  })
  return directory
}
