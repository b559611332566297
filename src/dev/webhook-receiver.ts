import type { IncomingHttpHeaders } from 'node:http'
import { AppError } from '../lib/errors.ts'
import { request } from '../lib/node-http.ts'
import { equalInConstantTime } from '../lib/secrets.ts'
import { signBody } from '../webhooks/signed-request.ts'
import { type Arrivals, createArrivals } from './arrivals.ts'

/** A delivery of an event. One that is sent again is another one, with the id of the same event. */
export interface ReceivedWebhook {
  /** The number of the delivery. */
  id: string
  event: { id: string; type: string; created_at: string; data: { user_id: string } }
  headers: Record<string, string>
  /** The body as it was sent, which the signature is made over. */
  body: string
  /** The receiver of the application, and what it answered; undefined if there is none. */
  passedOn: { url: string; status: number | undefined; problem: string | undefined } | undefined
}

interface WebhookReceiverDeps {
  secret: string
  /** The events are passed on there. */
  passOnTo: string | undefined
  onWebhook: (webhook: ReceivedWebhook) => void
}

export interface WebhookReceiver {
  webhooks: Arrivals<ReceivedWebhook>
  /** Takes a delivery, and resolves to the status of the response: that of the application, if events are passed on. */
  receive(headers: IncomingHttpHeaders, body: string): Promise<number>
}

/** Programs read a delivery in this form. */
export const toShownWebhook = ({ event, headers, body, passedOn }: ReceivedWebhook) => ({
  ...event,
  headers,
  body,
  passed_on: passedOn ?? null,
})

const PASSED_ON = [
  'content-type',
  'user-agent',
  'x-svc-event',
  'x-svc-delivery',
  'x-svc-signature',
  'webhook-id',
  'webhook-timestamp',
  'webhook-signature',
]

export const createWebhookReceiver = ({ secret, passOnTo, onWebhook }: WebhookReceiverDeps): WebhookReceiver => {
  const webhooks = createArrivals(onWebhook)
  let count = 0
  return {
    webhooks,
    async receive(given, body) {
      const headers = Object.fromEntries(PASSED_ON.map((name) => [name, String(given[name] ?? '')]))
      if (!equalInConstantTime(headers['x-svc-signature'], signBody(secret, body)))
        throw new AppError('unauthorized', 'svc has not signed this event.')
      count += 1
      const id = String(count)
      const passedOn = passOnTo === undefined ? undefined : { url: passOnTo, ...(await post(passOnTo, headers, body)) }
      webhooks.add({ id, event: JSON.parse(body), headers, body, passedOn })
      if (passedOn === undefined) return 204
      return passedOn.status ?? 502
    },
  }
}

type Answer = Pick<NonNullable<ReceivedWebhook['passedOn']>, 'status' | 'problem'>

/** The service itself ends the attempt of a delivery that takes too long (`SVC_WEBHOOK_TIMEOUT`). */
const PATIENCE_MS = 60_000

/** Never rejects. */
const post = (url: string, headers: Record<string, string>, body: string): Promise<Answer> => {
  const { promise, resolve } = Promise.withResolvers<Answer>()
  const requestFor = url.startsWith('https:') ? process.getBuiltinModule('node:https').request : request
  const signal = AbortSignal.timeout(PATIENCE_MS)
  const outgoing = requestFor(url, { method: 'POST', headers, agent: false, signal }, (response) => {
    response.resume()
    response.once('close', () => resolve({ status: response.statusCode, problem: undefined }))
  })
  outgoing.once('error', (error: NodeJS.ErrnoException) =>
    resolve({ status: undefined, problem: error.code ?? error.message }),
  )
  outgoing.end(body)
  return promise
}
