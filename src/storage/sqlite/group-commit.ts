import fs from 'node:fs'
import { unavailable } from '../../lib/errors.ts'

interface Waiter {
  resolve: () => void
  reject: (reason: Error) => void
}

export interface GroupCommit {
  /** Throws `unavailable` once a sync has failed, or the file was removed. */
  requireHealthy(): void
  /** Resolves when everything written before the call is on disk; rejects with `unavailable` once a sync has failed. */
  wait(): Promise<void>
  /** Resolves when no sync is running. */
  settle(): Promise<void>
}

/**
 * Syncs a file to disk, with one `fdatasync` for all callers that wait for one. A call joins the next sync to start,
 * never the running one, which may have begun before the caller's write.
 */
export const createGroupCommit = (fileDescriptor: number): GroupCommit => {
  let waiting: Waiter[] = []
  let isSyncing = false
  let failure: Error | undefined

  const start = (): void => {
    const batch = waiting
    waiting = []
    isSyncing = true
    fs.fdatasync(fileDescriptor, (error) => {
      isSyncing = false
      // The failure is final: a kernel drops the pages that it failed to write, and the next sync reports success.
      if (error) failure = unavailable('The disk does not take writes; the service must be restarted.', error)
      for (const { resolve, reject } of batch) {
        if (failure) reject(failure)
        else resolve()
      }
      if (waiting.length > 0) start()
    })
  }

  /** A file without a name is lost when the process ends, synced or not. */
  const findFailure = (): Error | undefined => {
    if (!failure && fs.fstatSync(fileDescriptor).nlink === 0) {
      failure = unavailable('The database files have been removed; the service must be restarted.')
    }
    return failure
  }

  const wait = (): Promise<void> =>
    new Promise((resolve, reject) => {
      if (findFailure()) return reject(failure)
      waiting.push({ resolve, reject })
      if (!isSyncing) start()
    })

  return {
    requireHealthy() {
      const found = findFailure()
      if (found) throw found
    },
    wait,
    async settle() {
      if (isSyncing) await wait().catch(() => {})
    },
  }
}
