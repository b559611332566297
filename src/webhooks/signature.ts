import { createHmac } from 'node:crypto'
import { webhookKey } from '../lib/webhook-key.ts'
import { hmac } from '../lib/secrets.ts'

/** `sha256=` and the lower-case hex of HMAC-SHA256 over the raw body (CONTRACT.md 6.4). */
export const signBody = (secret: string, body: string): string => `sha256=${hmac(secret, body, 'hex')}`

interface SignedMessage {
  id: string
  /** The time of the attempt, in seconds since 1970. */
  timestamp: number
  body: string
}

/** The header `webhook-signature` of Standard Webhooks 1.0: one `v1,` and base64 for each secret, in this order. */
export const standardSignature = (secrets: readonly string[], { id, timestamp, body }: SignedMessage): string =>
  secrets
    .map((secret) => createHmac('sha256', webhookKey(secret)).update(`${id}.${timestamp}.${body}`).digest('base64'))
    .map((signature) => `v1,${signature}`)
    .join(' ')
