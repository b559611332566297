import type { AuditEvent } from '../audit/audit-event.ts'

/** An event in the outbox, with its state. Times in milliseconds since 1970. */
export interface OutboxEvent {
  /** UUID of version 7. */
  id: string
  type: string
  userId: string
  createdAtMs: number
  /** The bytes that are signed and sent. */
  body: string
  /** Since the event was created, or redelivered. */
  attempts: number
  /** Before the last redelivery. */
  attemptsBefore: number
  nextAttemptAtMs: number
  status: number | null
  problem: string | null
  deliveredAtMs: number | null
  closedAtMs: number | null
}

export interface EventRow {
  id: string
  type: string
  user_id: string
  created_at: number
  body: string
  attempts: number
  attempts_before: number
  next_attempt_at: number
  status: number | null
  problem: string | null
  delivered_at: number | null
  closed_at: number | null
}

export const toEvent = (row: EventRow): OutboxEvent => ({
  id: row.id,
  type: row.type,
  userId: row.user_id,
  createdAtMs: row.created_at,
  body: row.body,
  attempts: row.attempts,
  attemptsBefore: row.attempts_before,
  nextAttemptAtMs: row.next_attempt_at,
  status: row.status,
  problem: row.problem,
  deliveredAtMs: row.delivered_at,
  closedAtMs: row.closed_at,
})

export const OUTBOX_COLUMNS = `id, type, user_id, created_at, body, attempts, attempts_before, next_attempt_at, status, problem,
  delivered_at, closed_at`

/** The record of an event that is not sent again. */
export const givenUp = ({ id, userId }: OutboxEvent, problem: string | null): AuditEvent => ({
  type: 'webhook.given_up',
  userId,
  details: { webhookId: id, reason: problem ?? undefined },
})
