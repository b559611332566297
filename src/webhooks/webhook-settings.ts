import type { EventType } from './event-types.ts'

/** The endpoint, and the limits of its attempts. */
export interface WebhookSettings {
  url: string
  /** The key of the signatures. */
  secret: string
  /** Signs as well, while receivers change from it to the other. */
  previousSecret?: string | undefined
  enabledEvents: readonly EventType[]
  /** Time limit of each attempt. */
  timeoutMs: number
  maxAttempts: number
}
