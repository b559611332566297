import fs from 'node:fs'
import { unavailable } from '../../lib/errors.ts'

interface Waiter {
  resolve: () => void
  reject: (reason: Error) => void
}

/**
 * Brings what was written to a file onto the disk, with one `fdatasync` for all who wait for one.
 * A call joins the next sync to start, never the one under way: that one may have begun before the caller's write.
 */
export const createGroupCommit = (fileDescriptor: number) => {
  let waiting: Waiter[] = []
  let underWay = false
  let failure: Error | undefined

  const start = (): void => {
    const served = waiting
    waiting = []
    underWay = true
    fs.fdatasync(fileDescriptor, (error) => {
      underWay = false
      // A kernel drops the pages that it failed to write and calls the next sync a success: never believe it again.
      if (error) failure = unavailable('The disk does not take writes; the service must be restarted.', error)
      for (const { resolve, reject } of served) {
        if (failure) reject(failure)
        else resolve()
      }
      if (waiting.length > 0) start()
    })
  }

  /** What is written to a file without a name is gone with the process, synced or not. */
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
      if (!underWay) start()
    })

  return {
    /** `unavailable` once a sync has failed. */
    requireSound(): void {
      const found = findFailure()
      if (found) throw found
    },
    /** Resolves when all that was written before the call is on disk; `unavailable` once a sync has failed. */
    wait,
    /** Resolves when no sync is under way. */
    settle: async (): Promise<void> => {
      if (underWay) await wait().catch(() => {})
    },
  }
}
