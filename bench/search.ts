// Search by a part of an email, username or name among a million users, and the newest of them by filters, on SQLite and
// PostgreSQL; and what other requests see of the making of the index.
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { findDirectoryUsers } from '../src/accounts/directory/directory-user-store.ts'
import { listUserIds, type PageRequest } from '../src/accounts/directory/user-list.ts'
import { findIndexedUpTo } from '../src/accounts/user-search-store.ts'
import type { Database } from '../src/storage/database.ts'
import { openPostgres } from '../src/storage/postgres/postgres.ts'
import { openSqlite } from '../src/storage/sqlite/sqlite.ts'
import { startPostgres } from '../test/support/postgres/postgres.ts'
import { bench, type Run } from './support/bench.ts'
import type { Child } from './support/child.ts'
import { sendRequest } from './support/connection.ts'
import { pinTo } from './support/cores.ts'
import { pace } from './support/pace.ts'
import { addPeopleToPostgres, addPeopleToSqlite, personAt } from './support/people.ts'
import { limitRow, type Row } from './support/report.ts'
import { DATABASE, NODE_FLAGS, startService, SVC } from './support/servers.ts'
import { percentile, spread } from './support/statistics.ts'
import {
  fetchCsrfCookie,
  loginClient,
  refreshClient,
  signUpUsers,
  type SignedInUser,
  userClient,
} from './support/users.ts'

const USERS = 1_000_000
const USERS_QUICK = 20_000
const IMPORTED = 20_000
const [PAGE, TIMES] = [20, 7]

/** One installation: its service, and its database for what no route shows. */
interface Place {
  name: string
  folder: string
  env: Record<string, string>
  service: Child
  db: Database
  users: number
  key: string
}

await bench('Search among a million users', async (run) => {
  pinTo('both')
  const users = run.quick ? USERS_QUICK : USERS
  const rows: Row[] = []
  for (const open of [onSqlite, onPostgres]) rows.push(...(await measurePlace(run, await open(run, users))))
  run.note(`${users.toLocaleString('en')} users. Service, database and clients share two cores.`)
  run.note(
    `Each text is searched ${TIMES} times for a page of ${PAGE}, by HTTP; the figure is the slowest text's median.`,
  )
  run.note('Beside the index: 100 GET /user, 20 refreshes and 2 logins a second; the baseline is the time before it.')
  return rows
})

async function onSqlite(run: Run, users: number): Promise<Place> {
  const folder = await run.newFolder()
  // The first start creates the schema, the key and the secret.
  await (await startService({ folder, cores: 'both' })).stop()
  addPeopleToSqlite(join(folder, DATABASE), users)
  const service = run.use(await startService({ folder, cores: 'both' }))
  const db = await openSqlite({ file: join(folder, DATABASE), onFailure: console.error })
  return { name: 'SQLite', folder, env: {}, service, db, users, key: await createKey(folder, {}) }
}

async function onPostgres(run: Run, users: number): Promise<Place> {
  const postgres = run.use(await startPostgres({ settings: { fsync: 'on', shared_buffers: '512MB' } }))
  const url = await postgres.createDatabase()
  const folder = await run.newFolder()
  const env = { SVC_DATABASE_URL: url, SVC_SECRET: randomBytes(32).toString('base64') }
  await (await startService({ folder, cores: 'both', env })).stop()
  await addPeopleToPostgres(url, users)
  await postgres.query(url, 'CREATE EXTENSION pg_trgm')
  const service = run.use(await startService({ folder, cores: 'both', env }))
  const db = openPostgres({ connection: { connectionString: url }, size: 4, timeoutMs: 60_000, onChange: () => {} })
  return { name: 'PostgreSQL', folder, env, service, db, users, key: await createKey(folder, env) }
}

/** Runs a command with the settings of the service. */
async function svc({ folder, env }: Pick<Place, 'folder' | 'env'>, ...args: string[]): Promise<string> {
  const own = { PATH: process.env.PATH, SVC_BASE_URL: 'http://localhost', ...env }
  const { stdout } = await promisify(execFile)(process.execPath, [...NODE_FLAGS, SVC, ...args], {
    cwd: folder,
    env: own,
  })
  return stdout
}

async function createKey(folder: string, env: Record<string, string>): Promise<string> {
  const output = await svc({ folder, env }, 'api-keys', 'create', 'bench', '--scope', 'users:read', '--json')
  return (JSON.parse(output) as { key: string }).key
}

async function measurePlace(run: Run, place: Place): Promise<Row[]> {
  const { name, users, db } = place
  const scanMs = await searchMs(place, `zzqx${users}`)
  const importBeforeS = await importSeconds(place, 'before')
  const beside = await measureBeside(run, place)
  const importAfterS = await importSeconds(place, 'after')
  const searches = await slowest(textsOf(users), (text) => searchMs(place, text))
  const lists = await slowest(listQueries(), (query) => pageMs(db, query))
  await db.close()
  run.note(`${name}: the slowest search was for ${searches.what}, the slowest list ${lists.what}.`)
  return [
    limitRow(`${name}: search`, { unit: 'ms', svc: searches.ms, goal: { atMost: 100 } }),
    limitRow(`${name}: newest users, by filters`, { unit: 'ms', svc: lists.ms, goal: { atMost: 50 } }),
    { what: `${name}: search without the index, for what nobody has`, unit: 'ms', svc: scanMs },
    { what: `${name}: the making of the index`, unit: 's', svc: beside.seconds },
    ...beside.rows,
    {
      what: `${name}: import of ${IMPORTED}, without and with the index`,
      unit: 's',
      baseline: importBeforeS,
      svc: importAfterS,
    },
  ]
}

function listQueries(): PageRequest[] {
  const queries = [
    {},
    { disabled: true },
    { unverified: true },
    { neverSignedIn: true },
    { createdSinceMs: Date.now() - 86_400_000 * 395 },
    { role: 'editor' },
    { role: 'nobody' },
    { unverified: true, search: 'gmail' },
  ]
  return queries.map((query) => ({ ...query, newestFirst: true, limit: PAGE }) as PageRequest)
}

/** Whole and partial, of many, of few and of nobody. */
function textsOf(users: number): string[] {
  const [one, other] = [personAt(Math.floor(users / 2)), personAt(Math.floor(users * 0.99))]
  const rare = [one.email, one.name, other.username, other.email.slice(0, 12), one.email.slice(3, 14)]
  const common = ['ada', 'gmail.com', 'com', '@gm', 'sch', 'ski', 'GRACE', 'ng@', '.1', 'zu']
  const nobody = ['zzqx', 'gmail.comx', 'com@exa', 'ada.ada.ada', "o'hara", '%__', `${one.email}x`, 'nancy zuzuzu']
  return [...rare, ...common, ...nobody]
}

async function slowest<T>(whats: readonly T[], measure: (what: T) => Promise<number>) {
  let worst = { ms: 0, what: '' }
  for (const what of whats) {
    const times: number[] = []
    for (let time = 0; time < TIMES; time += 1) times.push(await measure(what))
    const { median } = spread(times)
    if (median > worst.ms) worst = { ms: median, what: JSON.stringify(what) }
  }
  return worst
}

async function searchMs({ service, key }: Place, text: string): Promise<number> {
  const path = `/auth/api/v2/users?limit=${PAGE}&search=${encodeURIComponent(text)}`
  const begunMs = performance.now()
  const request = `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n\r\n`
  const { status, body } = await sendRequest(service.port, request)
  if (status !== 200 && status !== 422) throw new Error(`search: ${status} ${body.toString()}`)
  return performance.now() - begunMs
}

async function pageMs(db: Database, query: PageRequest): Promise<number> {
  const begunMs = performance.now()
  await findDirectoryUsers(db, (await listUserIds(db, query)).ids)
  return performance.now() - begunMs
}

async function importSeconds(place: Place, when: string): Promise<number> {
  const file = join(place.folder, `${when}.jsonl`)
  const from = place.users * (when === 'before' ? 2 : 3)
  const lines = Array.from({ length: IMPORTED }, (_, at) => JSON.stringify(personOf(from + at)))
  writeFileSync(file, lines.join('\n'))
  const begunMs = performance.now()
  await svc(place, 'users', 'import', file)
  return (performance.now() - begunMs) / 1000
}

function personOf(n: number) {
  const { email, username } = personAt(n)
  return { email, username }
}

type Latencies = Record<'GET /user' | 'refresh' | 'login', number[]>

/** The latencies of the service's work before the index is made, and while it is. */
async function measureBeside(run: Run, place: Place): Promise<{ seconds: number; rows: Row[] }> {
  const { service, name } = place
  const users = await signUpUsers(service.port, 18, `beside-${name}`)
  const csrfCookie = await fetchCsrfCookie(service.port)
  const atWork = (durationMs: number) => work(service.port, users, csrfCookie, durationMs)
  await atWork(run.duration(2000))
  const before = await atWork(run.duration(20_000))
  const begunMs = performance.now()
  const made = makeIndex(place, run.quick)
  const during: Latencies = { 'GET /user': [], refresh: [], login: [] }
  for (const progress = watch(made); !progress.isOver; ) {
    const some = await atWork(run.duration(4000))
    for (const what of Object.keys(during) as (keyof Latencies)[]) during[what].push(...some[what])
  }
  const beganMs = await made
  const rows = (Object.keys(during) as (keyof Latencies)[]).map((what) => ({
    what: `${name}: p99 of ${what} beside it`,
    unit: 'ms',
    baseline: percentile(before[what], 0.99),
    svc: percentile(during[what], 0.99),
  }))
  return { seconds: (performance.now() - Math.max(begunMs, beganMs)) / 1000, rows }
}

function watch(work: Promise<unknown>): { isOver: boolean } {
  const progress = { isOver: false }
  const end = (): boolean => (progress.isOver = true)
  void work.then(end, end)
  return progress
}

/**
 * On SQLite, the service itself makes it within a minute, since a search has asked for it; a smoke run does not wait.
 * Resolves to when that began.
 */
async function makeIndex(place: Place, isQuick: boolean): Promise<number> {
  if (isQuick || place.db.dialect === 'postgres') {
    await svc(place, 'database', 'index')
    return 0
  }
  let beganMs = 0
  for (;;) {
    const upTo = (await findIndexedUpTo(place.db)) ?? 0
    if (upTo > 0) beganMs ||= performance.now()
    if (upTo >= place.users) return beganMs
    await wait(100)
  }
}

async function work(port: number, users: SignedInUser[], csrfCookie: Map<string, string>, durationMs: number) {
  const [readers, refreshers, others] = [users.slice(0, 8), users.slice(8, 16), users.slice(16, 18)]
  const [reads, refreshes, logins] = await Promise.all([
    pace({ port, clients: readers.map(userClient), ratePerS: 100, durationMs }),
    pace({ port, clients: refreshers.map(refreshClient), ratePerS: 20, durationMs }),
    pace({ port, clients: others.map(({ email }) => loginClient(email, csrfCookie)), ratePerS: 2, durationMs }),
  ])
  return { 'GET /user': reads, refresh: refreshes, login: logins }
}
