import { closeSync, openSync } from 'node:fs'
import type { SideThread } from '../../lib/side-thread.ts'
import { createDiskWatch, type DiskWatch } from './disk-watch.ts'
import { createGroupCommit, type GroupCommit } from './group-commit.ts'
import { createLogRepair } from './log-repair.ts'
import { createOpenFiles, type OpenFiles } from './open-files.ts'

/** How long the disk may take to answer, unless the settings say so. */
const DISK_TIMEOUT_MS = 3000

export interface DiskOptions {
  /** How long the disk may take for a sync, in milliseconds. */
  diskTimeoutMs?: number | undefined
  /** Called when the disk stops taking writes, and when it takes them again. */
  onChange?: ((isUp: boolean, error?: Error) => void) | undefined
}

interface DurabilityDeps extends DiskOptions {
  /** The database as the settings name it. */
  file: string
  /** Its real path. */
  path: string
  sideThread: SideThread
  onFailure: (error: Error) => void
}

interface Durability {
  disk: DiskWatch
  files: OpenFiles
  groupCommit: GroupCommit
  /**
   * Resolves to whether the log is on disk. If not, the connection must not be closed: SQLite would move the log into
   * the database file. It must not while the log may be incomplete, and on a stalled disk it would hold up the end of
   * the process. The next start does it. Nor must it where the files have been replaced.
   */
  close(): Promise<boolean>
}

/** What brings the log of a database to disk, and copes with a disk that does not take it. */
export const createDurability = (deps: DurabilityDeps): Durability => {
  const { file, path, sideThread, diskTimeoutMs = DISK_TIMEOUT_MS, onFailure, onChange = () => {} } = deps
  const fileDescriptor = openSync(`${path}-wal`, 'r+')
  const disk = createDiskWatch({ timeoutMs: diskTimeoutMs, onChange })
  const files = createOpenFiles({ file, path, onReplaced: onFailure })
  const repair = createLogRepair({ file: path, files, sideThread, onChange, onLoss: onFailure })
  const groupCommit = createGroupCommit({ fileDescriptor, files, disk, repair })
  return {
    disk,
    files,
    groupCommit,
    async close() {
      await groupCommit.settle()
      repair.stop()
      const isInPlace = files.close()
      const isOnDisk = isInPlace && repair.isTrusted && !disk.isStalled
      if (isOnDisk) closeSync(fileDescriptor)
      return isOnDisk
    },
  }
}
