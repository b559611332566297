import type { Clock } from '../../lib/time.ts'
import type { Database } from '../database.ts'
import { insertRows } from '../rows.ts'
import { TABLES, type Table } from '../tables.ts'
import { markFinished } from './marker.ts'
import { type DatabaseLocation, locationName, openSource, openTarget } from './open.ts'
import { countRows, digestTable, explainInsertError, keyOf, readPages, type TableDigest } from './pages.ts'

export { START_OVER } from './pages.ts'
export { locationName } from './open.ts'

/** Hears how many rows of a table are copied or checked. */
type OnProgress = (step: 'copy' | 'check', table: string, rows: number, total: number) => void

export interface Comparison {
  table: string
  source: TableDigest
  target: TableDigest
  isEqual: boolean
}

/**
 * One transaction has so many rows. Emails and names come in random order in their indexes: the larger the transaction,
 * the fewer of the indexes' pages are written several times.
 */
const BATCH_ROWS = 20_000

interface CopyDeps {
  source: Database
  target: Database
  onProgress: OnProgress
}

interface CopyOptions {
  from: DatabaseLocation
  to: DatabaseLocation
  clock: Clock
  onProgress: OnProgress
}

/**
 * Copies an installation to an empty database. Then reads both databases again, compares them, and marks the copy as
 * usable if they are equal. Throws `conflict` when the copy cannot start.
 */
export const copyInstallation = async ({ from, to, clock, onProgress }: CopyOptions): Promise<Comparison[]> => {
  await using stack = new AsyncDisposableStack()
  const source = stack.adopt(await openSource(from), (db) => db.close())
  const target = stack.adopt(await openTarget(to, locationName(from), clock), (db) => db.close())
  const deps = { source, target, onProgress }
  for (const table of TABLES) await copyTable(deps, table)
  const comparisons: Comparison[] = []
  for (const table of TABLES) comparisons.push(await compareTable(deps, table))
  if (comparisons.every(({ isEqual }) => isEqual)) await markFinished(target)
  return comparisons
}

/** Copies a table in transactions of `BATCH_ROWS`, with one page of rows in memory. */
const copyTable = async ({ source, target, onProgress }: CopyDeps, table: Table): Promise<void> => {
  const total = await countRows(source, table)
  let done = { rows: 0, last: '' }
  onProgress('copy', table.name, 0, total)
  for (let before = -1; done.rows > before; ) {
    before = done.rows
    done = await target.inTransaction(async (transaction) => {
      const batch = { ...done }
      for await (const page of readPages(source, table, done.last)) {
        await insertRows(transaction, table.name, page).catch((error: unknown) => {
          throw explainInsertError(error, table, page, target.dialect)
        })
        batch.rows += page.length
        batch.last = keyOf(table, page.at(-1))
        onProgress('copy', table.name, batch.rows, total)
        if (batch.rows - done.rows >= BATCH_ROWS) break
      }
      return batch
    })
  }
}

const compareTable = async ({ source, target, onProgress }: CopyDeps, table: Table): Promise<Comparison> => {
  const total = (await countRows(source, table)) + (await countRows(target, table))
  const seen = { source: 0, target: 0 }
  const digest = (side: 'source' | 'target', db: Database) =>
    digestTable(db, table, (rows) => {
      seen[side] = rows
      onProgress('check', table.name, seen.source + seen.target, total)
    })
  onProgress('check', table.name, 0, total)
  const [inSource, inTarget] = await Promise.all([digest('source', source), digest('target', target)])
  const isEqual = inSource.rows === inTarget.rows && inSource.sha256 === inTarget.sha256
  return { table: table.name, source: inSource, target: inTarget, isEqual }
}
