import { setTimeout as wait } from 'node:timers/promises'
import { type Connection, connect } from './connection.ts'
import { type Client, createFailures, type Failures, wrongStatus } from './load.ts'

interface PaceOptions {
  port: number
  clients: readonly Client[]
  ratePerS: number
  durationMs: number
}

/**
 * Sends requests at an even rate, however long the responses take, and resolves to their latencies in milliseconds. The
 * latency of a request starts when the request is due, even if all connections are busy, so that a stall counts for
 * every request that it delays.
 */
export const pace = async ({ port, clients, ratePerS, durationMs }: PaceOptions): Promise<number[]> => {
  const failures = createFailures()
  const latenciesMs: number[] = []
  const idle: ((dueMs: number) => void)[] = []
  const due: number[] = []
  const connections = clients.map((client) => openClient({ port, client, idle, due, latenciesMs, failures }))
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
  latenciesMs: number[]
  failures: Failures
}

const openClient = ({ port, client, idle, due, latenciesMs, failures }: PacedClient): Connection => {
  let sinceMs = 0
  const send = (dueMs: number): void => {
    sinceMs = dueMs
    connection.send(client.request())
  }
  const next = (): void => {
    const dueMs = due.shift()
    if (dueMs === undefined) idle.push(send)
    else send(dueMs)
  }
  const connection = connect({
    port,
    onResponse: (response) => {
      if (response.status === client.expectStatus) {
        latenciesMs.push(performance.now() - sinceMs)
        client.onResponse?.(response)
      } else failures.add(wrongStatus(client.expectStatus, response))
      next()
    },
    onFailure: (error) => {
      failures.add(error.message)
      idle.push(() => failures.add('sent on a broken connection'))
    },
  })
  idle.push(send)
  return connection
}
