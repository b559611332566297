import { closeSync, openSync } from 'node:fs'
import { createDiskWatch } from './disk-watch.ts'
import { createGroupCommit } from './group-commit.ts'
import { createOpenFiles } from './open-files.ts'

/** The disk may take so long to answer, unless the settings say otherwise. */
const DISK_TIMEOUT_MS = 3000

export interface DiskOptions {
  /** The disk may take so long for a sync, in milliseconds. */
  diskTimeoutMs?: number | undefined
  /** It is called when the disk stops answering, and when it answers again. */
  onChange?: ((isUp: boolean, error?: Error) => void) | undefined
  /** It is called when a sync has failed: the process must end. Until it does, every write is refused. */
  onLostSync?: ((error: Error) => void) | undefined
}

interface DurabilityDeps extends DiskOptions {
  /** This is the database as the settings name it. */
  file: string
  path: string
  onFailure: (error: Error) => void
}

/** Brings the log of a database to disk, and copes with a disk that does not take it. */
export const createDurability = (deps: DurabilityDeps) => {
  const { file, path, diskTimeoutMs = DISK_TIMEOUT_MS, onFailure, onChange = () => {}, onLostSync = () => {} } = deps
  const fileDescriptor = openSync(`${path}-wal`, 'r+')
  const disk = createDiskWatch({ timeoutMs: diskTimeoutMs, onChange })
  const files = createOpenFiles({ file, path, onReplaced: onFailure })
  const groupCommit = createGroupCommit({ fileDescriptor, files, disk, onLostSync })
  return {
    disk,
    files,
    groupCommit,
    /**
     * Resolves to true if the log is on disk. If not, the connection must not be closed, since SQLite would move the
     * log into the database file: the log may be incomplete, a stalled disk would hold up the end of the process, and
     * files that were replaced belong to another database.
     */
    async close(): Promise<boolean> {
      await groupCommit.settle()
      const isInPlace = files.close()
      const isOnDisk = isInPlace && !groupCommit.hasLostSync && !disk.isStalled
      if (isOnDisk) closeSync(fileDescriptor)
      return isOnDisk
    },
  }
}
