import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Awaitable } from '../../lib/awaitable.ts'
import { createBoundedCache } from '../../lib/bounded-cache.ts'
import type { CachedRow, RowQuery } from '../database.ts'
import { translateSqliteError } from './errors.ts'

/** They take about 13 MB; the cache may hold twice as many. */
const KEPT_ROWS = 12_000

interface RowCacheDeps<Row, Mapped> extends RowQuery<Row, Mapped> {
  prepare: (sql: string) => StatementSync
  runStatement: <T>(statement: () => T) => Awaitable<T>
  /** It changes when another process has committed before this turn of the event loop. */
  readDataVersion: () => number
}

/**
 * Caches rows until another process commits, which `PRAGMA data_version` shows at almost no cost
 * (docs/decisions/005-row-cache.md). A row is read and cached in one synchronous step, so that no commit of this
 * process can come in between.
 */
export const createRowCache = <Row, Mapped>({
  select,
  key,
  mapRow,
  prepare,
  runStatement,
  readDataVersion,
}: RowCacheDeps<Row, Mapped>): CachedRow<Mapped> => {
  const statement = prepare(`${select} WHERE ${key} = ?`)
  const cache = createBoundedCache<Mapped>(KEPT_ROWS)
  let cachedVersion = -1

  const read = (id: string): Mapped | undefined => {
    const row = statement.get(id) as Row | undefined
    if (row === undefined) return undefined
    const value = mapRow(row)
    cache.set(id, value)
    return value
  }

  const peek = (id: string): Mapped | undefined => {
    const version = readDataVersion()
    if (version !== cachedVersion) cache.clear()
    cachedVersion = version
    return cache.get(id)
  }

  return {
    peek,
    get: (id) => peek(id) ?? runStatement(() => read(id)),
    forget: (id) => cache.delete(id),
    replace: (id, value) => cache.set(id, value),
    forgetAll: () => cache.clear(),
  }
}

/**
 * When more than a thousand connections have requests, libuv asks the kernel for more of them up to 48 times before it
 * ends the turn of the event loop, which then takes half a second.
 */
const MAX_AGE_MS = 0.5

/**
 * Reads `PRAGMA data_version`, which changes when another connection commits, once in a turn of the event loop. That is
 * enough: requests that are read in one turn were sent before it, so that they see every commit that was acknowledged
 * before any of them was sent. In a long turn, it is read again.
 */
export const createDataVersionReader = (connection: DatabaseSync): (() => number) => {
  const dataVersion = connection.prepare('PRAGMA data_version')
  // An array takes half the time of an object.
  dataVersion.setReturnArrays(true)
  let version: number | undefined
  let readAtMs = 0
  const forget = (): void => {
    version = undefined
  }

  return () => {
    if (version !== undefined && performance.now() - readAtMs < MAX_AGE_MS) return version
    if (version === undefined) setImmediate(forget)
    try {
      version = (dataVersion.get() as unknown as [number])[0]
    } catch (error) {
      throw translateSqliteError(error)
    }
    readAtMs = performance.now()
    return version
  }
}
