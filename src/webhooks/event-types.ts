/** CONTRACT.md 6.1. */
export const EVENT_TYPES = ['user.created', 'user.updated', 'user.deleted'] as const
export type EventType = (typeof EVENT_TYPES)[number]

/** The endpoint, and the limits of its attempts. */
export interface WebhookSettings {
  url: string
  /** The key of the signatures. */
  secret: string
  /** A second key, while receivers change from it to the other. */
  previousSecret?: string | undefined
  enabledEvents: readonly EventType[]
  timeoutMs: number
  maxAttempts: number
}
