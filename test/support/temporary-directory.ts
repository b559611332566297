import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { TestContext } from 'node:test'
import { afterwards, beforeExit } from './cleanup.ts'

/** An empty folder under the system's temporary one, removed after the test, or after the file when none is given. */
export const temporaryDirectory = (t?: TestContext): string => {
  const directory = mkdtempSync(path.join(tmpdir(), 'svc-test-'))
  const remove = () => rmSync(directory, { recursive: true, force: true, maxRetries: 3 })
  // A test file that is itself ended early leaves nothing behind either.
  const forget = beforeExit(remove)
  afterwards(t, () => {
    forget()
    remove()
  })
  return directory
}
