import { type Connection, connect, type RawResponse } from './connection.ts'

/** One keep-alive connection's share of the load. */
export interface Client {
  /** The complete next request. */
  request(): string | Buffer
  expectStatus: number
  /** Called with each expected response, for example to store its cookies. */
  onResponse?(response: RawResponse): void
  /** Called after any other response, and when the connection is lost. */
  onUnexpected?(): void
}

export interface Load {
  requests: number
  ratePerS: number
  /** The share of a core that the load client used: near 1, the client was the bottleneck and not the server. */
  clientBusy: number
}

interface LoadOptions {
  port: number
  clients: readonly Client[]
  durationMs: number
}

interface Failures {
  add(message: string): void
  /** Throws if any request failed: a rate that contains failures is meaningless. */
  throwIfAny(succeeded: number): void
}

/** Collects the number of failures and the first of them. */
export const createFailures = (): Failures => {
  const first: string[] = []
  let count = 0
  return {
    add(message: string): void {
      count += 1
      if (first.length < 3) first.push(message)
    },
    throwIfAny(succeeded: number): void {
      if (count === 0) return
      throw new Error(`${count} requests failed and ${succeeded} succeeded; the first: ${first.join(' | ')}`)
    },
  }
}

export const wrongStatus = (expected: number, response: RawResponse): string =>
  `expected ${expected}, got ${response.status}: ${response.body.subarray(0, 160).toString().trim()}`

/**
 * Every client sends its next request when the last one is answered, until the time is up; then the open requests are
 * awaited. Throws if any response was not the expected one.
 */
export const load = async ({ port, clients, durationMs }: LoadOptions): Promise<Load> => {
  const failures = createFailures()
  let answered = 0
  const onAnswer = (): void => {
    answered += 1
  }
  const cpu = process.cpuUsage()
  const startedMs = performance.now()
  const deadlineMs = startedMs + durationMs
  await Promise.all(clients.map((client) => runClient({ port, client, deadlineMs, onAnswer, failures })))
  const elapsedMs = performance.now() - startedMs
  failures.throwIfAny(answered)
  const { user, system } = process.cpuUsage(cpu)
  return {
    requests: answered,
    ratePerS: answered / (elapsedMs / 1000),
    clientBusy: (user + system) / 1000 / elapsedMs,
  }
}

interface ClientRun {
  port: number
  client: Client
  deadlineMs: number
  onAnswer: () => void
  failures: Failures
}

const runClient = ({ port, client, deadlineMs, onAnswer, failures }: ClientRun): Promise<void> =>
  new Promise((resolve) => {
    const end = (failure?: string): void => {
      if (failure !== undefined) failures.add(failure)
      connection.close()
      resolve()
    }
    const onResponse = (response: RawResponse): void => {
      if (response.status !== client.expectStatus) return end(wrongStatus(client.expectStatus, response))
      onAnswer()
      client.onResponse?.(response)
      if (performance.now() >= deadlineMs) return end()
      connection.send(client.request())
    }
    const connection: Connection = connect({ port, onResponse, onFailure: (error) => end(error.message) })
    connection.send(client.request())
  })
