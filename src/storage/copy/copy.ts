import type { Clock } from '../../lib/time.ts'
import type { Database } from '../database.ts'
import { TABLES, type Table } from '../schema.ts'
import { nameOfPlace, openSource, openTarget, type Place } from './ends.ts'
import { explainRefusal } from './errors.ts'
import { markFinished } from './marker.ts'
import { type Content, countRows, findLastKey, insertPage, readContent, readPages } from './pages.ts'

export { nameOfPlace } from './ends.ts'
export { COPY_ANEW } from './errors.ts'

/** How far a table is. */
interface Progress {
  step: 'copy' | 'check'
  table: string
  rows: number
  /** How many there are. */
  of: number
}

/** What is in a table of both databases when the copy is done. */
export interface Comparison {
  table: string
  source: Content
  target: Content
  isEqual: boolean
}

/**
 * Rows of one transaction. The indexes of emails and names are written to all over: the more rows at once, the fewer of
 * their pages are written again and again. What an interruption costs is as much at most.
 */
const BATCH_ROWS = 20_000

interface CopyDeps {
  source: Database
  target: Database
  onProgress: (progress: Progress) => void
}

interface Journey {
  from: Place
  to: Place
  clock: Clock
  onProgress: (progress: Progress) => void
}

/**
 * Copies an installation to an empty database, or goes on with a copy that was interrupted. Then reads both sides again,
 * compares them, and lets the copy be used if they are equal. `conflict` when it cannot be begun or gone on with.
 */
export const copyInstallation = async ({ from, to, clock, onProgress }: Journey): Promise<Comparison[]> => {
  await using stack = new AsyncDisposableStack()
  const source = stack.adopt(await openSource(from), (db) => db.close())
  const target = stack.adopt(await openTarget(to, nameOfPlace(from), clock), (db) => db.close())
  const deps = { source, target, onProgress }
  for (const table of TABLES) await copyTable(deps, table)
  const comparisons: Comparison[] = []
  for (const table of TABLES) comparisons.push(await compareTable(deps, table))
  if (comparisons.every(({ isEqual }) => isEqual)) await markFinished(target)
  return comparisons
}

/** From behind the last row that is there already, one page of rows held at a time. */
const copyTable = async (deps: CopyDeps, table: Table): Promise<void> => {
  const of = await countRows(deps.source, table)
  let rows = await countRows(deps.target, table)
  const report = (inBatch: number) => deps.onProgress({ step: 'copy', table: table.name, rows: rows + inBatch, of })
  report(0)
  for (;;) {
    const copied = await copyBatch(deps, table, report)
    if (copied === 0) return
    rows += copied
  }
}

/** Resolves to how many rows were copied; none when there are no more. */
const copyBatch = ({ source, target }: CopyDeps, table: Table, onRows: (count: number) => void): Promise<number> =>
  target.inTransaction(async (transaction) => {
    let count = 0
    for await (const page of readPages(source, table, await findLastKey(transaction, table))) {
      await insertPage(transaction, table, page).catch((error: unknown) => {
        throw explainRefusal(error, table, page, target.dialect)
      })
      count += page.length
      onRows(count)
      if (count >= BATCH_ROWS) break
    }
    return count
  })

const compareTable = async ({ source, target, onProgress }: CopyDeps, table: Table): Promise<Comparison> => {
  const of = (await countRows(source, table)) + (await countRows(target, table))
  const seen = { source: 0, target: 0 }
  const count = (side: 'source' | 'target') => (rows: number) => {
    seen[side] = rows
    onProgress({ step: 'check', table: table.name, rows: seen.source + seen.target, of })
  }
  onProgress({ step: 'check', table: table.name, rows: 0, of })
  const [inSource, inTarget] = await Promise.all([
    readContent(source, table, count('source')),
    readContent(target, table, count('target')),
  ])
  const isEqual = inSource.rows === inTarget.rows && inSource.sha256 === inTarget.sha256
  return { table: table.name, source: inSource, target: inTarget, isEqual }
}
