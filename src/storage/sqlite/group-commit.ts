import fs from 'node:fs'
import { unavailable } from '../../lib/errors.ts'
import type { DiskWatch } from './disk-watch.ts'
import type { OpenFiles } from './open-files.ts'

interface Waiter {
  resolve: () => void
  reject: (reason: unknown) => void
}

interface GroupCommitDeps {
  fileDescriptor: number
  files: OpenFiles
  disk: DiskWatch
  /** It is called once, when a sync has failed. */
  onLostSync: (error: Error) => void
}

export interface GroupCommit {
  /** This tells whether a sync has failed: then every write is refused until the process ends. */
  readonly hasLostSync: boolean
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
 *
 * A failed sync is final (docs/decisions/061-failed-syncs.md): the kernel counts the pages that it could not write as
 * written, so that the next sync would succeed without them.
 */
export const createGroupCommit = ({ fileDescriptor, files, disk, onLostSync }: GroupCommitDeps): GroupCommit => {
  let waiting: Waiter[] = []
  let isSyncing = false
  let lost: Error | undefined

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

  /**
   * Answers the waiters if the file still has its name. A file that has lost it is gone when the process ends, synced
   * or not.
   */
  const acknowledge = (waiters: Waiter[]): void => {
    try {
      files.requireInPlace()
      for (const { resolve } of waiters) resolve()
    } catch (error) {
      rejectAll(waiters, error)
    }
  }

  /** Resolves when the sync has ended. */
  const syncBatch = async (batch: Waiter[]): Promise<'in time' | 'late' | 'failed'> => {
    const running = sync()
    try {
      await disk.inTime(running)
      acknowledge(batch)
      return 'in time'
    } catch (error) {
      if (disk.isStalled) rejectAll([...batch, ...takeBatch()], error)
    }
    try {
      await running
      return 'late'
    } catch (error) {
      lost = unavailable('The disk does not take writes.', error)
      onLostSync(lost)
      rejectAll([...batch, ...takeBatch()], lost)
      return 'failed'
    }
  }

  const start = async (): Promise<void> => {
    isSyncing = true
    let outcome = await syncBatch(takeBatch())
    // Commits after a late sync had begun were answered with 503. They are not left for the next write to sync.
    while (outcome === 'late' || (outcome === 'in time' && waiting.length > 0)) outcome = await syncBatch(takeBatch())
    isSyncing = false
  }

  const requireDisk = (): void => {
    if (lost) throw lost
    disk.requireAnswer()
  }

  const wait = (): Promise<void> =>
    new Promise((resolve, reject) => {
      requireDisk()
      waiting.push({ resolve, reject })
      if (!isSyncing) void start()
    })

  return {
    get hasLostSync() {
      return lost !== undefined
    },
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
