import { WebhookVerificationError } from './webhook-verification-error.ts'

export type UserChange = 'email' | 'username' | 'name' | 'roles' | 'disabled' | 'email_verified'

interface EventOf<Type extends string, Data extends { user_id: string } = { user_id: string }> {
  /** The same in every attempt: ignore an event whose id is known. */
  id: string
  type: Type
  /** ISO 8601, UTC, with milliseconds. */
  created_at: string
  data: Data
}

export type UserCreatedEvent = EventOf<'user.created'>
export type UserUpdatedEvent = EventOf<'user.updated', { user_id: string; changed: UserChange[] }>
export type UserDeletedEvent = EventOf<'user.deleted'>
/** `svc webhooks test` sends it, about no user. */
export type WebhookTestEvent = EventOf<'webhook.test'>

/** Later versions of svc may send other types: ignore those that you do not know. */
export type WebhookEvent = UserCreatedEvent | UserUpdatedEvent | UserDeletedEvent | WebhookTestEvent

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

const isEvent = (value: unknown): value is WebhookEvent =>
  isObject(value) &&
  [value['id'], value['type'], value['created_at']].every((field) => typeof field === 'string') &&
  isObject(value['data']) &&
  typeof value['data']['user_id'] === 'string'

/** Throws `WebhookVerificationError` for a body that was signed, but not by svc. */
export const readEvent = (body: Uint8Array): WebhookEvent => {
  const event = parse(body)
  if (isEvent(event)) return event
  throw new WebhookVerificationError('The body is no event of svc.')
}

const parse = (body: Uint8Array): unknown => {
  try {
    return JSON.parse(new TextDecoder().decode(body))
  } catch {
    return undefined
  }
}
