// Hours of mixed load at half of what the machine can do: memory, descriptors, the write-ahead log, and latencies over
// time. Linux only.
import { setTimeout as wait } from 'node:timers/promises'
import { intrude } from './soak/intruders.ts'
import { startReceivers } from './soak/receivers.ts'
import { growth, type Sample, takeSample, toTable } from './soak/samples.ts'
import { type Account, createVisitor, type Kind, type Visitor } from './soak/visits.ts'
import { bench, type Run } from './support/bench.ts'
import type { Child } from './support/child.ts'
import { pinTo } from './support/cores.ts'
import { load } from './support/load.ts'
import { pace } from './support/pace.ts'
import { startService } from './support/servers.ts'
import { signUpUsers } from './support/users.ts'

const HOURS = 8
const SHARE = 0.5
const VISITORS = 64
const ACCOUNTS = 1000
const SLOW_CONNECTIONS = 20
const STRETCH_MS = 30_000
/** What must have ended when descriptors are counted: connections that the load has just closed. */
const SETTLE_MS = 500
/** What may be 1.1 times as much at the end and is still called flat: medians of samples vary. */
const FLAT = 1.1

interface Soak {
  service: Child
  folder: string
  visitors: Visitor[]
  ratePerS: number
  onFailure: (message: string) => void
}

await bench(
  'Hours of mixed load',
  async (run) => {
    pinTo('both')
    const hours = run.quick ? 1 / 120 : readNumber(run, 'hours', HOURS)
    const share = readNumber(run, 'share', SHARE)
    const folder = await run.newFolder()
    const accounts = await createAccounts(folder, run.quick ? 2 * VISITORS : ACCOUNTS)
    const receivers = run.use(await startReceivers())
    const service = run.use(
      await startService({ folder, cores: 'both', env: { SVC_RATE_LIMIT: 'on', ...receivers.env } }),
    )
    const visitors = Array.from({ length: VISITORS }, () => createVisitor(accounts))
    const most = await load({ port: service.port, clients: visitors, durationMs: run.duration(30_000) })
    const ratePerS = most.ratePerS * share
    const failures: string[] = []
    const onFailure = (message: string): void => {
      failures.push(message)
      if (failures.length <= 10) console.error(`failed: ${message}`)
    }
    const soak = { service, folder, visitors, ratePerS, onFailure }
    const samples = await run.once(() => takeSamples(run, soak, hours * 3_600_000))
    describe(run, samples, { most: most.ratePerS, share, failures, receivers })
    return { rows: [], table: toTable(samples) }
  },
  ['hours', 'share'],
)

/** Users who have signed up before the limits are on: here they would all come from one address. */
async function createAccounts(folder: string, count: number): Promise<Account[]> {
  await using service = await startService({ folder, cores: 'both' })
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

async function soakFor({ service, folder, visitors, ratePerS, onFailure }: Soak, durationMs: number): Promise<Sample> {
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
  return takeSample(service, folder, { latencies, seconds })
}

interface Outcome {
  most: number
  share: number
  failures: string[]
  receivers: { counts: () => { events: number; messages: number } }
}

function describe({ note }: Run, samples: Sample[], { most, share, failures, receivers }: Outcome): void {
  const hours = samples.reduce((sum, { seconds }) => sum + seconds, 0) / 3600
  const requests = samples.reduce((sum, each) => sum + each.requests, 0)
  const { events, messages } = receivers.counts()
  note(
    `${hours.toFixed(2)} hours with ${Math.round(requests / hours / 3600).toLocaleString('en')} requests/s, ` +
      `${Math.round(share * 100)} % of the ${Math.round(most).toLocaleString('en')} that the same load reaches on these ` +
      'cores, which it shares.',
  )
  note(
    'Visits with a login, 200 GET /user, 10 refreshes, the account page and a logout; signups, deletions, wrong ' +
      `passwords, resets; four requests a second that are refused, and ${SLOW_CONNECTIONS} slow connections. Limits are on.`,
  )
  note(`${events.toLocaleString('en')} webhooks and ${messages.toLocaleString('en')} messages arrived.`)
  note(
    `${failures.length} of ${requests.toLocaleString('en')} requests failed${failures[0] ? `: ${failures[0]}` : ''}.`,
  )
  const flat = (figure: (sample: Sample) => number): string => {
    const grown = growth(samples, figure)
    return `${grown.toFixed(2)} × (${grown <= FLAT ? 'flat' : 'NOT FLAT'})`
  }
  note(
    `The last quarter against the second: memory ${flat(({ residentMb }) => residentMb)}, descriptors ` +
      `${flat(({ descriptors }) => descriptors)}, write-ahead log ${flat(({ walMb }) => walMb)}.`,
  )
}

function readNumber({ options }: Run, name: string, unset: number): number {
  const value = Number(options[name] ?? unset)
  if (value > 0) return value
  throw new Error(`--${name} must be a number above 0`)
}
