import { setTimeout as wait } from 'node:timers/promises'
import { intrude } from './intruders.ts'
import { startReceivers } from './receivers.ts'
import { describeSoak } from './notes.ts'
import { type Sample, type Sizes, takeSample, toTable } from './samples.ts'
import { type Account, createVisitor, type Kind, type Visitor } from './visits.ts'
import { bench, type Run } from '../support/bench.ts'
import type { Child } from '../support/child.ts'
import { pinTo } from '../support/cores.ts'
import { load } from '../support/load.ts'
import { pace } from '../support/pace.ts'
import { startService } from '../support/servers.ts'
import { signUpUsers } from '../support/users.ts'

const HOURS = 8
const SHARE = 0.5
const VISITORS = 64
const ACCOUNTS = 1000
const SLOW_CONNECTIONS = 20
const STRETCH_MS = 30_000
/** What must have ended when descriptors are counted: connections that the load has just closed. */
const SETTLE_MS = 500

/** The database of a soak: the settings of the service that name it, and how large it is. */
export interface Place {
  env: Record<string, string>
  sizes: () => Promise<Sizes>
}

interface Soak {
  service: Child
  sizes: Place['sizes']
  visitors: Visitor[]
  ratePerS: number
  onFailure: (message: string) => void
}

/**
 * Hours of mixed load at half of what the machine can do: memory, descriptors, the write-ahead log, and latencies over
 * time. Linux only.
 */
export const benchSoak = (title: string, prepare: (run: Run, folder: string) => Promise<Place>): Promise<void> =>
  bench(title, (run) => measureSoak(run, prepare), ['hours', 'share'])

async function measureSoak(run: Run, prepare: (run: Run, folder: string) => Promise<Place>) {
  pinTo('both')
  const hours = run.quick ? 1 / 120 : readNumber(run, 'hours', HOURS)
  const share = readNumber(run, 'share', SHARE)
  const folder = await run.newFolder()
  const { env, sizes } = await prepare(run, folder)
  const accounts = await createAccounts({ folder, env }, run.quick ? 2 * VISITORS : ACCOUNTS)
  const receivers = run.use(await startReceivers())
  const service = run.use(
    await startService({ folder, cores: 'both', env: { ...env, SVC_RATE_LIMIT: 'on', ...receivers.env } }),
  )
  const visitors = Array.from({ length: VISITORS }, () => createVisitor(accounts))
  const most = await load({ port: service.port, clients: visitors, durationMs: run.duration(30_000) })
  const ratePerS = most.ratePerS * share
  const failures: string[] = []
  const onFailure = (message: string): void => {
    failures.push(message)
    if (failures.length <= 10) console.error(`failed: ${message}`)
  }
  const soak = { service, sizes, visitors, ratePerS, onFailure }
  const samples = await run.once(() => takeSamples(run, soak, hours * 3_600_000))
  describeSoak(run, samples, { most: most.ratePerS, share, slowConnections: SLOW_CONNECTIONS, failures, receivers })
  return { rows: [], table: toTable(samples) }
}

/** Users who have signed up before the limits are on: here they would all come from one address. */
async function createAccounts(
  { folder, env }: { folder: string; env: Place['env'] },
  count: number,
): Promise<Account[]> {
  await using service = await startService({ folder, cores: 'both', env })
  const users = await signUpUsers(service.port, count)
  return users.map(({ email }) => ({ email, cookies: new Map() }))
}

async function takeSamples(run: Run, soak: Soak, durationMs: number): Promise<Sample[]> {
  const interrupt = run.takeInterrupt()
  const samples: Sample[] = []
  const startedMs = performance.now()
  for (let leftMs = durationMs; leftMs > 0 && !interrupt.aborted; ) {
    samples.push(await soakFor(soak, Math.min(STRETCH_MS, Math.max(leftMs, 1000))))
    leftMs = startedMs + durationMs - performance.now()
    console.error(JSON.stringify({ minutesLeft: Math.round(leftMs / 60_000), ...samples.at(-1) }))
  }
  return samples
}

async function soakFor({ service, sizes, visitors, ratePerS, onFailure }: Soak, durationMs: number): Promise<Sample> {
  const { port } = service
  const latencies: Record<Kind, number[]> = { 'GET /user': [], refresh: [], login: [], others: [] }
  const kinds = new Map(visitors.map((visitor) => [visitor as object, visitor.kind]))
  const startedMs = performance.now()
  await Promise.all([
    pace({
      port,
      clients: visitors,
      ratePerS,
      durationMs,
      onLatency: (latencyMs, client) => latencies[kinds.get(client)?.() ?? 'others'].push(latencyMs),
      onFailure,
    }),
    intrude({ port, slow: SLOW_CONNECTIONS, durationMs, onFailure }),
  ])
  const seconds = (performance.now() - startedMs) / 1000
  await wait(SETTLE_MS)
  return takeSample(service, await sizes(), { latencies, seconds })
}

function readNumber({ options }: Run, name: string, unset: number): number {
  const value = Number(options[name] ?? unset)
  if (value > 0) return value
  throw new Error(`--${name} must be a number above 0`)
}
