import { inPieces, rowPlaceholders } from '../../lib/sql-values.ts'
import type { Queries, Value } from '../database.ts'

/**
 * Messages to users and events for the application share this part of a row. A row is open until it is handed over,
 * given up or dropped. Times are in milliseconds since 1970.
 */
export interface OutboxRow {
  /** The id is a UUID of version 7. */
  id: string
  userId: string | null
  createdAtMs: number
  /** Attempts count since the row was made, or was last sent again. */
  attempts: number
  nextAttemptAtMs: number
  /** This says why the last attempt failed, or why there was none. */
  problem: string | null
  closedAtMs: number | null
}

const SHARED_COLUMNS: Record<keyof OutboxRow, string> = {
  id: 'id',
  userId: 'user_id',
  createdAtMs: 'created_at',
  attempts: 'attempts',
  nextAttemptAtMs: 'next_attempt_at',
  problem: 'problem',
  closedAtMs: 'closed_at',
}

interface OutboxTable<Row extends OutboxRow> {
  table: string
  /** Each property that is not shared has this column or expression. */
  columns: Record<Exclude<keyof Row, keyof OutboxRow>, string>
  /** This tells whether a row waits while an earlier one of the same user is open. */
  inOrderOfUser: boolean
  /** This condition finds the rows that were given up. */
  failed: string
}

/** A row waits for an attempt, was given up, or was handed over or dropped. */
export type OutboxState = 'waiting' | 'failed' | 'done'

/** A page of rows, the newest first. What is undefined does not count. */
export interface OutboxPageRequest {
  state?: OutboxState | undefined
  userId?: string | undefined
  /** The id of the last row of the page before. */
  before?: string | undefined
  limit: number
}

export interface OutboxLoad {
  /** This is the number of open rows, counted up to `MAX_COUNTED`. */
  open: number
  /** This is the time since the oldest due row became due; it is 0 if none is due. */
  overdueMs: number
}

/** A higher count would tell nothing new, and would delay other users of the database. */
export const MAX_COUNTED = 10_000

/**
 * The attempt names the one that a result belongs to. The result has no effect once a newer attempt has begun, or the
 * row is closed.
 */
export type Attempt = Pick<OutboxRow, 'id' | 'attempts'>

/** The table has rows that wait to be handed over, and their history. */
export interface Outbox<Row extends OutboxRow> {
  /** This is the list of a `SELECT`, with the names of the properties. */
  readonly selected: string
  /** Inserts rows with the same properties, due at once; resolves to how many. */
  insert(db: Queries, rows: readonly Partial<Row>[]): Promise<number>
  find(db: Queries, id: string): Promise<Row | undefined>
  /** Finds the latest rows, or the latest that were given up, the newest first. */
  findLatest(db: Queries, limit: number, isFailed?: boolean): Promise<Row[]>
  findPage(db: Queries, request: OutboxPageRequest): Promise<Row[]>
  /** Finds rows that are due, the first due first. */
  findDue(db: Queries, nowMs: number, limit: number): Promise<Row[]>
  findLoad(db: Queries, nowMs: number): Promise<OutboxLoad>
  /**
   * Reserves a row for one attempt that ends by `untilMs`; resolves to 0 if another process has reserved it, or it is
   * closed.
   */
  claim(db: Queries, row: Row, untilMs: number): Promise<number>
  /** Stores the result of an attempt; resolves to 0 if it has no effect any more. */
  settle(db: Queries, attempt: Attempt, result: Partial<Row>): Promise<number>
  /**
   * Stores the result of a failed attempt, and the time of the next one. In an outbox with an order, later rows of the
   * user are postponed too, so that no poll finds them in vain.
   */
  postpone(db: Queries, row: Attempt & Pick<Row, 'userId'>, result: Partial<Row>, untilMs: number): Promise<void>
  /** Deletes at most `limit` rows that were closed before a time, the oldest first. */
  deleteClosedBefore(db: Queries, beforeMs: number, limit: number): Promise<number>
}

export const createOutbox = <Row extends OutboxRow>({
  table,
  columns: ownColumns,
  inOrderOfUser,
  failed,
}: OutboxTable<Row>): Outbox<Row> => {
  const columns: Record<string, string> = { ...SHARED_COLUMNS, ...ownColumns }
  const selected = Object.entries(columns)
    .map(([property, column]) => `${column} AS "${property}"`)
    .join(', ')
  const isFirst = inOrderOfUser
    ? ` AND NOT EXISTS (SELECT 1 FROM ${table} AS earlier
         WHERE earlier.user_id = ${table}.user_id AND earlier.closed_at IS NULL AND earlier.id < ${table}.id)`
    : ''

  const conditionOf: Record<OutboxState, string> = {
    waiting: 'closed_at IS NULL',
    failed,
    done: `closed_at IS NOT NULL AND NOT (${failed})`,
  }

  const insertPiece = (db: Queries, rows: readonly Partial<Row>[]): Promise<number> => {
    const all = rows.map((row) => ({ ...row, attempts: 0, nextAttemptAtMs: row.createdAtMs }))
    const properties = Object.keys(all[0] ?? {})
    return db.run(
      `INSERT INTO ${table} (${properties.map((property) => columns[property]).join(', ')})
       VALUES ${rowPlaceholders(rows.length, properties.length)}`,
      ...all.flatMap((row) => Object.values(row) as Value[]),
    )
  }

  const settle: Outbox<Row>['settle'] = (db, { id, attempts }, result) =>
    db.run(
      `UPDATE ${table} SET ${Object.keys(result)
        .map((property) => `${columns[property]} = ?`)
        .join(', ')} WHERE id = ? AND attempts = ? AND closed_at IS NULL`,
      ...(Object.values(result) as Value[]),
      id,
      attempts,
    )

  return {
    selected,

    async insert(db, rows) {
      let inserted = 0
      for (const piece of inPieces(rows)) inserted += await insertPiece(db, piece)
      return inserted
    },

    async find(db, id) {
      const row = await db.get<Row>(`SELECT ${selected} FROM ${table} WHERE id = ?`, id)
      return row && { ...row }
    },

    findLatest: (db, limit, isFailed = false) =>
      db.all<Row>(
        `SELECT ${selected} FROM ${table}${isFailed ? ` WHERE ${failed}` : ''} ORDER BY id DESC LIMIT ?`,
        limit,
      ),

    findPage(db, { state, userId, before, limit }) {
      const given = [
        ['id < ?', before],
        ['user_id = ?', userId],
      ].filter((each): each is [string, string] => each[1] !== undefined)
      const conditions = [...given.map(([sql]) => sql), ...(state ? [conditionOf[state]] : [])]
      const where = conditions.length > 0 ? ` WHERE ${conditions.join(' AND ')}` : ''
      const values = given.map(([, value]) => value)
      return db.all<Row>(`SELECT ${selected} FROM ${table}${where} ORDER BY id DESC LIMIT ?`, ...values, limit)
    },

    findDue: (db, nowMs, limit) =>
      db.all<Row>(
        `SELECT ${selected} FROM ${table} WHERE closed_at IS NULL AND next_attempt_at <= ?${isFirst}
         ORDER BY next_attempt_at, id LIMIT ?`,
        nowMs,
        limit,
      ),

    async findLoad(db, nowMs) {
      const row = await db.get<{ open_count: number; due_at: number | null }>(
        `SELECT
           (SELECT COUNT(*) FROM (SELECT id FROM ${table} WHERE closed_at IS NULL LIMIT ?) AS counted) AS open_count,
           (SELECT MIN(next_attempt_at) FROM ${table} WHERE closed_at IS NULL) AS due_at`,
        MAX_COUNTED,
      )
      return { open: row?.open_count ?? 0, overdueMs: Math.max(0, nowMs - (row?.due_at ?? nowMs)) }
    },

    claim: (db, { id, attempts, nextAttemptAtMs }, untilMs) =>
      db.run(
        `UPDATE ${table} SET attempts = attempts + 1, next_attempt_at = ?
         WHERE id = ? AND attempts = ? AND next_attempt_at = ? AND closed_at IS NULL`,
        untilMs,
        id,
        attempts,
        nextAttemptAtMs,
      ),

    settle,

    async postpone(db, row, result, untilMs) {
      const changes = await settle(db, row, { ...result, nextAttemptAtMs: untilMs })
      if (!inOrderOfUser || changes === 0) return
      await db.run(
        `UPDATE ${table} SET next_attempt_at = ? WHERE user_id = ? AND closed_at IS NULL AND id > ?`,
        untilMs,
        row.userId,
        row.id,
      )
    },

    deleteClosedBefore: (db, beforeMs, limit) =>
      // The condition stands twice: a row that is sent again while the statement waits for it stays.
      db.run(
        `DELETE FROM ${table} WHERE id IN (
           SELECT id FROM ${table} WHERE closed_at < ? ORDER BY closed_at LIMIT ?) AND closed_at < ?`,
        beforeMs,
        limit,
        beforeMs,
      ),
  }
}
