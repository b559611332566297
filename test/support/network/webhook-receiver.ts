import { once } from 'node:events'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { TestContext } from 'node:test'
import { afterwards } from '../cleanup.ts'

// See the user agent.
const http = process.getBuiltinModule('node:http')

/** One request that arrived, in the order of arrival; `body` is exactly what was signed. */
export type Delivery = {
  method: string
  url: string
  headers: IncomingHttpHeaders
  body: string
  arrivedAtMs: number
  event: { id: string; type: string; created_at: string; data: { user_id: string; changed?: string[] } }
}

/** How the receiver answers a request. */
export type Answering = (delivery: Delivery, response: ServerResponse) => void

export type WebhookReceiver = {
  url: string
  deliveries: Delivery[]
  answerWith(answering: Answering): void
  /** Breaks the connections of requests that it has not answered, so that nothing waits for their answers. */
  hangUp(): void
  /** Resolves once that many requests have arrived in all, or fails after a minute. */
  received(count: number): Promise<Delivery[]>
  /** Resolves once a request that fits has arrived. */
  receivedEvent(fits: (delivery: Delivery) => boolean): Promise<Delivery>
}

/** Answers with a status and no body. */
export const status =
  (code: number): Answering =>
  (_, response) =>
    void response.writeHead(code).end()

/** Takes the request and never answers. */
export const silence: Answering = () => {}

/** Sends the caller elsewhere. */
export const redirectTo =
  (location: string): Answering =>
  (_, response) =>
    void response.writeHead(307, { location }).end()

/** Sends a head at once and then a body that never ends, a byte at a time. */
export const trickle: Answering = (_, response) => {
  response.writeHead(200)
  const drip = setInterval(() => response.write('.'), 20)
  response.once('close', () => clearInterval(drip))
}

/** Sends a head that never ends, a byte at a time. */
export const drip: Answering = (_, response) => {
  const { socket } = response
  socket?.write('HTTP/1.1 200 OK\r\nDrops: ')
  const dripping = setInterval(() => socket?.write('.'), 20)
  socket?.once('close', () => clearInterval(dripping))
}

/** Sends as much as the caller takes; `sent` is told the bytes so far. */
export const flood =
  (sent: (bytes: number) => void): Answering =>
  (_, response) => {
    const chunk = Buffer.alloc(64 * 1024, '.')
    let bytes = 0
    const pour = () => {
      while (!response.destroyed) {
        bytes += chunk.length
        sent(bytes)
        if (!response.write(chunk)) break
      }
    }
    response.on('drain', pour).writeHead(200)
    pour()
  }

const readBody = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  await once(request, 'end')
  return Buffer.concat(chunks).toString('utf8')
}

const toDelivery = async (request: IncomingMessage): Promise<Delivery> => {
  const arrivedAtMs = Date.now()
  const body = await readBody(request)
  const { method = '', url = '', headers } = request
  return { method, url, headers, body, arrivedAtMs, event: JSON.parse(body) }
}

/** A real HTTP server that remembers what it was sent and answers as told (204 at first). */
export const startWebhookReceiver = async ({ t }: { t?: TestContext } = {}): Promise<WebhookReceiver> => {
  const deliveries: Delivery[] = []
  let answering = status(204)
  let arrived = Promise.withResolvers<void>()
  const server = http.createServer(async (request, response) => {
    const delivery = await toDelivery(request).catch(() => undefined)
    if (!delivery) return
    deliveries.push(delivery)
    answering(delivery, response)
    arrived.resolve()
    arrived = Promise.withResolvers()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  afterwards(t, close)

  const until = async (holds: () => boolean, what: string) => {
    const patience = Date.now() + 60_000
    while (!holds()) {
      if (Date.now() > patience) throw new Error(`${what}, but ${deliveries.length} requests arrived within a minute`)
      await Promise.race([arrived.promise, new Promise((resolve) => setTimeout(resolve, 200))])
    }
  }
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the receiver has no port')
  return {
    url: `http://127.0.0.1:${address.port}/hook`,
    deliveries,
    answerWith: (next) => {
      answering = next
    },
    hangUp: () => server.closeAllConnections(),
    received: async (count) => {
      await until(() => deliveries.length >= count, `${count} requests were expected`)
      return deliveries
    },
    receivedEvent: async (fits) => {
      await until(() => deliveries.some(fits), 'a certain request was expected')
      return deliveries.filter(fits)[0] ?? Promise.reject(new Error('gone'))
    },
  }
}
