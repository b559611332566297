import type { Clock } from '../../lib/time.ts'
import type { Database } from '../database.ts'
import { insertRows } from '../rows.ts'
import { TABLES, type Table } from '../tables.ts'
import { markFinished } from './marker.ts'
import { type DatabaseLocation, locationName, openSource, openTarget } from './open.ts'
import { countRows, digestTable, explainInsertError, keyOf, readPages, type TableDigest } from './pages.ts'

export { START_OVER } from './pages.ts'
export { locationName } from './open.ts'

/** This part of a table is copied or checked. */
interface Progress {
  step: 'copy' | 'check'
  table: string
  rows: number
  total: number
}

/** The table has this content in both databases after the copy. */
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
  onProgress: (progress: Progress) => void
}

interface CopyOptions {
  from: DatabaseLocation
  to: DatabaseLocation
  clock: Clock
  onProgress: (progress: Progress) => void
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
const copyTable = async (deps: CopyDeps, table: Table): Promise<void> => {
  const total = await countRows(deps.source, table)
  let rows = 0
  let last = ''
  const report = (inBatch: number) => deps.onProgress({ step: 'copy', table: table.name, rows: rows + inBatch, total })
  report(0)
  for (;;) {
    const batch = await copyBatch(deps, table, last, report)
    if (batch.rows === 0) return
    rows += batch.rows
    last = batch.last
  }
}

/** Resolves to the number of copied rows, 0 when there are no more, and to the key of the last one. */
const copyBatch = (
  { source, target }: CopyDeps,
  table: Table,
  after: string,
  onRows: (count: number) => void,
): Promise<{ rows: number; last: string }> =>
  target.inTransaction(async (transaction) => {
    const batch = { rows: 0, last: after }
    for await (const page of readPages(source, table, after)) {
      await insertRows(transaction, table.name, page).catch((error: unknown) => {
        throw explainInsertError(error, table, page, target.dialect)
      })
      batch.rows += page.length
      batch.last = keyOf(table, page.at(-1))
      onRows(batch.rows)
      if (batch.rows >= BATCH_ROWS) break
    }
    return batch
  })

const compareTable = async ({ source, target, onProgress }: CopyDeps, table: Table): Promise<Comparison> => {
  const total = (await countRows(source, table)) + (await countRows(target, table))
  const seen = { source: 0, target: 0 }
  const count = (side: 'source' | 'target') => (rows: number) => {
    seen[side] = rows
    onProgress({ step: 'check', table: table.name, rows: seen.source + seen.target, total })
  }
  onProgress({ step: 'check', table: table.name, rows: 0, total })
  const [inSource, inTarget] = await Promise.all([
    digestTable(source, table, count('source')),
    digestTable(target, table, count('target')),
  ])
  const isEqual = inSource.rows === inTarget.rows && inSource.sha256 === inTarget.sha256
  return { table: table.name, source: inSource, target: inTarget, isEqual }
}
