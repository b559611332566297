import { renameSync, rmSync, type StatSyncOptions, statSync } from 'node:fs'
import { unavailable } from '../../lib/errors.ts'

/** The files are looked at this often while nothing is written. */
const LOOK_EVERY_MS = 1000

const EXACT = { bigint: true, throwIfNoEntry: false } satisfies StatSyncOptions

/** Tells one file from another whatever their names are; returns undefined if a file cannot be examined. */
const identify = (path: string): string | undefined => {
  try {
    const stats = statSync(path, EXACT)
    return stats && stats.nlink > 0n ? `${stats.dev} ${stats.ino}` : 'none'
  } catch {
    return undefined
  }
}

interface OpenFilesDeps {
  /** This is the database as the settings name it. */
  file: string
  /** This is its real path, beside which SQLite keeps the log and its index. */
  path: string
  /** It is called when the log of a database that has been replaced was set aside, or could not be. */
  onReplaced: (error: Error) => void
}

/** SQLite has these files of a database open. */
export interface OpenFiles {
  /** Throws `unavailable` unless each of them still has its name. */
  requireInPlace(): void
  /** Ends the watch; returns whether the connection may be closed, at which SQLite moves the log into the database. */
  close(): boolean
}

/**
 * Notices that another file, or none, has the name of the database, of its log (`-wal`) or of the index of the log
 * (`-shm`). Changes that are written from then on would be lost. Worse, SQLite takes a log for that of the database
 * beside it: the program that opens the new database next would move the log of the old one into it. That log is
 * therefore set aside.
 */
export const createOpenFiles = ({ file, path, onReplaced }: OpenFilesDeps): OpenFiles => {
  const [log, index] = [`${path}-wal`, `${path}-shm`]
  const opened = { database: identify(path), log: identify(log), index: identify(index) }
  let hasSetAside = false

  const isReplaced = (): boolean => {
    const database = identify(path)
    return database !== undefined && database !== 'none' && database !== opened.database
  }

  const setLogAside = (): void => {
    if (hasSetAside || !isReplaced() || identify(log) !== opened.log) return
    hasSetAside = true
    const formerLog = `${path}.former-wal`
    try {
      renameSync(log, formerLog)
      if (identify(index) === opened.index) rmSync(index)
      onReplaced(new Error(`The database has been replaced. The log of the former one is now ${formerLog}.`))
    } catch (cause) {
      onReplaced(new Error('The database has been replaced. Remove the log of the former one.', { cause }))
    }
  }

  const isLogInPlace = (): boolean => identify(log) === opened.log && identify(index) === opened.index

  const isInPlace = (): boolean => {
    if (identify(file) === opened.database && isLogInPlace()) return true
    setLogAside()
    return false
  }

  const timer = setInterval(isInPlace, LOOK_EVERY_MS).unref()

  return {
    requireInPlace() {
      if (isInPlace()) return
      throw unavailable('The database files have been removed or replaced; the service must be restarted.')
    },
    close() {
      clearInterval(timer)
      if (isInPlace()) return true
      // Acknowledged changes are then nowhere but in the log that has no name any more.
      return identify(file) === opened.database && identify(log) === 'none'
    },
  }
}
