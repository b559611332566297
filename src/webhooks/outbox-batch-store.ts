import { inPieces } from '../lib/sql-values.ts'
import type { Queries } from '../storage/database.ts'
import type { OutboxEvent } from './outbox-event.ts'

type NewEvent = Pick<OutboxEvent, 'id' | 'type' | 'userId' | 'createdAtMs' | 'body'>

/** Events of many users, in a transaction. */
export const insertEvents = async (db: Queries, events: readonly NewEvent[]): Promise<void> => {
  for (const piece of inPieces(events)) {
    const rows = Array.from({ length: piece.length }, () => '(?, ?, ?, ?, ?, 0, ?)').join(', ')
    const values = piece.flatMap(({ id, type, userId, createdAtMs, body }) => [
      id,
      type,
      userId,
      createdAtMs,
      body,
      createdAtMs,
    ])
    await db.run(
      `INSERT INTO webhook_events (id, type, user_id, created_at, body, attempts, next_attempt_at) VALUES ${rows}`,
      ...values,
    )
  }
}

/** The greatest id of all events; empty without one. It is found at once, however many events are open. */
export const findLastId = async (db: Queries): Promise<string> => {
  const row = await db.get<{ id: string }>('SELECT id FROM webhook_events ORDER BY id DESC LIMIT 1')
  return row?.id ?? ''
}
