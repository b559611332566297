import type { StatementSync } from 'node:sqlite'
import { LRUCache } from 'lru-cache'
import type { CachedRow, RowQuery } from '../database.ts'

/** About ten megabytes. */
const CACHED_ROWS = 12_000

interface RowCacheDeps<Row, Kept> extends RowQuery<Row, Kept> {
  prepare: (sql: string) => StatementSync
  once: <T>(statement: () => T) => Promise<T>
  /** Differs from an earlier answer when another process has committed something before this turn of the event loop. */
  foreignChanges: () => number
}

/**
 * `PRAGMA data_version` tells at no cost whether another connection has committed since; then nothing kept is believed.
 * Reading and keeping are one step, so that no commit of ours can come between them.
 */
export const cacheRow = <Row, Kept>({
  select,
  key,
  keep,
  prepare,
  once,
  foreignChanges,
}: RowCacheDeps<Row, Kept>): CachedRow<Kept> => {
  const statement = prepare(`${select} WHERE ${key} = ?`)
  const kept = new LRUCache<string, { value: Kept }>({ max: CACHED_ROWS })
  let keptAsOf = -1

  const read = (id: string): Kept | undefined => {
    const row = statement.get(id) as Row | undefined
    if (row === undefined) return undefined
    const value = keep(row)
    kept.set(id, { value })
    return value
  }

  const peek = (id: string): Kept | undefined => {
    const asOf = foreignChanges()
    if (asOf !== keptAsOf) kept.clear()
    keptAsOf = asOf
    return kept.get(id)?.value
  }

  return {
    peek,
    get: (id) => peek(id) ?? once(() => read(id)),
    forget: (id) => kept.delete(id),
    replace: (id, value) => kept.set(id, { value }),
    forgetAll: () => kept.clear(),
  }
}
