import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { type Arrivals, createArrivals } from './arrivals.ts'

/** An event that svc has sent, with the request that brought it. */
export interface ReceivedWebhook {
  id: string
  type: string
  created_at: string
  data: { user_id: string; changed?: string[] }
  headers: IncomingHttpHeaders
  /** The body as it was sent, which the signature is made over. */
  body: string
}

export interface WebhookReceiver {
  /** The value of `SVC_WEBHOOK_URL` that leads here. */
  url: string
  webhooks: Arrivals<ReceivedWebhook>
  /** From now on it does not keep the process alive. */
  unref(): void
  stop(): void
}

type Event = Omit<ReceivedWebhook, 'headers' | 'body'>

/** Undefined for what svc does not send, which any program on this machine might. */
const parseEvent = (body: string): Event | undefined => {
  try {
    return JSON.parse(body) as Event
  } catch {
    return undefined
  }
}

/** A receiver on this machine that accepts every event and keeps it. */
export const startWebhookReceiver = async (): Promise<WebhookReceiver> => {
  const { list, add } = createArrivals<ReceivedWebhook>('webhook')
  const server = createServer(async (request, response) => {
    const body = await text(request).catch(() => '')
    const event = parseEvent(body)
    if (event) add({ ...event, headers: request.headers, body })
    response.writeHead(event ? 204 : 400).end()
  }).listen(0, '127.0.0.1')
  server.on('connection', (socket) => socket.unref())
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`,
    webhooks: list,
    unref: () => void server.unref(),
    stop: () => server.close().closeAllConnections(),
  }
}
