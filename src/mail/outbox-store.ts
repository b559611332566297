import type { Queries } from '../storage/database.ts'

/** A message before its first attempt. Times in milliseconds since 1970. */
export interface NewMessage {
  id: string
  purpose: string
  userId: string | undefined
  recipient: string
  contentSealed: string
  linkId: string | undefined
  /** `requested`: nothing was looked up yet, and no text made. */
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
