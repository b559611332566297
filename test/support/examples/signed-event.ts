import { createHmac, randomUUID } from 'node:crypto'

/** The headers of Standard Webhooks for a body, made with a secret `whsec_…`. */
export const signedHeaders = (
  secret: string,
  body: string | Buffer,
  { ageSeconds = 0 } = {},
): Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string> => {
  const id = randomUUID()
  const timestamp = String(Math.floor(Date.now() / 1000) - ageSeconds)
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` }
}
