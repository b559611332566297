import type { Queries } from '../storage/database.ts'
import type { DeliveryOutcome } from './delivery-outcome.ts'
import { whereListed } from './event-history-store.ts'
import type { OutboxEvent } from './outbox-event.ts'

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

interface AttemptRow {
  event_id: string
  number: number
  ended_at: number | null
  duration_ms: number | null
  status: number | null
  problem: string | null
  outcome: DeliveryOutcome
}

const COLUMNS = 'event_id, number, ended_at, duration_ms, status, problem, outcome'

const toAttempt = (row: AttemptRow): DeliveryAttempt => ({
  eventId: row.event_id,
  number: row.number,
  endedAtMs: row.ended_at,
  durationMs: row.duration_ms,
  status: row.status,
  problem: row.problem,
  outcome: row.outcome,
})

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
export const findAttempts = async (db: Queries, eventId: string): Promise<DeliveryAttempt[]> => {
  const rows = await db.all<AttemptRow>(
    `SELECT ${COLUMNS} FROM webhook_attempts WHERE event_id = ? ORDER BY number`,
    eventId,
  )
  return rows.map(toAttempt)
}

/** The attempts of the latest events, as `findLatestEvents` finds them, in order for each event. */
export const findLatestAttempts = async (
  db: Queries,
  events: number,
  isFailed: boolean,
): Promise<DeliveryAttempt[]> => {
  const rows = await db.all<AttemptRow>(
    `SELECT ${COLUMNS} FROM webhook_attempts
     WHERE event_id IN (SELECT id FROM webhook_events ${whereListed(isFailed)} ORDER BY id DESC LIMIT ?) ORDER BY event_id, number`,
    events,
  )
  return rows.map(toAttempt)
}

/** Number of attempts that are kept when an event is sent again: the maximum number of attempts of one delivery. */
const KEPT_ATTEMPTS = 100

/** Deletes all but the latest attempts of an event. */
export const forgetEarlyAttempts = async (db: Queries, event: OutboxEvent): Promise<void> => {
  const last = latestAttempt(event) - KEPT_ATTEMPTS
  if (last > 0) await db.run('DELETE FROM webhook_attempts WHERE event_id = ? AND number <= ?', event.id, last)
}
