import fs from 'node:fs'
import { unavailable } from '../../lib/errors.ts'
import type { DiskWatch } from './disk-watch.ts'
import type { LogRepair } from './log-repair.ts'

interface Waiter {
  resolve: () => void
  reject: (reason: unknown) => void
}

interface GroupCommitDeps {
  /** Of the log. */
  fileDescriptor: number
  disk: DiskWatch
  repair: LogRepair
}

export interface GroupCommit {
  /** Throws `unavailable` while the disk takes no writes. Call it before each write. */
  requireWritable(): void
  /** The same, and once the file was removed. */
  requireHealthy(): void
  /** Resolves when everything written before the call is on disk; rejects with `unavailable` when it may not be. */
  wait(): Promise<void>
  /** Resolves when no sync is running that is in time. */
  settle(): Promise<void>
}

/**
 * Syncs a file to disk, with one `fdatasync` for all callers that wait for one. A call joins the next sync to start,
 * never the running one, which may have begun before the caller's write.
 */
export const createGroupCommit = ({ fileDescriptor, disk, repair }: GroupCommitDeps): GroupCommit => {
  let waiting: Waiter[] = []
  let isSyncing = false
  let removal: Error | undefined

  const sync = (): Promise<void> =>
    new Promise((resolve, reject) => {
      fs.fdatasync(fileDescriptor, (error) => (error ? reject(error) : resolve()))
    })

  const takeBatch = (): Waiter[] => {
    const batch = waiting
    waiting = []
    return batch
  }

  const rejectAll = (waiters: Waiter[], error: unknown): void => {
    for (const { reject } of waiters) reject(error)
  }

  /** Resolves when the sync has ended, to whether that was in time. */
  const syncBatch = async (batch: Waiter[]): Promise<boolean> => {
    const running = sync()
    try {
      await disk.inTime(running)
      for (const { resolve } of batch) resolve()
      return true
    } catch (error) {
      if (disk.isStalled) rejectAll([...batch, ...takeBatch()], error)
    }
    try {
      await running
    } catch (error) {
      rejectAll([...batch, ...takeBatch()], repair.begin(error as Error))
    }
    return false
  }

  const start = async (): Promise<void> => {
    isSyncing = true
    let wasInTime = await syncBatch(takeBatch())
    // What was committed after a late sync had begun was answered with 503: it is not left for the next write to sync.
    while (waiting.length > 0 || !wasInTime) {
      if (!repair.isTrusted) break
      wasInTime = await syncBatch(takeBatch())
    }
    isSyncing = false
  }

  /** A file without a name is lost when the process ends, synced or not. */
  const requireFile = (): void => {
    if (!removal && fs.fstatSync(fileDescriptor).nlink === 0) {
      removal = unavailable('The database files have been removed; the service must be restarted.')
    }
    if (removal) throw removal
  }

  const requireWritable = (): void => {
    repair.requireTrusted()
    disk.requireAnswer()
  }

  const requireHealthy = (): void => {
    requireFile()
    requireWritable()
  }

  const wait = (): Promise<void> =>
    new Promise((resolve, reject) => {
      requireHealthy()
      waiting.push({ resolve, reject })
      if (!isSyncing) void start()
    })

  return {
    requireWritable,
    requireHealthy,
    wait,
    async settle() {
      if (isSyncing && !disk.isStalled) await wait().catch(() => {})
    },
  }
}
