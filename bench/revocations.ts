// The revocation feed: how soon verifiers learn of a logout, what an ending costs, and what readers that wait cost.
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { startPostgres } from '../test/support/postgres/postgres.ts'
import { bench, type Run } from './support/bench.ts'
import type { Child } from './support/child.ts'
import { connect, sendRequest } from './support/connection.ts'
import { processTreeCpuMs } from './support/cpu-time.ts'
import type { Client } from './support/load.ts'
import { pace } from './support/pace.ts'
import { limitRow, ratioRow, type Row } from './support/report.ts'
import { serviceEnvironment, startService, SVC } from './support/servers.ts'
import { percentile } from './support/statistics.ts'
import { followAll } from './support/streams.ts'
import { fetchCsrfCookie, keepCookies, loginClient, postForm, signUpUsers, type SignedInUser } from './support/users.ts'

const VERIFIERS = 50
const LOGOUTS = 200
const LOGINS_PER_S = 100
const READERS = 1000
const ENDINGS = 500
const CONNECTIONS = 16

const CHEAP_HASHES = new URL('../test/support/hashes/cheap-hashes-tap.js', import.meta.url).href
const WITHOUT = new URL('programs/without-revocations.ts', import.meta.url).href

/** On a busy machine, the disk may take longer than an operator would wait. */
const PATIENT = { SVC_DATABASE_TIMEOUT: '30s' }

/** An installation: its replicas, and what else uses processor time for it. */
interface Place {
  name: string
  replicas: [Child, ...Child[]]
  pids: number[]
  key: string
}

await bench('Revocations', async (run) => {
  const rows: Row[] = []
  for (const start of [startOnSqlite, startOnPostgres]) {
    const place = await start(run)
    rows.push(await measureDelay(run, place, 0), await measureDelay(run, place, LOGINS_PER_S))
    rows.push(...(await measureReaders(run, place)))
    for (const replica of place.replicas) await replica.stop()
    rows.push(await measureEnding(run, start))
  }
  run.note(`${VERIFIERS} event streams, shared among the replicas; ${LOGOUTS} logouts, one at a time.`)
  run.note('The delay is that from the answer to a logout until the last stream tells of it.')
  run.note('Baseline of a logout: a service that tells the feed nothing; user and system time of svc and PostgreSQL.')
  run.note(`Readers: the same time while nothing ends, without the ${READERS} streams and with them.`)
  return rows
})

async function startOnSqlite(run: Run, imports: string[] = []): Promise<Place> {
  const folder = await run.newFolder()
  const service = run.use(await startService({ folder, cores: 'both', imports, env: PATIENT }))
  return { name: 'SQLite', replicas: [service], pids: [service.pid], key: makeKey(folder, {}) }
}

async function startOnPostgres(run: Run, imports: string[] = []): Promise<Place> {
  const postgres = run.use(await startPostgres({ settings: { fsync: 'on' } }))
  const url = await postgres.createDatabase()
  const env = { ...PATIENT, SVC_DATABASE_URL: url, SVC_SECRET: randomBytes(32).toString('base64') }
  const folder = await run.newFolder()
  const start = async () => run.use(await startService({ folder, cores: 'both', imports, env }))
  const replicas: [Child, Child] = [await start(), await start()]
  const pids = [...replicas.map(({ pid }) => pid), postgres.pid()]
  return { name: 'PostgreSQL, two replicas', replicas, pids, key: makeKey(folder, env) }
}

function makeKey(folder: string, env: Record<string, string>): string {
  const args = ['api-keys', 'create', 'bench', '--scope', 'revocations:read', '--json']
  const output = execFileSync(process.execPath, [SVC, ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH, ...serviceEnvironment(0), ...env },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  return (JSON.parse(output) as { key: string }).key
}

function portsOf({ replicas }: Place): number[] {
  return replicas.map(({ port }) => port)
}

function sessionOf({ cookies }: SignedInUser): string {
  return cookies.get('svc_refresh')?.split('.')[0] ?? ''
}

/** How long after the answer to a logout the last verifier has learnt of it, the 99th percentile. */
async function measureDelay(run: Run, place: Place, loginsPerS: number): Promise<Row> {
  const [{ port }] = place.replicas
  const users = await signUpUsers(port, run.quick ? 5 : LOGOUTS, `delay-${loginsPerS}`)
  const told = new Map<string, number>()
  const onEvent = (data: string): void => {
    const { session_ids: ids = [] } = JSON.parse(data) as { session_ids?: string[] }
    for (const id of ids) told.set(id, (told.get(id) ?? 0) + 1)
  }
  const streams = await followAll(portsOf(place), VERIFIERS, { key: place.key, onEvent })
  const stop = new AbortController()
  const logins = logInAllTheTime(port, users, loginsPerS, stop.signal)
  const delaysMs: number[] = []
  for (const user of users) {
    await sendRequest(port, postForm('/auth/logout', user.cookies, {}))
    const answeredMs = performance.now()
    while ((told.get(sessionOf(user)) ?? 0) < VERIFIERS) await wait(1)
    delaysMs.push(performance.now() - answeredMs)
  }
  stop.abort()
  await logins
  streams.close()
  const during = loginsPerS > 0 ? `, during ${loginsPerS} logins/s` : ''
  const svc = percentile(delaysMs, 0.99)
  const what = `until ${VERIFIERS} verifiers know, p99, ${place.name}${during}`
  return limitRow(what, { unit: 'ms', svc, goal: { atMost: 1000 } })
}

async function logInAllTheTime(port: number, users: readonly SignedInUser[], ratePerS: number, signal: AbortSignal) {
  if (ratePerS === 0) return
  const csrf = await fetchCsrfCookie(port)
  const clients = users.slice(0, CONNECTIONS).map(({ email }) => loginClient(email, csrf))
  while (!signal.aborted) await pace({ port, clients, ratePerS, durationMs: 500, onLatency: () => {} })
}

/** Processor time, in milliseconds of each second, and memory, without readers that wait and with them. */
async function measureReaders(run: Run, place: Place): Promise<Row[]> {
  const count = run.quick ? 50 : READERS
  const seconds = run.quick ? 2 : 10
  const busy = async (): Promise<number> => {
    const sum = () => place.pids.reduce((total, pid) => total + processTreeCpuMs(pid), 0)
    const beforeMs = sum()
    await wait(seconds * 1000)
    return (sum() - beforeMs) / seconds
  }
  const residentMb = () => place.replicas.reduce((sum, replica) => sum + replica.residentMb(), 0)
  const baseline = await busy()
  const idleMb = residentMb()
  const streams = await followAll(portsOf(place), count, { key: place.key, onEvent: () => {} })
  const svc = await busy()
  const usedMb = residentMb() - idleMb
  streams.close()
  return [
    { what: `${count} readers that wait: of each second, ${place.name}`, unit: 'ms', baseline, svc },
    { what: `${count} readers that wait: memory, ${place.name}`, unit: 'MB', svc: usedMb },
  ]
}

type Start = (run: Run, imports?: string[]) => Promise<Place>

/** The processor time of a logout, against that of one which tells the feed nothing. */
async function measureEnding(run: Run, start: Start): Promise<Row> {
  const places = [await start(run, [CHEAP_HASHES, WITHOUT]), await start(run, [CHEAP_HASHES])]
  const [baseline = [], svc = []] = await measurePlaces(run, places)
  return ratioRow(`a logout, ${places[0]?.name}`, { unit: 'µs', svc, baseline, goal: { atMost: 1.05 } })
}

async function measurePlaces(run: Run, places: readonly Place[]): Promise<number[][]> {
  const users = await Promise.all(places.map(({ replicas: [{ port }] }) => signUpUsers(port, CONNECTIONS)))
  const slices = run.quick ? 1 : 4
  const timesUs: number[][] = places.map(() => [])
  for (let round = -1; round < run.rounds; round += 1) {
    const sums = await run.round(async () => {
      const all = places.map(() => 0)
      for (let slice = 0; slice < slices; slice += 1)
        for (const [at, place] of places.entries())
          all[at] = (all[at] ?? 0) + (await endSessions(place, users[at] ?? []))
      return all
    })
    // The first round warms up.
    if (round >= 0) for (const [at, sum] of sums.entries()) timesUs[at]?.push(sum / slices)
  }
  return timesUs
}

/** Starts sessions, ends them, and resolves to the processor time of an end in microseconds. */
async function endSessions({ replicas: [{ port }], pids }: Place, users: readonly SignedInUser[]): Promise<number> {
  const csrf = await fetchCsrfCookie(port)
  const logouts: string[] = []
  const keep = ({ head }: { head: string }): void => {
    const cookies = new Map<string, string>()
    keepCookies(cookies, head)
    logouts.push(postForm('/auth/logout', cookies, {}))
  }
  const each = Math.ceil(ENDINGS / users.length)
  const logins = users.map(({ email }) => Array.from({ length: each }, () => loginClient(email, csrf).request()))
  await Promise.all(logins.map((requests) => sendInTurn(port, requests, keep)))
  const shares = users.map((_, at) => logouts.filter((_logout, index) => index % users.length === at))
  const sum = () => pids.reduce((total, pid) => total + processTreeCpuMs(pid), 0)
  const beforeMs = sum()
  await Promise.all(shares.map((share) => sendInTurn(port, share)))
  return ((sum() - beforeMs) * 1000) / logouts.length
}

/** Sends requests over one connection, each after the answer to the one before, which is a redirect. */
function sendInTurn(
  port: number,
  requests: readonly (string | Buffer)[],
  onResponse?: Client['onResponse'],
): Promise<void> {
  const left = [...requests]
  return new Promise((resolve, reject) => {
    const next = (): void => {
      const request = left.shift()
      if (request !== undefined) return connection.send(request)
      connection.close()
      resolve()
    }
    const connection = connect({
      port,
      onFailure: reject,
      onResponse(response) {
        if (response.status !== 303) reject(new Error(`an answer with status ${response.status}`))
        onResponse?.(response)
        next()
      },
    })
    next()
  })
}
