import { toTimestamp } from '../lib/time.ts'
import type { UserChange } from '../lib/user-change.ts'

interface WebhookEvent {
  id: string
  type: string
  createdAtMs: number
  userId: string
  /** For `user.updated`. */
  changed?: UserChange[] | undefined
}

/** The body of a webhook request (CONTRACT.md 6.3). */
export const createBody = ({ id, type, createdAtMs, userId, changed }: WebhookEvent): string =>
  JSON.stringify({ id, type, created_at: toTimestamp(createdAtMs), data: { user_id: userId, changed } })
