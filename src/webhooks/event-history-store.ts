import type { Queries } from '../storage/database.ts'
import { type EventRow, OUTBOX_COLUMNS, type OutboxEvent, toEvent } from './outbox-event.ts'

export const findEvent = async (db: Queries, id: string): Promise<OutboxEvent | undefined> => {
  const row = await db.get<EventRow>(`SELECT ${OUTBOX_COLUMNS} FROM webhook_events WHERE id = ?`, id)
  return row && toEvent(row)
}

/** Which events are listed: all of them, or those that were given up. */
export const whereListed = (isFailed: boolean): string =>
  isFailed ? 'WHERE closed_at IS NOT NULL AND delivered_at IS NULL' : ''

/** The latest events, or of those that were given up, the newest first. */
export const findLatestEvents = async (db: Queries, limit: number, isFailed = false): Promise<OutboxEvent[]> => {
  const rows = await db.all<EventRow>(
    `SELECT ${OUTBOX_COLUMNS} FROM webhook_events ${whereListed(isFailed)} ORDER BY id DESC LIMIT ?`,
    limit,
  )
  return rows.map(toEvent)
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
export const findFailedEvents = async (
  db: Queries,
  { sinceMs, untilMs, afterId, limit }: FailedEvents,
): Promise<OutboxEvent[]> => {
  const rows = await db.all<EventRow>(
    `SELECT ${OUTBOX_COLUMNS} FROM webhook_events
     WHERE closed_at >= ? AND closed_at <= ? AND delivered_at IS NULL AND id > ? ORDER BY id LIMIT ? FOR UPDATE`,
    sinceMs,
    untilMs,
    afterId,
    limit,
  )
  return rows.map(toEvent)
}

/** Resets an event to its state before the first attempt; its attempts are counted on. */
export const reopenEvent = (db: Queries, id: string, nowMs: number): Promise<number> =>
  db.run(
    `UPDATE webhook_events SET attempts_before = attempts_before + attempts, attempts = 0, next_attempt_at = ?,
       status = NULL, problem = NULL, delivered_at = NULL, closed_at = NULL WHERE id = ?`,
    nowMs,
    id,
  )
