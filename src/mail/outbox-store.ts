import type { Queries } from '../storage/database.ts'
import { type Attempt, createOutbox, type OutboxRow } from '../storage/outbox/outbox.ts'

/** A message that was `retried` failed, and there will be another attempt; one that was `dropped` had none. */
export const MAIL_OUTCOMES = ['sent', 'retried', 'failed', 'dropped'] as const
export type MailOutcome = (typeof MAIL_OUTCOMES)[number]

/**
 * `requested`: an address was entered, and nothing was looked up yet. `waiting`: the message waits for its first or
 * next attempt. `dropped`: its time was over, its link was dead or its account was deleted before it could be sent.
 */
type MessageState = 'requested' | 'waiting' | 'sent' | 'failed' | 'dropped'

export interface OutboxMessage extends OutboxRow {
  purpose: string
  /** It is null once the message was forgotten, as its content. */
  recipient: string | null
  contentSealed: string | null
  linkId: string | null
  state: MessageState
  expiresAtMs: number
  /** This is the time of the database's server; it is null if there is none. */
  readAtMs: number | null
}

export const mailOutbox = createOutbox<OutboxMessage>({
  table: 'mail_messages',
  columns: {
    purpose: 'purpose',
    recipient: 'recipient',
    contentSealed: 'content_sealed',
    linkId: 'link_id',
    state: 'state',
    expiresAtMs: 'expires_at',
    readAtMs: 'server_time()',
  },
  inOrderOfUser: false,
  failed: `state = 'failed'`,
})

/** Locks a request until the transaction ends; resolves to false once another process has looked it up. */
export const lockRequest = async (db: Queries, { id }: Attempt): Promise<boolean> =>
  (await db.get(`SELECT id FROM mail_messages WHERE id = ? AND state = 'requested' FOR UPDATE`, id)) !== undefined

/** Deletes a request that led to no message, since it tells which address was entered. */
export const deleteRequest = (db: Queries, { id }: Attempt): Promise<number> =>
  db.run(`DELETE FROM mail_messages WHERE id = ? AND state = 'requested'`, id)

const BELONGS_TO_NOBODY =
  'user_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM users WHERE users.id = mail_messages.user_id)'

/**
 * Closes a message after its latest attempt. Recipient and content are forgotten at once if its account was deleted in
 * the meantime.
 */
export const closeMessage = (
  db: Queries,
  { id, attempts }: Attempt,
  { state, problem, nowMs }: { state: 'sent' | 'failed'; problem: string | null; nowMs: number },
): Promise<number> =>
  db.run(
    `UPDATE mail_messages SET state = ?, problem = ?, closed_at = ?,
       recipient = CASE WHEN ${BELONGS_TO_NOBODY} THEN NULL ELSE recipient END,
       content_sealed = CASE WHEN ${BELONGS_TO_NOBODY} THEN NULL ELSE content_sealed END
     WHERE id = ? AND attempts = ? AND closed_at IS NULL`,
    state,
    problem,
    nowMs,
    id,
    attempts,
  )

/** Makes a message due again, as if it had never been tried. */
export const reopenMessage = (
  db: Queries,
  { id, attempts }: Attempt,
  { expiresAtMs, nowMs }: { expiresAtMs: number; nowMs: number },
): Promise<number> =>
  db.run(
    `UPDATE mail_messages SET state = 'waiting', attempts = 0, next_attempt_at = ?, expires_at = ?, problem = NULL,
       closed_at = NULL WHERE id = ? AND attempts = ? AND content_sealed IS NOT NULL AND state <> 'requested'`,
    nowMs,
    expiresAtMs,
    id,
    attempts,
  )

interface FailedMessages {
  /** The range of the times at which they were given up, both ends included. */
  sinceMs: number
  untilMs: number
  /** Only messages after this one count; empty for the first page. */
  afterId: string
  limit: number
}

/** Finds the ids of messages that were given up, the oldest first. */
export const findFailedMessages = async (
  db: Queries,
  { sinceMs, untilMs, afterId, limit }: FailedMessages,
): Promise<string[]> => {
  const rows = await db.all<{ id: string }>(
    `SELECT id FROM mail_messages WHERE state = 'failed' AND closed_at >= ? AND closed_at <= ? AND id > ?
     ORDER BY id LIMIT ?`,
    sinceMs,
    untilMs,
    afterId,
    limit,
  )
  return rows.map(({ id }) => id)
}

/** Forgets recipient and content of the messages of a user that were sent, given up or dropped. */
export const forgetClosedMessagesOf = (db: Queries, userId: string): Promise<number> =>
  db.run(
    `UPDATE mail_messages SET recipient = NULL, content_sealed = NULL
     WHERE user_id = ? AND closed_at IS NOT NULL AND recipient IS NOT NULL`,
    userId,
  )

// Cleanup repeats its conditions: a message may change while the statement waits for its row.

/** Forgets recipient and content of at most `limit` messages that were closed before a time. */
export const forgetMessagesClosedBefore = (db: Queries, beforeMs: number, limit: number): Promise<number> =>
  db.run(
    `UPDATE mail_messages SET recipient = NULL, content_sealed = NULL WHERE id IN (
         SELECT id FROM mail_messages WHERE closed_at < ? AND recipient IS NOT NULL ORDER BY closed_at LIMIT ?)
       AND closed_at < ?`,
    beforeMs,
    limit,
    beforeMs,
  )

/** Drops at most `limit` open messages whose time is over: mail may have been turned off. */
export const dropExpiredMessages = (db: Queries, nowMs: number, limit: number): Promise<number> =>
  db.run(
    `UPDATE mail_messages SET state = 'dropped', problem = 'its time was over', closed_at = ?, recipient = NULL,
       content_sealed = NULL
     WHERE id IN (SELECT id FROM mail_messages WHERE closed_at IS NULL AND expires_at <= ? LIMIT ?)
       AND closed_at IS NULL AND expires_at <= ?`,
    nowMs,
    nowMs,
    limit,
    nowMs,
  )

/** Finds the language of the account with an address, or else of the one with an id; undefined if there is neither. */
export const findLanguage = (
  db: Queries,
  { emailLower, userId }: { emailLower: string; userId: string },
): Promise<{ language: string | null } | undefined> =>
  db.get(
    `SELECT language FROM users WHERE email_lower = ? OR id = ?
     ORDER BY CASE WHEN email_lower = ? THEN 0 ELSE 1 END LIMIT 1`,
    emailLower,
    userId,
    emailLower,
  )
