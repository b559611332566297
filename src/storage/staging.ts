import { DatabaseSync } from 'node:sqlite'
import { AppError } from '../lib/errors.ts'

const PRAGMAS = `
  PRAGMA journal_mode = OFF;
  PRAGMA synchronous = OFF;
  PRAGMA cache_size = -8192;
  CREATE TABLE records (number INTEGER PRIMARY KEY, record TEXT NOT NULL, id TEXT);
  CREATE TABLE keys (key TEXT PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID;`

interface Repetition {
  key: string
  number: number
}

interface Staged {
  number: number
  record: string
}

/** Keeps records that are about to be written elsewhere, so that memory holds few of them. */
export interface Staging {
  /** Adds a record, or adds nothing and returns the keys that earlier records have. Numbers rise. */
  add(number: number, record: string, keys: readonly string[]): Repetition[]
  has(key: string): boolean
  readonly count: number
  /** Returns records in the order of their numbers. */
  batches(size: number): Generator<Staged[]>
  /** Remembers the id that a record got. */
  setId(number: number, id: string): void
  idBatches(size: number): Generator<string[]>
  close(): void
}

/**
 * Opens a staging area in a temporary file that has no name, so that nothing is left of it when the process is killed
 * (https://www.sqlite.org/inmemorydb.html#temp_db).
 */
export const openStaging = (): Staging => {
  const database = new DatabaseSync('')
  database.exec(PRAGMAS)
  const insertKey = database.prepare('INSERT INTO keys (key, number) VALUES (?, ?) ON CONFLICT DO NOTHING')
  const deleteKey = database.prepare('DELETE FROM keys WHERE key = ? AND number = ?')
  const findKey = database.prepare('SELECT number FROM keys WHERE key = ?')
  const insertRecord = database.prepare('INSERT INTO records (number, record) VALUES (?, ?)')
  const updateId = database.prepare('UPDATE records SET id = ? WHERE number = ?')
  const findRecords = database.prepare('SELECT number, record FROM records WHERE number > ? ORDER BY number LIMIT ?')
  const findIds = database.prepare(
    'SELECT number, id FROM records WHERE number > ? AND id IS NOT NULL ORDER BY number LIMIT ?',
  )
  // It is one transaction without end: a commit for each record would write it to the disk at once.
  database.exec('BEGIN')
  let count = 0

  const numberOf = (key: string) => Number(findKey.get(key)?.number)

  return {
    add: (number, record, keys) =>
      orUnavailable(() => {
        const repeated = keys.filter((key) => insertKey.run(key, number).changes === 0)
        if (repeated.length > 0) {
          const repetitions = repeated.map((key) => ({ key, number: numberOf(key) }))
          for (const key of keys) deleteKey.run(key, number)
          return repetitions
        }
        insertRecord.run(number, record)
        count += 1
        return []
      }),
    has: (key) => findKey.get(key) !== undefined,
    get count() {
      return count
    },
    *batches(size) {
      for (let last = 0; ; ) {
        const rows = findRecords
          .all(last, size)
          .map((row) => ({ number: Number(row.number), record: String(row.record) }))
        if (rows.length === 0) return
        yield rows
        last = rows.at(-1)?.number ?? last
      }
    },
    setId: (number, id) => void orUnavailable(() => updateId.run(id, number)),
    *idBatches(size) {
      for (let last = 0; ; ) {
        const rows = findIds.all(last, size)
        if (rows.length === 0) return
        yield rows.map((row) => String(row.id))
        last = Number(rows.at(-1)?.number ?? last)
      }
    },
    close: () => database.close(),
  }
}

/** Writes spill to the file once the cache is full. */
const orUnavailable = <T>(write: () => T): T => {
  try {
    return write()
  } catch (error) {
    throw new AppError('unavailable', 'The folder for temporary files (SQLITE_TMPDIR, TMPDIR) cannot be written.', {
      cause: error,
    })
  }
}
