import { readVariable } from './environment.ts'
import { readEvent, type WebhookEvent } from './webhooks/event.ts'
import { readHeaders } from './webhooks/headers.ts'
import { importKey } from './webhooks/key.ts'
import type { HeadersLike, HeaderRecord } from './request/source.ts'
import { WebhookVerificationError } from './webhooks/webhook-verification-error.ts'

export type {
  UserChange,
  UserCreatedEvent,
  UserDeletedEvent,
  UserUpdatedEvent,
  WebhookEvent,
  WebhookTestEvent,
} from './webhooks/event.ts'
export { WebhookVerificationError } from './webhooks/webhook-verification-error.ts'

export interface WebhookOptions {
  /** How far the time of a request may be from now, in either direction. 300 by default. */
  toleranceSeconds?: number | undefined
}

/**
 * The event of a webhook, once its signature by Standard Webhooks and its time are checked. The body is that of the
 * request, byte for byte. The secret is `SVC_WEBHOOK_SECRET` where none is given. With several secrets, one of them must have signed. Throws `WebhookVerificationError` for a
 * request that is not to be trusted, and a `TypeError` for a call that can never succeed, as with an empty secret.
 */
export const verifyWebhook = async (
  rawBody: string | Uint8Array | ArrayBuffer,
  headers: HeadersLike | HeaderRecord,
  secret: string | readonly string[] | undefined = readVariable('SVC_WEBHOOK_SECRET'),
  { toleranceSeconds = 300 }: WebhookOptions = {},
): Promise<WebhookEvent> => {
  const body = readBody(rawBody)
  const keys = await Promise.all(requireSecrets(secret).map(importKey))
  if (!(toleranceSeconds > 0)) throw new TypeError('toleranceSeconds must be a number above 0.')
  const { id, timestamp, signatures } = readHeaders(headers)
  const ageSeconds = Math.floor(Date.now() / 1000) - timestamp
  if (ageSeconds > toleranceSeconds) throw new WebhookVerificationError('webhook-timestamp is too long ago.')
  if (-ageSeconds > toleranceSeconds) throw new WebhookVerificationError('webhook-timestamp is in the future.')
  const signed = concat(new TextEncoder().encode(`${id}.${timestamp}.`), body)
  // Web Crypto compares in constant time.
  for (const key of keys)
    for (const signature of signatures)
      if (await crypto.subtle.verify('HMAC', key, signature, signed)) return readEvent(body)
  throw new WebhookVerificationError('No signature in webhook-signature was made with this secret.')
}

type Bytes = Uint8Array<ArrayBuffer>

const readBody = (body: unknown): Bytes => {
  if (typeof body === 'string') return new TextEncoder().encode(body)
  if (body instanceof Uint8Array || body instanceof ArrayBuffer) return new Uint8Array(body)
  throw new TypeError('The body must be text or bytes as they arrived: a parsed body has lost what was signed.')
}

const requireSecrets = (secret: unknown): string[] => {
  const secrets: unknown[] = Array.isArray(secret) ? secret : [secret]
  const texts = secrets.filter((each): each is string => typeof each === 'string' && each !== '')
  if (texts.length > 0 && texts.length === secrets.length) return texts
  throw new TypeError('verifyWebhook needs the secret of the webhooks, which svc has as SVC_WEBHOOK_SECRET.')
}

const concat = (first: Bytes, second: Bytes): Bytes => {
  const bytes = new Uint8Array(first.length + second.length)
  bytes.set(first)
  bytes.set(second, first.length)
  return bytes
}
