import type { StatementSync } from 'node:sqlite'
import { LRUCache } from 'lru-cache'
import type { CachedRow } from './database.ts'

/** About ten megabytes. */
const CACHED_ROWS = 12_000

/**
 * `PRAGMA data_version` tells at no cost whether another connection has committed since; then nothing kept is believed.
 * Reading and keeping are one step, so that no commit of ours can come between them.
 */
export const cacheRow = <Row, Kept>(
  statement: StatementSync,
  keep: (row: Row) => Kept,
  once: <T>(statement: () => T) => Promise<T>,
): CachedRow<Kept> => {
  const kept = new LRUCache<string, { value: Kept }>({ max: CACHED_ROWS })
  let keptAsOf = -1

  const read = (key: string): Kept | undefined => {
    const row = statement.get(key) as Row | undefined
    if (row === undefined) return undefined
    const value = keep(row)
    kept.set(key, { value })
    return value
  }

  const peek = (key: string, asOf: number): Kept | undefined => {
    if (asOf !== keptAsOf) kept.clear()
    keptAsOf = asOf
    return kept.get(key)?.value
  }

  return {
    peek,
    get: (key, asOf) => peek(key, asOf) ?? once(() => read(key)),
    forget: (key) => kept.delete(key),
    replace: (key, value) => kept.set(key, { value }),
    forgetAll: () => kept.clear(),
  }
}
