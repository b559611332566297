import { AppError } from '../../lib/errors.ts'
import { withTimeout } from '../../lib/time.ts'
import type { Value } from '../database.ts'
import { type Batch, createBatches } from './batches.ts'

/** Updates that run alone, and may wait for a lock, keep others waiting for so long. */
const PATIENCE_MS = 20

interface UpdateBatcherDeps {
  /** Changes a row; resolves to the number of changed rows. */
  runAlone: (sql: string, values: Value[]) => Promise<number>
  /**
   * Changes several rows, given as one list for each value; returns the places in these lists of those that changed.
   */
  runTogether: (sql: string, columns: Value[][]) => Promise<{ place: number }[]>
  /** An update that waits longer than this to start is rejected with `unavailable`. */
  timeoutMs: number
}

/**
 * Runs single statements. The statements that change a row each (`UPDATE … SET … WHERE …`) and come in one turn of the
 * event loop, or while others run, become one statement, with one commit. It skips rows that another transaction holds,
 * so that it never waits for a lock, nor takes part in a deadlock. An update whose row it did not change runs alone,
 * and finds out by itself whether it has to wait, or there is nothing to change.
 */
export const createUpdateBatcher = ({ runAlone, runTogether, timeoutMs }: UpdateBatcherDeps): typeof runAlone => {
  /** Resolves to the lists of values whose row has changed. */
  const change = async (update: Update, rows: Value[][]): Promise<Set<Value[] | undefined>> => {
    if (rows.length === 1) return new Set()
    try {
      const columns = transpose(rows)
      const changed = await runTogether(toSql(update, columns.map(typeOf)), columns)
      return new Set(changed.map(({ place }) => rows[place - 1]))
    } catch (error) {
      // After a lost connection, nobody knows what has changed. After a refused value, nothing has.
      if (error instanceof AppError && error.code === 'unavailable') throw error
      return new Set()
    }
  }

  const send = async (update: Update, batch: Batch<Value[], number>): Promise<void> => {
    const changed = await change(update, [...batch.keys()])
    const alone: Promise<void>[] = []
    for (const [values, waiter] of batch) {
      if (changed.has(values)) waiter.resolve(1)
      else alone.push(runAlone(update.sql, values).then(waiter.resolve, waiter.reject))
    }
    if (alone.length > 0) await withTimeout(PATIENCE_MS, Promise.all(alone), undefined)
  }

  const runners = new Map<string, (values: Value[]) => Promise<number>>()
  const createRunner = (sql: string) => {
    const update = readUpdate(sql)
    if (!update) return (values: Value[]) => runAlone(sql, values)
    return createBatches<Value[], number>({ send: (batch) => send(update, batch), timeoutMs }).ask
  }

  return (sql, values) => {
    const run = runners.get(sql) ?? createRunner(sql)
    runners.set(sql, run)
    return run(values)
  }
}

interface Update {
  sql: string
  table: string
  changes: string
  condition: string
}

const readUpdate = (sql: string): Update | undefined => {
  const [, table, changes, condition] = /^UPDATE (\w+) SET ([^]+)\sWHERE ([^]+)$/.exec(sql) ?? []
  return table && changes && condition ? { sql, table, changes, condition } : undefined
}

/** Writes the same update for every row that one of the given lists of values names. They are passed as columns. */
const toSql = ({ table, changes, condition }: Update, types: string[]): string => {
  let count = 0
  const [set, where] = [changes, condition].map((text) => text.replaceAll('?', () => `given.v${++count}`))
  const arrays = types.map((type) => `CAST(? AS ${type}[])`).join(', ')
  const names = types.map((_, index) => `v${index + 1}`).join(', ')
  return `WITH given AS MATERIALIZED (
      SELECT given.* FROM unnest(${arrays}) WITH ORDINALITY AS given (${names}, place) JOIN ${table} ON ${where}
      FOR NO KEY UPDATE OF ${table} SKIP LOCKED)
    UPDATE ${table} SET ${set} FROM given WHERE ${where} RETURNING given.place`
}

const transpose = (rows: Value[][]): Value[][] =>
  (rows[0] ?? []).map((_, index) => rows.map((row) => row[index] ?? null))

const typeOf = (column: Value[]): string => (column.some((value) => typeof value === 'number') ? 'BIGINT' : 'TEXT')
