import { toTimestamp } from '../lib/time.ts'

interface WebhookEvent {
  id: string
  type: string
  createdAtMs: number
  userId: string
}

/** The body of a webhook request (CONTRACT.md 6.3). */
export const createBody = ({ id, type, createdAtMs, userId }: WebhookEvent): string =>
  JSON.stringify({ id, type, created_at: toTimestamp(createdAtMs), data: { user_id: userId } })
