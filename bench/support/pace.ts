import { setTimeout as wait } from 'node:timers/promises'
import { type Connection, connect, type RawResponse } from './connection.ts'
import { type Client, createFailures, wrongStatus } from './load.ts'

interface PaceOptions {
  port: number
  clients: readonly Client[]
  ratePerS: number
  durationMs: number
  /** Takes each latency in place of the list, with the client that was answered, before the client sees the response. */
  onLatency?: (latencyMs: number, client: Client) => void
  /** Takes failures, so that one among millions does not end the run. Without it, any failure throws at the end. */
  onFailure?: (message: string) => void
}

/**
 * Sends requests at an even rate, however long the responses take, and resolves to their latencies in milliseconds. The
 * latency of a request starts when the request is due, even if all connections are busy, so that a stall counts for
 * every request that it delays.
 */
export const pace = async ({ port, clients, ratePerS, durationMs, ...take }: PaceOptions): Promise<number[]> => {
  const failures = createFailures()
  const latenciesMs: number[] = []
  const { onLatency = (latencyMs) => void latenciesMs.push(latencyMs), onFailure = failures.add } = take
  const idle: ((dueMs: number) => void)[] = []
  const due: number[] = []
  const connections = clients.map((client) => openClient({ port, client, idle, due, onLatency, onFailure }))
  const startedMs = performance.now()
  for (let issued = 0; performance.now() - startedMs < durationMs; await wait(1)) {
    for (const dueCount = ((performance.now() - startedMs) / 1000) * ratePerS; issued < dueCount; issued++) {
      const send = idle.shift()
      if (send === undefined) due.push(performance.now())
      else send(performance.now())
    }
  }
  due.length = 0
  while (idle.length < connections.length) await wait(1)
  for (const connection of connections) connection.close()
  failures.throwIfAny(latenciesMs.length)
  return latenciesMs
}

interface PacedClient {
  port: number
  client: Client
  idle: ((dueMs: number) => void)[]
  due: number[]
  onLatency: (latencyMs: number, client: Client) => void
  onFailure: (message: string) => void
}

/** Sends what is due, one request at a time. A lost connection is a failure, and the next request opens another one. */
const openClient = ({ port, client, idle, due, onLatency, onFailure }: PacedClient): { close: () => void } => {
  let connection: Connection | undefined
  let sinceMs = 0
  let isWaiting = false
  const send = (dueMs: number): void => {
    sinceMs = dueMs
    isWaiting = true
    connection ??= open()
    connection.send(client.request())
  }
  const next = (): void => {
    isWaiting = false
    const dueMs = due.shift()
    if (dueMs === undefined) idle.push(send)
    else send(dueMs)
  }
  const receive = (response: RawResponse): void => {
    if (response.status === client.expectStatus) {
      onLatency(performance.now() - sinceMs, client)
      client.onResponse?.(response)
    } else {
      onFailure(wrongStatus(client.expectStatus, response))
      client.onUnexpected?.()
    }
    next()
  }
  const open = (): Connection =>
    connect({
      port,
      onResponse: receive,
      onFailure: (error) => {
        connection = undefined
        onFailure(error.message)
        client.onUnexpected?.()
        if (isWaiting) next()
      },
    })
  connection = open()
  idle.push(send)
  return { close: () => connection?.close() }
}
