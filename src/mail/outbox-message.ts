/**
 * `requested`: an address was entered, and nothing was looked up yet. `waiting`: for its first or next attempt.
 * `dropped`: its time was over, its link was dead or its account was deleted before it could be sent.
 */
type MessageState = 'requested' | 'waiting' | 'sent' | 'failed' | 'dropped'

/** A message in the outbox. Times in milliseconds since 1970. */
export interface OutboxMessage {
  /** UUID of version 7. */
  id: string
  purpose: string
  userId: string | null
  /** Null once the message was forgotten, as its content. */
  recipient: string | null
  contentSealed: string | null
  linkId: string | null
  state: MessageState
  createdAtMs: number
  expiresAtMs: number
  attempts: number
  nextAttemptAtMs: number
  /** Why the last attempt failed, or why there was none. */
  problem: string | null
  closedAtMs: number | null
  /** The time of the database's server, where there is one. */
  readAtMs: number | undefined
}

export interface OutboxRow {
  id: string
  purpose: string
  user_id: string | null
  recipient: string | null
  content_sealed: string | null
  link_id: string | null
  state: MessageState
  created_at: number
  expires_at: number
  attempts: number
  next_attempt_at: number
  problem: string | null
  closed_at: number | null
  read_at: number | null
}

export const toOutboxMessage = (row: OutboxRow): OutboxMessage => ({
  id: row.id,
  purpose: row.purpose,
  userId: row.user_id,
  recipient: row.recipient,
  contentSealed: row.content_sealed,
  linkId: row.link_id,
  state: row.state,
  createdAtMs: row.created_at,
  expiresAtMs: row.expires_at,
  attempts: row.attempts,
  nextAttemptAtMs: row.next_attempt_at,
  problem: row.problem,
  closedAtMs: row.closed_at,
  readAtMs: row.read_at ?? undefined,
})

export const MESSAGE_COLUMNS = `id, purpose, user_id, recipient, content_sealed, link_id, state, created_at, expires_at,
  attempts, next_attempt_at, problem, closed_at, server_time() AS read_at`
