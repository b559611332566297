import fs from 'node:fs'
import type { DiskWatch } from './disk-watch.ts'
import type { LogRepair } from './log-repair.ts'
import type { OpenFiles } from './open-files.ts'

interface Waiter {
  resolve: () => void
  reject: (reason: unknown) => void
}

interface GroupCommitDeps {
  /** Of the log. */
  fileDescriptor: number
  files: OpenFiles
  disk: DiskWatch
  repair: LogRepair
}

export interface GroupCommit {
  /** Throws `unavailable` while the disk takes no writes, or the files are not in place. Call it before each write. */
  requireWritable(): void
  /** Resolves when everything written before the call is on disk; rejects with `unavailable` when it may not be. */
  wait(): Promise<void>
  /** Resolves when no sync is running that is in time. */
  settle(): Promise<void>
}

/**
 * Syncs a file to disk, with one `fdatasync` for all callers that wait for one. A call joins the next sync to start,
 * never the running one, which may have begun before the caller's write.
 */
export const createGroupCommit = ({ fileDescriptor, files, disk, repair }: GroupCommitDeps): GroupCommit => {
  let waiting: Waiter[] = []
  let isSyncing = false

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

  /** A file without its name is lost when the process ends, synced or not. */
  const acknowledge = (waiters: Waiter[]): void => {
    try {
      files.requireInPlace()
      for (const { resolve } of waiters) resolve()
    } catch (error) {
      rejectAll(waiters, error)
    }
  }

  /** Resolves when the sync has ended, to whether that was in time. */
  const syncBatch = async (batch: Waiter[]): Promise<boolean> => {
    const running = sync()
    try {
      await disk.inTime(running)
      acknowledge(batch)
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

  const requireDisk = (): void => {
    repair.requireTrusted()
    disk.requireAnswer()
  }

  const wait = (): Promise<void> =>
    new Promise((resolve, reject) => {
      requireDisk()
      waiting.push({ resolve, reject })
      if (!isSyncing) void start()
    })

  return {
    requireWritable() {
      files.requireInPlace()
      requireDisk()
    },
    wait,
    async settle() {
      if (isSyncing && !disk.isStalled) await wait().catch(() => {})
    },
  }
}
