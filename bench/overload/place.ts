import type { Run } from '../support/bench.ts'
import type { Child } from '../support/child.ts'
import { sendRequest } from '../support/connection.ts'
import { load } from '../support/load.ts'
import { startService } from '../support/servers.ts'
import { fetchCsrfCookie, loginFromAnywhere, type SignedInUser, signUpUsers } from '../support/users.ts'

/** Clients of a storm: each logs in as a user of its own. */
export const CLIENTS = 200
export const READS_PER_S = 200
const READERS = 16

/** A service with limits on, and what is sent to it. */
export interface Place {
  name: string
  service: Child
  /** They never log in: a user with a hundred sessions loses the oldest. */
  readers: [SignedInUser, ...SignedInUser[]]
  login: (client: number) => string
}

/** The users sign up before the limits are on: here they would all come from one address. */
export async function startPlace(run: Run, name: string, env: Record<string, string>): Promise<Place> {
  const options = { folder: await run.newFolder(), cores: 'both' } as const
  const first = await startService({ ...options, env })
  const readers = await signUpUsers(first.port, READERS, 'reader')
  const users = await signUpUsers(first.port, CLIENTS)
  await first.stop()
  const service = run.use(await startService({ ...options, env: { ...env, SVC_RATE_LIMIT: 'on' } }))
  const csrfCookie = await fetchCsrfCookie(service.port)
  const login = (client: number): string => loginFromAnywhere(users[client]?.email ?? '', csrfCookie)
  // Warms both forms of requests up.
  const clients = users.slice(0, 32).map((_, client) => ({ request: () => login(client), expectStatus: 303 }))
  await load({ port: service.port, clients, durationMs: run.duration(2000) })
  return { name, service, readers, login }
}

/** On a new connection, in milliseconds. */
export async function timeOf(port: number, request: string, expected: number): Promise<number> {
  const startedMs = performance.now()
  const { status } = await sendRequest(port, request)
  if (status !== expected) throw new Error(`expected ${expected}, got ${status}`)
  return performance.now() - startedMs
}
