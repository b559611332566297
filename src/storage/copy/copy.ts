import type { Clock } from '../../lib/time.ts'
import type { Database } from '../database.ts'
import { TABLES, type Table } from '../schema.ts'
import { explainInsertError } from './errors.ts'
import { markFinished } from './marker.ts'
import { type DatabaseLocation, locationName, openSource, openTarget } from './open.ts'
import { countRows, digestTable, findLastKey, insertPage, readPages, type TableDigest } from './pages.ts'

export { START_OVER } from './errors.ts'
export { locationName } from './open.ts'

/** How much of a table is copied or checked. */
interface Progress {
  step: 'copy' | 'check'
  table: string
  rows: number
  total: number
}

/** What a table holds in both databases after the copy. */
export interface Comparison {
  table: string
  source: TableDigest
  target: TableDigest
  isEqual: boolean
}

/**
 * Rows in one transaction. Emails and names come in random order in their indexes: the larger the transaction, the
 * fewer of the indexes' pages are written several times. An interruption loses one transaction at most.
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
 * Copies an installation to an empty database, or continues an interrupted copy. Then reads both databases again,
 * compares them, and marks the copy as usable if they are equal. Throws `conflict` when the copy can neither start nor
 * continue.
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

/** Copies the rows after the last one in the target, with one page of rows in memory. */
const copyTable = async (deps: CopyDeps, table: Table): Promise<void> => {
  const total = await countRows(deps.source, table)
  let rows = await countRows(deps.target, table)
  const report = (inBatch: number) => deps.onProgress({ step: 'copy', table: table.name, rows: rows + inBatch, total })
  report(0)
  for (;;) {
    const copied = await copyBatch(deps, table, report)
    if (copied === 0) return
    rows += copied
  }
}

/** Resolves to the number of copied rows; 0 when there are no more. */
const copyBatch = ({ source, target }: CopyDeps, table: Table, onRows: (count: number) => void): Promise<number> =>
  target.inTransaction(async (transaction) => {
    let count = 0
    for await (const page of readPages(source, table, await findLastKey(transaction, table))) {
      await insertPage(transaction, table, page).catch((error: unknown) => {
        throw explainInsertError(error, table, page, target.dialect)
      })
      count += page.length
      onRows(count)
      if (count >= BATCH_ROWS) break
    }
    return count
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
