import type { CachedRow, RowQuery } from '../database.ts'
import { type Batch, createBatches, type Waiter } from './batches.ts'

interface RowBatcherDeps<Row, Mapped> extends RowQuery<Row, Mapped> {
  /** Reads the row of one key, or the rows of several. */
  read: (sql: string, keys: string | string[]) => Promise<Row[]>
  /** A key that waits longer than this for its query to start is rejected with `unavailable`. */
  timeoutMs: number
}

/**
 * Looks up many rows in one query, and caches nothing: each result is as fresh as if its row had been read alone, since
 * the query starts after all of them were requested.
 */
export const createRowBatcher = <Row extends { id: string }, Mapped>({
  select,
  key,
  mapRow,
  read,
  timeoutMs,
}: RowBatcherDeps<Row, Mapped>): CachedRow<Mapped> => {
  // A plan for one key fits every key, so that the server keeps it. For a list it makes one each time, by its length.
  const readOne = `${select} WHERE ${key} = ?`
  const readSeveral = `${select} WHERE ${key} = ANY(?)`

  const send = async (batch: Batch<string, Mapped | undefined>): Promise<void> => {
    const [id = '', ...more] = batch.keys()
    const rows = more.length === 0 ? await read(readOne, id) : await read(readSeveral, [id, ...more])
    for (const row of rows) settleRow(batch.get(row.id), row)
    for (const waiter of batch.values()) waiter.resolve(undefined)
  }

  const settleRow = (waiter: Waiter<Mapped | undefined> | undefined, row: Row): void => {
    try {
      waiter?.resolve(mapRow(row))
    } catch (error) {
      // An invalid row fails its own request only.
      waiter?.reject(error)
    }
  }

  const batches = createBatches({ send, timeoutMs })
  return {
    // PostgreSQL has no text with this character, and would fail the query of all keys in the batch.
    get: (id) => (id.includes('\0') ? undefined : batches.ask(id)),
    peek: () => undefined,
    forget: () => {},
    replace: () => {},
    forgetAll: () => {},
  }
}
