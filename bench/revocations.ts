// The revocation feed: how soon verifiers refuse what has ended, what an ending costs, and what readers that wait cost.
import { setTimeout as wait } from 'node:timers/promises'
import { ENDINGS } from './revocations/endings.ts'
import { measureLogouts } from './revocations/logout-cost.ts'
import { type Place, usedMs, startOnPostgres, startOnSqlite, type StartPlace } from './revocations/place.ts'
import { startVerifiers, type Verifiers } from './revocations/verifiers.ts'
import { bench, type Run } from './support/bench.ts'
import { pace } from './support/pace.ts'
import { limitRow, ratioRow, type Row } from './support/report.ts'
import { percentile, spread } from './support/statistics.ts'
import { followAll } from './support/streams.ts'
import { fetchCsrfCookie, loginClient, signUpUsers } from './support/users.ts'

const VERIFIERS = 50
const TIMES = 200
const LOGINS_PER_S = 100
const CONNECTIONS = 16
const READERS = 1000

const WITHOUT_FEED = new URL('programs/without-revocations.ts', import.meta.url).href

await bench('Revocations', async (run) => {
  const rows: Row[] = []
  for (const start of [startOnSqlite, startOnPostgres]) {
    const place = await start(run)
    rows.push(...(await measureReaders(run, place)), ...(await measureDelays(run, place)))
    for (const replica of place.replicas) await replica.stop()
    rows.push(await measureEnding(run, start))
  }
  run.note(
    `${VERIFIERS} processes that verify with the SDK, shared among the replicas; ${TIMES} endings, one at a time.`,
  )
  run.note(
    'The time is that from the answer to a request until the last of them refuses the token, or knows the roles.',
  )
  run.note(`They look every 20 ms. ${LOGINS_PER_S} logins a second run at the same time.`)
  run.note('Password hashes are cheap: on two cores, those of so many logins would leave nothing for anything else.')
  run.note('Baseline of a logout: a service that tells the feed nothing; user and system time of svc and PostgreSQL.')
  run.note(`Readers: the same time while nothing ends, without the ${READERS} streams and with them.`)
  return rows
})

type Delays = Record<string, number[]>

/** How long after the answer the last verifier has learnt of it, by what happened. */
async function measureDelays(run: Run, place: Place): Promise<Row[]> {
  const verifiers = startVerifiers(run, place, run.quick ? 4 : VERIFIERS)
  const times = run.quick ? Object.keys(ENDINGS).length : TIMES
  // Warms up.
  await measureEach(place, verifiers, times / 10)
  const stop = new AbortController()
  const logins = logInAllTheTime(place, stop.signal)
  const delays = await measureEach(place, verifiers, times)
  stop.abort()
  await logins
  await verifiers.stop()
  const all = Object.values(delays).flat()
  const kinds = Object.entries(delays).map(([kind, values]) => `${kind} ${Math.round(spread(values).median)}`)
  run.note(`${place.name}, the medians in ms: ${kinds.join(', ')}.`)
  const what = `until ${run.quick ? 4 : VERIFIERS} verifiers refuse, ${place.name}`
  return [
    { what: `${what}, p50`, unit: 'ms', svc: percentile(all, 0.5) },
    limitRow(`${what}, p99`, { unit: 'ms', svc: percentile(all, 0.99), goal: { atMost: 1000 } }),
  ]
}

async function measureEach(place: Place, verifiers: Verifiers, times: number): Promise<Delays> {
  const kinds = Object.entries(ENDINGS)
  const delays: Delays = Object.fromEntries(kinds.map(([kind]) => [kind, []]))
  for (let time = 0; time < times; time += 1) {
    const [kind, prepare] = kinds[time % kinds.length] ?? []
    const port = place.replicas[time % place.replicas.length]?.port ?? 0
    const ending = await prepare?.(place, port)
    if (kind && ending) delays[kind]?.push(await verifiers.timeUntilAllKnow(ending, ending.end))
  }
  return delays
}

async function logInAllTheTime({ replicas: [{ port }] }: Place, signal: AbortSignal): Promise<void> {
  const csrf = await fetchCsrfCookie(port)
  const clients = (await signUpUsers(port, CONNECTIONS)).map(({ email }) => loginClient(email, csrf))
  const ratePerS = LOGINS_PER_S
  while (!signal.aborted) await pace({ port, clients, ratePerS, durationMs: 500, onLatency: () => {} })
}

/** Processor time, in milliseconds of each second, and memory, without readers that wait and with them. */
async function measureReaders(run: Run, place: Place): Promise<Row[]> {
  const count = run.quick ? 50 : READERS
  const seconds = run.quick ? 2 : 10
  const busy = async (): Promise<number> => {
    const beforeMs = usedMs(place)
    await wait(seconds * 1000)
    return (usedMs(place) - beforeMs) / seconds
  }
  const residentMb = () => place.replicas.reduce((sum, replica) => sum + replica.residentMb(), 0)
  // The end of the start.
  await busy()
  const baseline = await busy()
  const idleMb = residentMb()
  const ports = place.replicas.map(({ port }) => port)
  const streams = await followAll(ports, count, { key: place.key, onEvent: () => {} })
  await busy()
  const svc = await busy()
  const usedMb = residentMb() - idleMb
  streams.close()
  return [
    { what: `${count} readers that wait: of each second, ${place.name}`, unit: 'ms', baseline, svc },
    { what: `${count} readers that wait: memory, ${place.name}`, unit: 'MB', svc: usedMb },
  ]
}

/** The processor time of a logout, against that of one which tells the feed nothing. */
async function measureEnding(run: Run, start: StartPlace): Promise<Row> {
  const places = [await start(run, [WITHOUT_FEED]), await start(run)]
  const [baseline = [], svc = []] = await measureLogouts(run, places)
  return ratioRow(`a logout, ${places[0]?.name}`, { unit: 'µs', svc, baseline, goal: { atMost: 1.05 } })
}
