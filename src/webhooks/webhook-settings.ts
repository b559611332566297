import type { EventType } from './event-types.ts'

/** The endpoint, and the limits of its attempts. */
export interface WebhookSettings {
  url: string
  /** The key of the signature. */
  secret: string
  enabledEvents: readonly EventType[]
  /** Time limit of each attempt. */
  timeoutMs: number
  maxAttempts: number
}
