import { unavailable } from '../../lib/errors.ts'
import type { CachedRow, RowQuery } from '../database.ts'

/** While this many queries run, keys are collected for the next one. */
export const MAX_CONCURRENT_QUERIES = 2
const MAX_KEYS_PER_QUERY = 200

interface RowBatcherDeps<Row, Mapped> extends RowQuery<Row, Mapped> {
  /** Reads the rows whose `key` is one of several. */
  read: (sql: string, keys: string[]) => Promise<Row[]>
  /** A key that waits longer than this for its query to start is rejected with `unavailable`. */
  timeoutMs: number
}

type Waiter<Mapped> = PromiseWithResolvers<Mapped | undefined> & { sinceMs: number }

/**
 * Looks up many rows in one query, and caches nothing: keys that are requested in one turn of the event loop, or while
 * other queries run, share the next query. It starts after all of them were requested, so that each result is as fresh
 * as if its row had been read alone.
 */
export const createRowBatcher = <Row extends { id: string }, Mapped>({
  select,
  key,
  mapRow,
  read,
  timeoutMs,
}: RowBatcherDeps<Row, Mapped>): CachedRow<Mapped> => {
  const sql = `${select} WHERE ${key} = ANY(?)`
  const waiting = new Map<string, Waiter<Mapped>>()
  let runningQueries = 0
  let isScheduled = false

  /** Without this, a database slower than its load would serve requests whose clients are gone, later and later. */
  const rejectExpired = (): void => {
    const expiredBeforeMs = performance.now() - timeoutMs
    for (const [id, waiter] of waiting) {
      if (waiter.sinceMs >= expiredBeforeMs) return
      waiting.delete(id)
      waiter.reject(unavailable('The database is overloaded.'))
    }
  }

  const takeBatch = (): Map<string, Waiter<Mapped>> => {
    const batch = new Map<string, Waiter<Mapped>>()
    for (const [id, waiter] of waiting) {
      if (batch.size === MAX_KEYS_PER_QUERY) break
      batch.set(id, waiter)
      waiting.delete(id)
    }
    return batch
  }

  const send = async (batch: Map<string, Waiter<Mapped>>): Promise<void> => {
    try {
      const rows = await read(sql, [...batch.keys()])
      for (const row of rows) settleRow(batch.get(row.id), row)
      for (const waiter of batch.values()) waiter.resolve(undefined)
    } catch (error) {
      // Keys that wait for the next query would wait as long again, for the same error.
      for (const waiter of [...batch.values(), ...waiting.values()]) waiter.reject(error)
      waiting.clear()
    }
  }

  const settleRow = (waiter: Waiter<Mapped> | undefined, row: Row): void => {
    try {
      waiter?.resolve(mapRow(row))
    } catch (error) {
      // An invalid row fails its own request only.
      waiter?.reject(error)
    }
  }

  const sendWaiting = (): void => {
    isScheduled = false
    rejectExpired()
    while (waiting.size > 0 && runningQueries < MAX_CONCURRENT_QUERIES) {
      runningQueries += 1
      void send(takeBatch()).finally(() => {
        runningQueries -= 1
        schedule()
      })
    }
  }

  const schedule = (): void => {
    if (isScheduled || waiting.size === 0 || runningQueries >= MAX_CONCURRENT_QUERIES) return
    isScheduled = true
    setImmediate(sendWaiting)
  }

  const get = (id: string): Mapped | undefined | Promise<Mapped | undefined> => {
    // PostgreSQL has no text with this character, and would fail the query of all keys in the batch.
    if (id.includes('\0')) return undefined
    const pending = waiting.get(id)
    if (pending) return pending.promise
    const waiter: Waiter<Mapped> = { ...Promise.withResolvers(), sinceMs: performance.now() }
    waiting.set(id, waiter)
    schedule()
    return waiter.promise
  }

  return { get, peek: () => undefined, forget: () => {}, replace: () => {}, forgetAll: () => {} }
}
