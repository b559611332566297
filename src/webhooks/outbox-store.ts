import type { Queries } from '../storage/database.ts'
import { type EventRow, OUTBOX_COLUMNS, type OutboxEvent, toEvent } from './outbox-event.ts'

export const insertEvent = (
  db: Queries,
  event: Pick<OutboxEvent, 'id' | 'type' | 'userId' | 'createdAtMs' | 'body'>,
): Promise<number> =>
  db.run(
    `INSERT INTO webhook_events (id, type, user_id, created_at, body, attempts, next_attempt_at)
     VALUES (?, ?, ?, ?, ?, 0, ?)`,
    event.id,
    event.type,
    event.userId,
    event.createdAtMs,
    event.body,
    event.createdAtMs,
  )

/** Due open events, the oldest first. An event waits while an earlier one of the same user is open. */
export const findDueEvents = async (db: Queries, nowMs: number, limit: number): Promise<OutboxEvent[]> => {
  const rows = await db.all<EventRow>(
    `SELECT ${OUTBOX_COLUMNS} FROM webhook_events AS event WHERE closed_at IS NULL AND next_attempt_at <= ? AND NOT EXISTS (
       SELECT 1 FROM webhook_events AS earlier
       WHERE earlier.user_id = event.user_id AND earlier.closed_at IS NULL AND earlier.id < event.id
     ) ORDER BY next_attempt_at, id LIMIT ?`,
    nowMs,
    limit,
  )
  return rows.map(toEvent)
}

/** The backlog of the outbox. */
export interface OutboxLoad {
  /** Events that are neither delivered nor given up; counted up to `MAX_COUNTED`. */
  open: number
  /** How long the oldest due event has been due; 0 if no event is due. */
  overdueMs: number
}

/** Counting further events would tell nothing new, and would delay other users of the database. */
const MAX_COUNTED = 10_000

export const findOutboxLoad = async (db: Queries, nowMs: number): Promise<OutboxLoad> => {
  const row = await db.get<{ open_count: number; due_at: number | null }>(
    `SELECT
       (SELECT COUNT(*) FROM (SELECT id FROM webhook_events WHERE closed_at IS NULL LIMIT ?) AS counted) AS open_count,
       (SELECT MIN(next_attempt_at) FROM webhook_events WHERE closed_at IS NULL) AS due_at`,
    MAX_COUNTED,
  )
  return { open: row?.open_count ?? 0, overdueMs: Math.max(0, nowMs - (row?.due_at ?? nowMs)) }
}

/** The id of a user's latest event that is neither delivered nor given up; empty without one. */
export const findLastOpenId = async (db: Queries, userId: string): Promise<string> => {
  const row = await db.get<{ id: string }>(
    'SELECT id FROM webhook_events WHERE user_id = ? AND closed_at IS NULL ORDER BY id DESC LIMIT 1',
    userId,
  )
  return row?.id ?? ''
}

/** Reserves an event for one attempt that ends by `untilMs`; 0 if another process has reserved it. */
export const claimEvent = (db: Queries, event: OutboxEvent, untilMs: number): Promise<number> =>
  db.run(
    `UPDATE webhook_events SET attempts = attempts + 1, next_attempt_at = ?
     WHERE id = ? AND attempts = ? AND next_attempt_at = ? AND closed_at IS NULL`,
    untilMs,
    event.id,
    event.attempts,
    event.nextAttemptAtMs,
  )

interface AttemptResult {
  status: number | null
  problem: string | null
}

/** Closes an event with the result of its latest attempt; 0 if a newer attempt has begun, whose result counts. */
export const closeEvent = (
  db: Queries,
  { id, attempts }: Pick<OutboxEvent, 'id' | 'attempts'>,
  { status, problem, nowMs }: AttemptResult & { nowMs: number },
): Promise<number> =>
  db.run(
    `UPDATE webhook_events SET status = ?, problem = ?, delivered_at = ?, closed_at = ?
     WHERE id = ? AND attempts = ? AND closed_at IS NULL`,
    status,
    problem,
    problem === null ? nowMs : null,
    nowMs,
    id,
    attempts,
  )

/**
 * Stores the result of a failed attempt, and postpones the event with all later events of its user, so that no poll
 * finds those in vain. Has no effect if a newer attempt has begun.
 */
export const postponeEvent = async (
  db: Queries,
  { id, userId, attempts }: Pick<OutboxEvent, 'id' | 'userId' | 'attempts'>,
  { status, problem, untilMs }: AttemptResult & { untilMs: number },
): Promise<void> => {
  const changes = await db.run(
    'UPDATE webhook_events SET status = ?, problem = ? WHERE id = ? AND attempts = ? AND closed_at IS NULL',
    status,
    problem,
    id,
    attempts,
  )
  if (changes === 0) return
  await db.run(
    'UPDATE webhook_events SET next_attempt_at = ? WHERE user_id = ? AND closed_at IS NULL AND id >= ?',
    untilMs,
    userId,
    id,
  )
}

/** Deletes at most `limit` events that were closed before a time. */
export const deleteClosedEvents = (db: Queries, beforeMs: number, limit: number): Promise<number> =>
  // Twice the same condition: an event that is to be sent again, which this statement has waited for, stays.
  db.run(
    `DELETE FROM webhook_events WHERE id IN (
         SELECT id FROM webhook_events WHERE closed_at < ? ORDER BY closed_at LIMIT ?)
       AND closed_at < ?`,
    beforeMs,
    limit,
    beforeMs,
  )
