export { columnsOf, insertRow, insertRows, type NewRow, type TableRow } from './rows.ts'

/** The value of a column has this type. Timestamps are milliseconds since 1970; lists are JSON text. */
export type Value = string | number | null

/**
 * Runs statements, written once for every database that svc supports, with `?` for each value.
 *
 * - A `SELECT` whose result a transaction depends on ends in `FOR UPDATE` or `FOR SHARE`: its rows do not change until
 *   the transaction ends.
 * - `server_time()` is the clock of the database's server in milliseconds since 1970, the same for all replicas. It is
 *   `NULL` on SQLite, which has no server: the clock of the machine is the only one.
 */
export interface Queries {
  all<Row>(sql: string, ...values: Value[]): Promise<Row[]>
  get<Row>(sql: string, ...values: Value[]): Promise<Row | undefined>
  /** Resolves to the number of changed rows. */
  run(sql: string, ...values: Value[]): Promise<number>
}

export interface Transaction extends Queries {
  /** Runs at the instant of the commit, before any other code of this process can read. */
  afterCommit(action: () => void): void
}

/** The query finds one row by its key, and the function maps it. */
export interface RowQuery<Row, Mapped> {
  /** This is a `SELECT` that has no `WHERE` yet; one of its columns is called `id` and holds the key. */
  select: string
  /** This column is compared, such as `sessions.id`. */
  key: string
  mapRow: (row: Row) => Mapped
}

/**
 * Looks up rows by key, of which every request needs one. A result is as fresh as a query at the time of the call. On
 * SQLite, rows are cached until the database changes; on PostgreSQL, lookups are batched.
 */
export interface CachedRow<Mapped> {
  get(key: string): Mapped | undefined | Promise<Mapped | undefined>
  /** Returns the cached row if it is still current; never queries the database. */
  peek(key: string): Mapped | undefined
  /** Call it in `afterCommit` after a change of the row with this key. */
  forget(key: string): void
  /** Call it in `afterCommit` after the row with this key was written. */
  replace(key: string, value: Mapped): void
  /** Call it in `afterCommit` after a change of rows whose keys are not known. */
  forgetAll(): void
}

/** The load is the number of connections of a pool that are in use at the moment. */
export interface PoolLoad {
  open: number
  idle: number
  /** So many operations wait for a connection. */
  waiting: number
}

export type Dialect = 'sqlite' | 'postgres'

/**
 * Every transient failure of a database (unreachable, locked, full) is an `AppError` of code `unavailable`, and a
 * violated uniqueness constraint is a `UniqueViolation`.
 */
export interface Database extends Queries {
  readonly dialect: Dialect
  /** An operation waits so long for the server; it is undefined if there is none. */
  readonly timeoutMs?: number
  /**
   * Commits everything that `work` did, or nothing. Resolves when the commit is on disk. `work` must do nothing slow,
   * and nothing that cannot be repeated: when two transactions conflict, one of them runs again from its start.
   */
  inTransaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>
  /** Reads what was committed at one moment, with any number of queries, while writes go on. */
  inSnapshot<T>(work: (queries: Pick<Queries, 'all' | 'get'>) => Promise<T>): Promise<T>
  /**
   * Runs single statements, each a transaction of its own, or in one that statements of other requests share: each
   * still succeeds or fails by itself. An `UPDATE` changes one row. `afterCommit` runs at the instant of the commit.
   */
  autocommit(afterCommit: (changes: number) => void): Pick<Queries, 'run'>
  /**
   * Runs a single statement whose effect a crash may undo, and which therefore waits for no disk. Resolves to the rows
   * of its `RETURNING`.
   */
  runUnsynced<Row>(sql: string, ...values: Value[]): Promise<Row[]>
  /** Throws `unavailable` when the database cannot be read, or writes do not reach the disk. */
  requireHealthy(): Promise<void>
  /** Resolves when everything that can be read now is on disk. */
  waitUntilDurable(): Promise<void>
  /** Sees to it that SQLite's log is soon empty: it has earlier versions of rows, those of a deleted user among them. */
  clearLog(): void
  cachedRow<Row extends { id: string }, Mapped>(query: RowQuery<Row, Mapped>): CachedRow<Mapped>
  /** Writes a consistent copy to a new file while reads and writes go on; throws `invalid_request` on PostgreSQL. */
  backup(file: string): Promise<void>
  /** Returns the load of the pool; it is undefined if there is none. */
  poolLoad?(): PoolLoad
  close(): Promise<void>
}

/**
 * This is `moment (now)` for a `WITH`: the time that rows are judged by. It is the server's, the same for all replicas;
 * if there is none, it is that of this machine, which is the value.
 */
export const MOMENT = 'moment (now) AS (SELECT COALESCE(server_time(), CAST(? AS BIGINT)))'

/** Messages say so of a database, of either kind, that lacks a table or a column. */
export const NO_TABLES = 'has no tables of svc: run `svc migrate`, or restore a backup'
export const OTHER_TABLES = 'has tables of another version: run `svc migrate`'

/** A row with this value exists already. `columns` are written as `table.column`. */
export class UniqueViolation extends Error {
  readonly columns: string[]

  constructor(columns: string[], cause: unknown) {
    super(`a row with the same ${columns.join(', ')} exists`, { cause })
    this.name = 'UniqueViolation'
    this.columns = columns
  }
}

export const isUniqueViolation = (error: unknown, column: string): boolean =>
  error instanceof UniqueViolation && error.columns.includes(column)

/** Runs a query for a number, `count`; resolves to 0 if it finds no row. */
export const countWith = async (db: Pick<Queries, 'get'>, sql: string, ...values: Value[]): Promise<number> =>
  (await db.get<{ count: number }>(sql, ...values))?.count ?? 0

const BATCH = 500

/** Cleans up in statements that keep nobody waiting for long; resolves to how many rows there were. */
export const inBatches = async (cleanUp: (limit: number) => Promise<number>): Promise<number> => {
  let rows = 0
  for (;;) {
    const batch = await cleanUp(BATCH)
    rows += batch
    if (batch < BATCH) return rows
  }
}
