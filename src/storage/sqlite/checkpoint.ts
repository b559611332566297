import type { DatabaseSync } from 'node:sqlite'
import type { SideThread } from '../../lib/side-thread.ts'
import type { DiskWatch } from './disk-watch.ts'
import type { Mutex } from './mutex.ts'
import type { OpenFiles } from './open-files.ts'

const TASK = new URL('./checkpoint-task.js', import.meta.url)

/** This is 6 MB of log: the commits during a checkpoint still fit into the 8 MB that SQLite leaves on disk. */
const PAGES_BETWEEN_CHECKPOINTS = 1500

/** The log is measured after every eighth commit. */
const COMMITS_BETWEEN_MEASUREMENTS = 8

/** Deletions of this time share a checkpoint. */
const CLEAR_AFTER_MS = 1000

/** https://www.sqlite.org/pragma.html#pragma_wal_checkpoint describes the result. */
interface CheckpointResult {
  busy: number
  /** This counts the pages in the log. */
  log: number
}

interface CheckpointsDeps {
  file: string
  connection: DatabaseSync
  sideThread: SideThread
  disk: DiskWatch
  files: OpenFiles
  /** The mutex is held while a `RESTART` runs, so that no commit of this process does. */
  writeMutex: Mutex
  /** It is called when a checkpoint fails, which merely makes the log longer. */
  onFailure: (error: Error) => void
}

/**
 * Moves the log into the database file on another thread, because a checkpoint syncs, and a sync on the main thread
 * stops every request. Most pages move while commits go on (`PASSIVE`). Then commits wait until the few remaining pages
 * are moved (`RESTART`), while reads go on, so that the next commit writes the log from its start and it never grows.
 */
export const createCheckpoints = (deps: CheckpointsDeps) => {
  const { file, connection, sideThread, disk, files, writeMutex, onFailure } = deps
  // NOOP does not checkpoint: it tells how long the log is.
  const measureLog = connection.prepare('PRAGMA wal_checkpoint(NOOP)')
  let nextAtPages = PAGES_BETWEEN_CHECKPOINTS
  let hasRun = false
  let running: Promise<void> | undefined
  let commits = 0
  let mustClear = false
  let clearTimer: NodeJS.Timeout | undefined

  const report = (error: unknown): void => onFailure(error instanceof Error ? error : new Error(String(error)))

  /** The file of that name is then the one that the log belongs to. */
  const open = async (): Promise<void> => {
    await sideThread.run(TASK, { file, mode: 'OPEN' })
    try {
      files.requireInPlace()
    } catch (error) {
      await sideThread.run(TASK, { file, mode: 'CLOSE' })
      throw error
    }
  }

  const runCheckpoint = (mode: 'PASSIVE' | 'RESTART' | 'TRUNCATE'): Promise<CheckpointResult> => {
    files.requireInPlace()
    return sideThread.run(TASK, { file, mode })
  }

  const runBoth = async (): Promise<void> => {
    let restart: Promise<CheckpointResult> | undefined
    try {
      await open()
      await runCheckpoint('PASSIVE')
      const { busy, log } = await writeMutex.runExclusive(async () => {
        const clears = mustClear
        restart = runCheckpoint(clears ? 'TRUNCATE' : 'RESTART')
        const result = await disk.inTime(restart)
        if (clears && !result.busy) mustClear = false
        return result
      })
      // A reader in another process may need the log as it is.
      nextAtPages = PAGES_BETWEEN_CHECKPOINTS + (busy ? log : 0)
    } catch (error) {
      nextAtPages += PAGES_BETWEEN_CHECKPOINTS
      mustClear = false
      report(error)
      // The checkpoint still runs on a stalled disk.
      await restart?.catch(() => {})
    }
  }

  /** Tells whether the log has become so long that a checkpoint is due. */
  const isDue = (): boolean => {
    const { log } = measureLog.get() as unknown as CheckpointResult
    if (log < PAGES_BETWEEN_CHECKPOINTS) nextAtPages = PAGES_BETWEEN_CHECKPOINTS
    return log >= nextAtPages
  }

  const start = (): void => {
    hasRun = true
    running = runBoth().finally(() => {
      running = undefined
      if (mustClear) clearSoon()
    })
  }

  /** A command ends sooner, and another process may have the log. */
  const clearAtEnd = (): void => {
    try {
      connection.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    } catch (error) {
      report(error)
    }
  }

  const clearSoon = (): void => {
    clearTimer ??= setTimeout(() => {
      clearTimer = undefined
      if (!running && mustClear) start()
    }, CLEAR_AFTER_MS).unref()
  }

  return {
    /** Empties the log within seconds, for what it holds of deleted rows. */
    clearLog(): void {
      mustClear = true
      clearSoon()
    },
    /**
     * Starts a checkpoint if the log has become long. Call it after each commit, before the next transaction begins. It
     * never throws: what was committed must not be repeated.
     */
    afterCommit(): void {
      commits += 1
      if (running || commits % COMMITS_BETWEEN_MEASUREMENTS !== 0) return
      try {
        if (!isDue()) return
      } catch (error) {
        return report(error)
      }
      start()
    },
    /** Resolves when no checkpoint runs and the thread has closed the file. */
    async stop(): Promise<void> {
      await running
      clearTimeout(clearTimer)
      if (mustClear) clearAtEnd()
      if (hasRun) await sideThread.run(TASK, { file, mode: 'CLOSE' })
    },
  }
}
