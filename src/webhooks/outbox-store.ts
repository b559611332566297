import { createOutbox, type OutboxRow } from '../storage/outbox/outbox.ts'
import type { Queries } from '../storage/database.ts'

/** An event in the outbox. Its `attempts` are those since it was created, or redelivered. */
export interface OutboxEvent extends OutboxRow {
  userId: string
  type: string
  /** The bytes that are signed and sent. */
  body: string
  /** The attempts before the last redelivery. */
  attemptsBefore: number
  /** The status of the last response. */
  status: number | null
  deliveredAtMs: number | null
}

/** The condition that finds events that were given up. */
export const GIVEN_UP = 'closed_at IS NOT NULL AND delivered_at IS NULL'

export const eventOutbox = createOutbox<OutboxEvent>({
  table: 'webhook_events',
  columns: {
    type: 'type',
    body: 'body',
    attemptsBefore: 'attempts_before',
    status: 'status',
    deliveredAtMs: 'delivered_at',
  },
  inOrderOfUser: true,
  failed: GIVEN_UP,
})

/** The id of a user's latest event that is neither delivered nor given up; empty without one. */
export const findLastOpenId = async (db: Queries, userId: string): Promise<string> => {
  const row = await db.get<{ id: string }>(
    'SELECT id FROM webhook_events WHERE user_id = ? AND closed_at IS NULL ORDER BY id DESC LIMIT 1',
    userId,
  )
  return row?.id ?? ''
}

/** The greatest id of all events; empty without one. It is found at once, however many events are open. */
export const findLastId = async (db: Queries): Promise<string> => {
  const row = await db.get<{ id: string }>('SELECT id FROM webhook_events ORDER BY id DESC LIMIT 1')
  return row?.id ?? ''
}

interface FailedEvents {
  /** Range of the times at which they were given up, both ends included. */
  sinceMs: number
  untilMs: number
  /** Events after this one; empty for the first page. */
  afterId: string
  limit: number
}

/** Events that were given up, the oldest first, locked for a change. */
export const findFailedEvents = (
  db: Queries,
  { sinceMs, untilMs, afterId, limit }: FailedEvents,
): Promise<OutboxEvent[]> =>
  db.all(
    `SELECT ${eventOutbox.selected} FROM webhook_events
     WHERE closed_at >= ? AND closed_at <= ? AND delivered_at IS NULL AND id > ? ORDER BY id LIMIT ? FOR UPDATE`,
    sinceMs,
    untilMs,
    afterId,
    limit,
  )

/** Resets an event to its state before the first attempt; its attempts are counted on. */
export const reopenEvent = (db: Queries, id: string, nowMs: number): Promise<number> =>
  db.run(
    `UPDATE webhook_events SET attempts_before = attempts_before + attempts, attempts = 0, next_attempt_at = ?,
       status = NULL, problem = NULL, delivered_at = NULL, closed_at = NULL WHERE id = ?`,
    nowMs,
    id,
  )
