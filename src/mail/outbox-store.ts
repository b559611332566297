import type { Queries } from '../storage/database.ts'
import { MESSAGE_COLUMNS, type OutboxMessage, type OutboxRow, toOutboxMessage } from './outbox-message.ts'

/** What is stored of a message that was not looked up yet, or is ready. Times in milliseconds since 1970. */
export interface NewMessage {
  id: string
  purpose: string
  userId: string | undefined
  recipient: string
  contentSealed: string
  linkId: string | undefined
  state: 'requested' | 'waiting'
  createdAtMs: number
  expiresAtMs: number
}

export const insertMessage = (db: Queries, message: NewMessage): Promise<number> =>
  db.run(
    `INSERT INTO mail_messages (id, purpose, user_id, recipient, content_sealed, link_id, state, created_at, expires_at,
       attempts, next_attempt_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?)`,
    message.id,
    message.purpose,
    message.userId ?? null,
    message.recipient,
    message.contentSealed,
    message.linkId ?? null,
    message.state,
    message.createdAtMs,
    message.expiresAtMs,
    message.createdAtMs,
  )

/** The message that has been due for the longest time. */
export const findDueMessage = async (db: Queries, nowMs: number): Promise<OutboxMessage | undefined> => {
  const row = await db.get<OutboxRow>(
    `SELECT ${MESSAGE_COLUMNS} FROM mail_messages WHERE closed_at IS NULL AND next_attempt_at <= ?
     ORDER BY next_attempt_at, id LIMIT 1`,
    nowMs,
  )
  return row && toOutboxMessage(row)
}

/** Reserves a message for one attempt that ends by `untilMs`; 0 if another process has done so, or it is closed. */
export const claimMessage = (db: Queries, message: OutboxMessage, untilMs: number): Promise<number> =>
  db.run(
    `UPDATE mail_messages SET attempts = attempts + 1, next_attempt_at = ?
     WHERE id = ? AND attempts = ? AND next_attempt_at = ? AND closed_at IS NULL`,
    untilMs,
    message.id,
    message.attempts,
    message.nextAttemptAtMs,
  )

/** Which attempt a result belongs to: it has no effect once a newer attempt has begun, or the message is closed. */
type Attempt = Pick<OutboxMessage, 'id' | 'attempts'>

/** Locks a request until the transaction ends; false once another process has looked it up. */
export const lockRequest = async (db: Queries, { id }: Attempt): Promise<boolean> =>
  (await db.get(`SELECT id FROM mail_messages WHERE id = ? AND state = 'requested' FOR UPDATE`, id)) !== undefined

/** Turns a request into the message that came of it. */
export const fillMessage = (db: Queries, { id, attempts }: Attempt, message: NewMessage): Promise<number> =>
  db.run(
    `UPDATE mail_messages SET purpose = ?, user_id = ?, recipient = ?, content_sealed = ?, link_id = ?, expires_at = ?,
       state = 'waiting' WHERE id = ? AND attempts = ? AND state = 'requested'`,
    message.purpose,
    message.userId ?? null,
    message.recipient,
    message.contentSealed,
    message.linkId ?? null,
    message.expiresAtMs,
    id,
    attempts,
  )

/** A request of which no message came leaves nothing behind: it tells which address was entered. */
export const deleteRequest = (db: Queries, { id }: Attempt): Promise<number> =>
  db.run(`DELETE FROM mail_messages WHERE id = ? AND state = 'requested'`, id)

export const postponeMessage = (
  db: Queries,
  { id, attempts }: Attempt,
  { problem, untilMs }: { problem: string; untilMs: number },
): Promise<number> =>
  db.run(
    'UPDATE mail_messages SET problem = ?, next_attempt_at = ? WHERE id = ? AND attempts = ? AND closed_at IS NULL',
    problem,
    untilMs,
    id,
    attempts,
  )

/** Closes a message. Of an account that was deleted in the meantime, recipient and content are forgotten at once. */
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

const BELONGS_TO_NOBODY =
  'user_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM users WHERE users.id = mail_messages.user_id)'

/** Closes a message that must not be sent any more, and forgets its recipient and content. */
export const dropMessage = (
  db: Queries,
  { id, attempts }: Attempt,
  { problem, nowMs }: { problem: string; nowMs: number },
): Promise<number> =>
  db.run(
    `UPDATE mail_messages SET state = 'dropped', problem = ?, closed_at = ?, recipient = NULL, content_sealed = NULL
     WHERE id = ? AND attempts = ? AND closed_at IS NULL`,
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
