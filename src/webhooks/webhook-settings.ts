import type { EventType } from './event-types.ts'

/** Where events are sent, and how persistently. */
export interface WebhookSettings {
  url: string
  /** Signs each request. */
  secret: string
  enabledEvents: readonly EventType[]
  /** Bounds each attempt. */
  timeoutMs: number
  maxAttempts: number
}
