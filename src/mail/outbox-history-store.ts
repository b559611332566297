import type { Queries } from '../storage/database.ts'
import { MESSAGE_COLUMNS, type OutboxMessage, type OutboxRow, toOutboxMessage } from './outbox-message.ts'

export const findMessage = async (db: Queries, id: string): Promise<OutboxMessage | undefined> => {
  const row = await db.get<OutboxRow>(`SELECT ${MESSAGE_COLUMNS} FROM mail_messages WHERE id = ?`, id)
  return row && toOutboxMessage(row)
}

/** The latest messages, or of those that failed, the newest first. */
export const findLatestMessages = async (db: Queries, limit: number, isFailed = false): Promise<OutboxMessage[]> => {
  const where = isFailed ? "WHERE state = 'failed'" : ''
  const rows = await db.all<OutboxRow>(
    `SELECT ${MESSAGE_COLUMNS} FROM mail_messages ${where} ORDER BY id DESC LIMIT ?`,
    limit,
  )
  return rows.map(toOutboxMessage)
}

/** The backlog of the outbox. */
export interface MailLoad {
  /** Messages that are neither sent nor given up; counted up to `MAX_COUNTED`. */
  open: number
  /** How long the oldest due message has been due; 0 if none is due. */
  overdueMs: number
}

/** Counting further messages would tell nothing new, and would delay other users of the database. */
const MAX_COUNTED = 10_000

export const findMailLoad = async (db: Queries, nowMs: number): Promise<MailLoad> => {
  const row = await db.get<{ open_count: number; due_at: number | null }>(
    `SELECT
       (SELECT COUNT(*) FROM (SELECT id FROM mail_messages WHERE closed_at IS NULL LIMIT ?) AS counted) AS open_count,
       (SELECT MIN(next_attempt_at) FROM mail_messages WHERE closed_at IS NULL) AS due_at`,
    MAX_COUNTED,
  )
  return { open: row?.open_count ?? 0, overdueMs: Math.max(0, nowMs - (row?.due_at ?? nowMs)) }
}

/** How many messages are open, counted up to a limit. */
export const countOpenMessages = async (db: Queries, limit: number): Promise<number> => {
  const row = await db.get<{ open_count: number }>(
    `SELECT COUNT(*) AS open_count FROM (SELECT id FROM mail_messages WHERE closed_at IS NULL LIMIT ?) AS counted`,
    limit,
  )
  return row?.open_count ?? 0
}

/** Forgets recipient and content of the messages of a user that were sent, given up or dropped. */
export const forgetClosedMessagesOf = (db: Queries, userId: string): Promise<number> =>
  db.run(
    `UPDATE mail_messages SET recipient = NULL, content_sealed = NULL
     WHERE user_id = ? AND closed_at IS NOT NULL AND recipient IS NOT NULL`,
    userId,
  )

// Cleanup repeats its conditions: what they said of a message may change while the statement waits for its row.

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

/** Deletes at most `limit` messages that were closed before a time. */
export const deleteMessagesClosedBefore = (db: Queries, beforeMs: number, limit: number): Promise<number> =>
  db.run(
    `DELETE FROM mail_messages WHERE id IN (
         SELECT id FROM mail_messages WHERE closed_at < ? ORDER BY closed_at LIMIT ?)
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
