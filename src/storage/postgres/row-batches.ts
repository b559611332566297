import { unavailable } from '../../lib/errors.ts'
import type { CachedRow, RowQuery } from '../database.ts'

/** While so many queries are under way, keys gather for the next. */
export const QUERIES_AT_ONCE = 2
const KEYS_A_QUERY = 200

interface RowBatchesDeps<Row, Kept> extends RowQuery<Row, Kept> {
  /** Reads the rows whose `key` is one of several. */
  read: (sql: string, keys: string[]) => Promise<Row[]>
  /** Who has waited longer for his query to begin is told `unavailable`. */
  patienceMs: number
}

type Waiting<Kept> = PromiseWithResolvers<Kept | undefined> & { sinceMs: number }

/**
 * Remembers nothing, and asks for many rows at once: all that are wanted within one turn of the event loop, or while
 * queries are under way, go into one query. It begins after all of them were asked for, so that each is as fresh as if
 * it had been read alone.
 */
export const batchRows = <Row extends { id: string }, Kept>({
  select,
  key,
  keep,
  read,
  patienceMs,
}: RowBatchesDeps<Row, Kept>): CachedRow<Kept> => {
  const sql = `${select} WHERE ${key} = ANY(?)`
  const waiting = new Map<string, Waiting<Kept>>()
  let underWay = 0
  let scheduled = false

  /** A database that is slower than what is asked of it must not be asked ever later for those who are gone. */
  const dismissImpatient = (): void => {
    const eldestMs = performance.now() - patienceMs
    for (const [id, who] of waiting) {
      if (who.sinceMs >= eldestMs) return
      waiting.delete(id)
      who.reject(unavailable('The database has too much to do.'))
    }
  }

  const take = (): Map<string, Waiting<Kept>> => {
    const batch = new Map<string, Waiting<Kept>>()
    for (const [id, who] of waiting) {
      if (batch.size === KEYS_A_QUERY) break
      batch.set(id, who)
      waiting.delete(id)
    }
    return batch
  }

  const send = async (batch: Map<string, Waiting<Kept>>): Promise<void> => {
    try {
      const rows = await read(sql, [...batch.keys()])
      for (const row of rows) answer(batch.get(row.id), row)
      for (const who of batch.values()) who.resolve(undefined)
    } catch (error) {
      // Who waits behind a query that failed would wait as long again, for the same.
      for (const who of [...batch.values(), ...waiting.values()]) who.reject(error)
      waiting.clear()
    }
  }

  const answer = (who: Waiting<Kept> | undefined, row: Row): void => {
    try {
      who?.resolve(keep(row))
    } catch (error) {
      // One row that makes no sense is the matter of one request.
      who?.reject(error)
    }
  }

  const sendWaiting = (): void => {
    scheduled = false
    dismissImpatient()
    while (waiting.size > 0 && underWay < QUERIES_AT_ONCE) {
      underWay += 1
      void send(take()).finally(() => {
        underWay -= 1
        schedule()
      })
    }
  }

  const schedule = (): void => {
    if (scheduled || waiting.size === 0 || underWay >= QUERIES_AT_ONCE) return
    scheduled = true
    setImmediate(sendWaiting)
  }

  const get = (id: string): Kept | undefined | Promise<Kept | undefined> => {
    // The one character that a text cannot hold would have all who are in the same query refused.
    if (id.includes('\0')) return undefined
    const known = waiting.get(id)
    if (known) return known.promise
    const who: Waiting<Kept> = { ...Promise.withResolvers(), sinceMs: performance.now() }
    waiting.set(id, who)
    schedule()
    return who.promise
  }

  return { get, peek: () => undefined, forget: () => {}, replace: () => {}, forgetAll: () => {} }
}
