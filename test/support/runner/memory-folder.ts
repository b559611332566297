import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import path from 'node:path'
import { beforeExit } from '../cleanup.ts'

const MEMORY = '/dev/shm'
/** Far more than the folders of all files that run at the same time. */
const LEAST_BYTES = 4 * 1024 ** 3

const hasRoom = (): boolean => {
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    return bavail * bsize >= LEAST_BYTES
  } catch {
    return false
  }
}

/**
 * Puts the temporary folders of all tests into memory where the machine has room there, unless TMPDIR is set or they are
 * kept: syncs of a disk take processor time, and prove nothing. Returns how to remove them.
 */
export const useMemoryForFolders = (): (() => void) => {
  if (process.env.TMPDIR || process.env.SVC_TEST_KEEP === 'on' || !hasRoom()) return () => {}
  const folder = mkdtempSync(path.join(MEMORY, 'svc-tests-'))
  // Servers of other users have folders there.
  chmodSync(folder, 0o755)
  process.env.TMPDIR = folder
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  const forget = beforeExit(remove)
  return () => {
    forget()
    remove()
  }
}
