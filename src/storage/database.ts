/** What a column holds. Timestamps are milliseconds since 1970; lists are JSON text. */
export type Value = string | number | null

/** Statements are written with `?` for each value and run on every database that svc knows. */
export interface Queries {
  all<Row>(sql: string, ...values: Value[]): Promise<Row[]>
  get<Row>(sql: string, ...values: Value[]): Promise<Row | undefined>
  /** Resolves to the number of changed rows. */
  run(sql: string, ...values: Value[]): Promise<number>
}

export interface Transaction extends Queries {
  /** Runs at the instant of the commit, before anything else can read. */
  afterCommit(action: () => void): void
}

/** One row by its key, wanted by every request: remembered for as long as nobody changed the database. */
export interface CachedRow<Kept> {
  /** `asOf` is what `foreignChanges` has just said. */
  get(key: string, asOf: number): Kept | undefined | Promise<Kept | undefined>
  /** What is remembered, if it is still true, without asking the database. */
  peek(key: string, asOf: number): Kept | undefined
  /** To be called in `afterCommit` by whoever changes the row of this key. */
  forget(key: string): void
  /** To be called in `afterCommit` by whoever has just written the row of this key. */
  replace(key: string, value: Kept): void
  /** The same for a change that touches the rows of unknown keys. */
  forgetAll(): void
}

/**
 * A database. Every failure that passes (away, locked, full) is an `AppError` of code `unavailable`,
 * a broken uniqueness rule is a `UniqueViolation`.
 */
export interface Database extends Queries {
  /** Commits what `work` did, or nothing of it. Resolves when the commit is on disk. No slow work inside. */
  inTransaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>
  /** `unavailable` when it cannot be read, or writes do not reach the disk. */
  requireHealthy(): Promise<void>
  /** Resolves when everything that can be read now is on disk. */
  durable(): Promise<void>
  cachedRow<Row, Kept>(sql: string, keep: (row: Row) => Kept): CachedRow<Kept>
  /** Differs from an earlier answer when another process has committed something before this turn of the event loop. */
  foreignChanges(): number
  /** Writes a consistent copy to a new file while others read and write. */
  backup(file: string): Promise<void>
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
