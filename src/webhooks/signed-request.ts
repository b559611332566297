import { createHmac } from 'node:crypto'
import { request as httpRequest } from '../lib/node-http.ts'
import { hmac } from '../lib/secrets.ts'
import { webhookKey } from '../lib/webhook-key.ts'

const MAX_RESPONSE_BYTES = 64 * 1024

export interface DeliveryResult {
  /** The status of the response; null without a response. */
  status: number | null
  /** The failure, for people; null if the receiver accepted the event. */
  problem: string | null
}

interface WebhookEndpoint {
  url: string
  secret: string
  previousSecret?: string | undefined
  /** Time limit of the whole exchange, from the name lookup to the end of the response. */
  timeoutMs: number
  /** Ends the attempt earlier. */
  signal?: AbortSignal | undefined
}

interface Message {
  id: string
  type: string
  body: string
  /** The time of this attempt. */
  sentAtMs: number
}

/** One attempt to deliver an event (CONTRACT.md 6.3 and 6.4). Never rejects. */
export const deliver = async (endpoint: WebhookEndpoint, message: Message): Promise<DeliveryResult> => {
  let status: number | null = null
  try {
    status = await post(endpoint, message, (received) => {
      status = received
    })
    const succeeded = status >= 200 && status < 300
    return { status, problem: succeeded ? null : `answered ${status}` }
  } catch (error) {
    return { status, problem: problemOf(error, endpoint) }
  }
}

/** Resolves to the status once the response has ended or enough of it was read. Redirects are not followed. */
const post = (endpoint: WebhookEndpoint, message: Message, onStatus: (status: number) => void): Promise<number> =>
  new Promise((resolve, reject) => {
    const outgoing = requestFor(endpoint.url)(endpoint.url, {
      method: 'POST',
      headers: headersOf(endpoint, message),
      // Each attempt has a new connection: the receiver may close a kept one at that moment.
      agent: false,
      signal: AbortSignal.any([AbortSignal.timeout(endpoint.timeoutMs), ...(endpoint.signal ? [endpoint.signal] : [])]),
    })
    outgoing.on('error', reject)
    // Rejects for every end without a response; after a response, it has no effect.
    outgoing.on('close', () => reject(new Error('the connection was closed')))
    outgoing.on('upgrade', (response, socket) => {
      socket.destroy()
      resolve(response.statusCode ?? 0)
    })
    outgoing.on('response', (response) => {
      const status = response.statusCode ?? 0
      onStatus(status)
      let bytes = 0
      response.on('error', reject)
      response.on('end', () => resolve(status))
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes < MAX_RESPONSE_BYTES) return
        resolve(status)
        outgoing.destroy()
      })
    })
    outgoing.end(message.body)
  })

/** TLS takes 10 ms to load, and a service without webhooks needs none. */
const requestFor = (url: string): typeof httpRequest =>
  url.toLowerCase().startsWith('https:') ? process.getBuiltinModule('node:https').request : httpRequest

type Headers = Record<string, string | number>

const headersOf = ({ secret, previousSecret }: WebhookEndpoint, { id, type, body, sentAtMs }: Message): Headers => {
  const timestamp = Math.floor(sentAtMs / 1000)
  const secrets = previousSecret === undefined ? [secret] : [secret, previousSecret]
  return {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    'User-Agent': 'svc-webhooks',
    'X-Svc-Event': type,
    'X-Svc-Delivery': id,
    'X-Svc-Signature': signBody(secret, body),
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': standardSignature(secrets, { id, timestamp, body }),
  }
}

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

const problemOf = (error: unknown, { timeoutMs, signal }: WebhookEndpoint): string => {
  if (signal?.aborted) return 'cut off as the service stopped'
  if (!(error instanceof Error)) return 'failed'
  if (error.name === 'AbortError' || error.name === 'TimeoutError') return `no answer within ${timeoutMs} ms`
  const { code } = error as NodeJS.ErrnoException
  return code ?? error.message
}
