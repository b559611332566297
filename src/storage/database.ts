/** What a column holds. Timestamps are milliseconds since 1970; lists are JSON text. */
export type Value = string | number | null

/**
 * Statements are written once for every database that svc knows, with `?` for each value. A `SELECT` that something
 * is decided by ends in `FOR UPDATE` or `FOR SHARE`: the rows stay as they were read until the transaction ends.
 * `server_time()` is what the clock of the database's server says, in milliseconds since 1970, the same for all replicas;
 * `NULL` where the database has no server, and so no clock but that of this machine.
 */
export interface Queries {
  all<Row>(sql: string, ...values: Value[]): Promise<Row[]>
  get<Row>(sql: string, ...values: Value[]): Promise<Row | undefined>
  /** Resolves to the number of changed rows. */
  run(sql: string, ...values: Value[]): Promise<number>
}

export interface Transaction extends Queries {
  /** Runs at the instant of the commit, before anything else here can read. */
  afterCommit(action: () => void): void
}

/** A row that requests ask for by its key. */
export interface RowQuery<Row, Kept> {
  /** A `SELECT` without its `WHERE`; one of its columns is called `id` and holds the key. */
  select: string
  /** The column that is compared, such as `sessions.id`. */
  key: string
  /** Makes of a row what is wanted of it. */
  keep: (row: Row) => Kept
}

/**
 * One row by its key, wanted by every request, as it is in the database when it is asked for. Where asking is dear it is
 * remembered for as long as nobody changed the database.
 */
export interface CachedRow<Kept> {
  get(key: string): Kept | undefined | Promise<Kept | undefined>
  /** What is remembered, if it is still true, without asking the database. */
  peek(key: string): Kept | undefined
  /** To be called in `afterCommit` by whoever changes the row of this key. */
  forget(key: string): void
  /** To be called in `afterCommit` by whoever has just written the row of this key. */
  replace(key: string, value: Kept): void
  /** The same for a change that touches the rows of unknown keys. */
  forgetAll(): void
}

/** How a pool of connections is used at this moment. */
export interface PoolLoad {
  open: number
  idle: number
  /** Operations that wait for a connection. */
  waiting: number
}

export type Dialect = 'sqlite' | 'postgres'

/**
 * A database. Every failure that passes (away, locked, full) is an `AppError` of code `unavailable`,
 * a broken uniqueness rule is a `UniqueViolation`.
 */
export interface Database extends Queries {
  readonly dialect: Dialect
  /**
   * Commits what `work` did, or nothing of it. Resolves when the commit is on disk. No slow work inside, and none that
   * cannot be done over: a database that finds two transactions in each other's way has one begin again.
   */
  inTransaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>
  /** For one statement that is a transaction of its own; `afterCommit` runs at the instant of its commit. */
  single(afterCommit: (changes: number) => void): Pick<Queries, 'run'>
  /** `unavailable` when it cannot be read, or writes do not reach the disk. */
  requireHealthy(): Promise<void>
  /** Resolves when everything that can be read now is on disk. */
  durable(): Promise<void>
  cachedRow<Row extends { id: string }, Kept>(query: RowQuery<Row, Kept>): CachedRow<Kept>
  /** Writes a consistent copy to a new file while others read and write; `invalid_request` where it is not in a file. */
  backup(file: string): Promise<void>
  /** Undefined where there is no pool. */
  poolLoad?(): PoolLoad
  close(): Promise<void>
}

/** A row with this value exists already. `columns` as `table.column`. */
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
