import type { Queries } from '../storage/database.ts'
import { GIVEN_UP, type OutboxEvent } from './outbox-store.ts'

/** The outcome of an attempt; `interrupted` if its process died before the end. */
export const DELIVERY_OUTCOMES = ['delivered', 'retried', 'failed', 'interrupted'] as const
export type DeliveryOutcome = (typeof DELIVERY_OUTCOMES)[number]

/** The result of one delivery attempt. Times in milliseconds; those that are not durations, since 1970. */
export interface DeliveryAttempt {
  eventId: string
  /** Counted from 1, across redeliveries. */
  number: number
  /** Null if unknown. */
  endedAtMs: number | null
  durationMs: number | null
  status: number | null
  problem: string | null
  outcome: DeliveryOutcome
}

const COLUMNS = `event_id AS "eventId", number, ended_at AS "endedAtMs", duration_ms AS "durationMs", status, problem, outcome`

/** The number of an event's latest attempt, which may still be running. */
const latestAttempt = ({ attempts, attemptsBefore }: OutboxEvent): number => attemptsBefore + attempts

/**
 * Stores the result of an event's latest attempt. It replaces the row that was written when the process seemed to have
 * died. An event that was deleted in the meantime has no history.
 */
export const recordAttempt = async (
  db: Queries,
  event: OutboxEvent,
  { endedAtMs, durationMs, status, problem, outcome }: Omit<DeliveryAttempt, 'eventId' | 'number'>,
): Promise<void> => {
  const number = latestAttempt(event)
  await db.run(
    `INSERT INTO webhook_attempts (id, event_id, number, ended_at, duration_ms, status, problem, outcome)
     SELECT ?, id, ?, ?, ?, ?, ?, ? FROM webhook_events WHERE id = ?
     ON CONFLICT (id) DO UPDATE SET ended_at = excluded.ended_at, duration_ms = excluded.duration_ms,
       status = excluded.status, problem = excluded.problem, outcome = excluded.outcome`,
    `${event.id}/${number}`,
    number,
    endedAtMs,
    durationMs,
    status,
    problem,
    outcome,
    event.id,
  )
}

/**
 * Stores the result of an attempt whose process did not store one by the time at which the attempt counts as failed.
 */
export const recordInterruptedAttempt = async (db: Queries, event: OutboxEvent): Promise<void> => {
  const number = latestAttempt(event)
  await db.run(
    `INSERT INTO webhook_attempts (id, event_id, number, ended_at, problem, outcome)
     SELECT ?, id, ?, ?, 'interrupted', 'interrupted' FROM webhook_events WHERE id = ?
     ON CONFLICT (id) DO NOTHING`,
    `${event.id}/${number}`,
    number,
    event.nextAttemptAtMs,
    event.id,
  )
}

/** The attempts of an event, the oldest first. */
export const findAttempts = (db: Queries, eventId: string): Promise<DeliveryAttempt[]> =>
  db.all(`SELECT ${COLUMNS} FROM webhook_attempts WHERE event_id = ? ORDER BY number`, eventId)

/** The attempts of the latest events, or of the latest that were given up, in order for each event. */
export const findLatestAttempts = (db: Queries, events: number, isFailed: boolean): Promise<DeliveryAttempt[]> =>
  db.all(
    `SELECT ${COLUMNS} FROM webhook_attempts WHERE event_id IN (
       SELECT id FROM webhook_events${isFailed ? ` WHERE ${GIVEN_UP}` : ''} ORDER BY id DESC LIMIT ?)
     ORDER BY event_id, number`,
    events,
  )

/** Number of attempts that are kept when an event is sent again: the maximum number of attempts of one delivery. */
const KEPT_ATTEMPTS = 100

/** Deletes all but the latest attempts of an event. */
export const forgetEarlyAttempts = async (db: Queries, event: OutboxEvent): Promise<void> => {
  const last = latestAttempt(event) - KEPT_ATTEMPTS
  if (last > 0) await db.run('DELETE FROM webhook_attempts WHERE event_id = ? AND number <= ?', event.id, last)
}
