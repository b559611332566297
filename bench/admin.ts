// The pages for administrators among a million users and ten million records, while the service answers logins beside them,
// on SQLite and PostgreSQL.
import { execFile } from 'node:child_process'
import { hash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { startPostgres } from '../test/support/postgres/postgres.ts'
import { bench, type Run } from './support/bench.ts'
import { sendRequest } from './support/connection.ts'
import { pinTo } from './support/cores.ts'
import { pace } from './support/pace.ts'
import { addPeopleToPostgres, addPeopleToSqlite, personAt } from './support/people.ts'
import { limitRow, type Row } from './support/report.ts'
import { DATABASE, NODE_FLAGS, serviceEnvironment, startService, SVC } from './support/servers.ts'
import { percentile, spread } from './support/statistics.ts'
import { fetchCsrfCookie, loginClient, signUpUsers } from './support/users.ts'

const SIZE = { users: 1_000_000, records: 10_000_000 }
const SIZE_QUICK = { users: 20_000, records: 100_000 }
const TIMES = 7
const LOGINS_PER_S = 2
const AT_ONCE = 500_000

const [sqliteId, postgresId] = [
  `printf('%08x-%04x-7000-8000-%012x', (at_ms) >> 16, (at_ms) & 65535, n)`,
  `lpad(to_hex((at_ms) >> 16), 8, '0') || '-' || lpad(to_hex((at_ms) & 65535), 4, '0') || '-7000-8000-' || lpad(to_hex(n), 12, '0')`,
]

const BEGAN_MS = Date.now() - 390 * 86_400_000

type Size = typeof SIZE
type Query = (sql: string) => Promise<Record<string, unknown>[]>

interface Place {
  name: string
  port: number
  adminPort: number
  secret: string
  userId: string
  size: Size
}

await bench('Pages for administrators, a million users and ten million records', async (run) => {
  pinTo('both')
  const size = run.quick ? SIZE_QUICK : SIZE
  const rows: Row[] = []
  for (const open of [onSqlite, onPostgres]) rows.push(...(await measurePlace(run, await open(run, size))))
  run.note(
    `${size.users.toLocaleString('en')} users, ${size.records.toLocaleString('en')} records. All share two cores.`,
  )
  run.note(`Each page is opened ${TIMES} times by HTTP, with a session: the figure is the slowest page's median.`)
  run.note(`Beside the pages: ${LOGINS_PER_S} logins a second; the baseline is the time without pages.`)
  return rows
})

async function onSqlite(run: Run, size: Size): Promise<Place> {
  const folder = await run.newFolder()
  await (await startService({ folder, cores: 'both' })).stop()
  const file = join(folder, DATABASE)
  addPeopleToSqlite(file, size.users)
  const connection = new DatabaseSync(file)
  connection.exec('PRAGMA cache_size = -1000000; PRAGMA synchronous = OFF')
  const query: Query = (sql) => Promise.resolve(connection.prepare(sql).all())
  const given = await fill(
    query,
    size,
    (from, to) => `WITH RECURSIVE numbers (n) AS
    (SELECT ${from} UNION ALL SELECT n + 1 FROM numbers WHERE n < ${to}) ${recordsOf(size, sqliteId, 'numbers')}`,
  )
  connection.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  connection.close()
  return begin(run, { folder, name: 'SQLite', env: {}, size, ...given })
}

async function onPostgres(run: Run, size: Size): Promise<Place> {
  const postgres = run.use(await startPostgres({ settings: { fsync: 'on', shared_buffers: '512MB' } }))
  const url = await postgres.createDatabase()
  const folder = await run.newFolder()
  const env = { SVC_DATABASE_URL: url, SVC_SECRET: randomBytes(32).toString('base64') }
  await (await startService({ folder, cores: 'both', env })).stop()
  await addPeopleToPostgres(url, size.users)
  await postgres.query(url, 'CREATE EXTENSION pg_trgm')
  const query: Query = (sql) => postgres.query(url, sql)
  const given = await fill(query, size, (from, to) =>
    recordsOf(size, postgresId, `generate_series(${from}::bigint, ${to}::bigint) AS numbers (n)`),
  )
  await query('VACUUM ANALYZE audit_events')
  return begin(run, { folder, name: 'PostgreSQL', env, size, ...given })
}

/** What happens to users, and one thing in a thousand that an operator does. */
function recordsOf({ users, records }: Size, id: string, numbers: string): string {
  const atMs = `(${BEGAN_MS} + n * ${Math.floor((390 * 86_400_000) / records)})`
  const types = `CASE n % 10 WHEN 0 THEN 'login.failed' WHEN 1 THEN 'session.ended' WHEN 2 THEN 'password.changed' ELSE 'login.succeeded' END`
  return `INSERT INTO audit_events (id, at, type, user_id, actor, address, user_agent, request_id, details, count)
    SELECT ${id.replaceAll('at_ms', atMs)}, ${atMs}, CASE WHEN n % 1000 = 7 THEN 'user.disabled' ELSE ${types} END, users.id,
      CASE WHEN n % 1000 = 7 THEN 'admin:bench' ELSE 'user' END, '198.51.' || (n % 250) || '.' || (n / 250 % 250),
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0', users.id, '{"method":"password"}', 1
    FROM ${numbers} JOIN users ON users.position = 1 + (n * 7919) % ${users}`
}

async function fill(query: Query, { users, records }: Size, insert: (from: number, to: number) => string) {
  for (let from = 1; from <= records; from += AT_ONCE) await query(insert(from, Math.min(records, from + AT_ONCE - 1)))
  const secret = randomBytes(32).toString('base64url')
  const nowMs = Date.now()
  await query(`INSERT INTO administrators (id, name, email, role, user_handle, created_at)
    VALUES ('bench', 'bench', 'bench@example.com', 'change', 'bench', ${nowMs})`)
  await query(`INSERT INTO administrator_sessions (id, administrator_id, secret_hash, created_at, seen_at, proved_at)
    VALUES ('bench', 'bench', '${hash('sha256', secret, 'base64url')}', ${nowMs}, ${nowMs}, ${nowMs})`)
  const [user] = await query(`SELECT id FROM users WHERE position = ${Math.floor(users / 2)}`)
  return { secret, userId: String(user?.id) }
}

type Begun = Omit<Place, 'port' | 'adminPort'> & { folder: string; env: Record<string, string> }

async function begin(run: Run, { folder, env, ...place }: Begun): Promise<Place> {
  const adminPort = await freePort()
  const own = { ...env, SVC_ADMIN_URL: 'https://admin.example.com', SVC_ADMIN_PORT: String(adminPort) }
  const flags = [...NODE_FLAGS, SVC, 'database', 'index']
  const all = { PATH: process.env.PATH, ...serviceEnvironment(0), ...env }
  await promisify(execFile)(process.execPath, flags, { cwd: folder, env: all })
  const { port } = run.use(await startService({ folder, cores: 'both', env: own }))
  return { ...place, port, adminPort }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  return typeof address === 'object' && address ? address.port : 0
}

function pagesOf({ userId, size }: Place): string[] {
  const filters = ['', '?show=disabled', '?show=unverified', '?show=never', '?role=editor', '?created=2026-01-01']
  const person = personAt(Math.floor(size.users / 2))
  const events = [
    '',
    'type=user.disabled',
    'type=login.succeeded',
    `user=${person.email}`,
    'actor=admin:bench',
    'actor=admin:nobody',
  ]
  const more = ['address=198.51.7.9', 'since=2026-06-01T00:00', `type=password.changed&since=2026-06-01T00:00`]
  return [
    ...filters.map((filter) => `/${filter}`),
    ...[...events, ...more].map((filter) => `/events?${filter}`),
    ...[userId, `${userId}/disable`].map((path) => `/users/${path}`),
    '/deliveries',
    '/deliveries?kind=messages&state=failed',
    '/system',
    `/?q=${person.email}`,
  ]
}

/** Of many users, of few and of nobody. */
function searchesOf({ size }: Place): string[] {
  const [one, other] = [personAt(Math.floor(size.users / 2)), personAt(Math.floor(size.users * 0.99))]
  return ['ada', 'com', '@gm', 'sch', 'zqx', 'ng@', one.name, other.username, one.email.slice(0, -1), `${one.email}x`]
}

async function openMs({ adminPort, secret }: Place, path: string): Promise<number> {
  const headers = `Host: admin.example.com\r\nCookie: __Host-svc_admin=${secret}\r\nSec-Fetch-Site: same-origin`
  const begunMs = performance.now()
  const { status } = await sendRequest(adminPort, `GET ${path} HTTP/1.1\r\n${headers}\r\n\r\n`)
  if (status !== 200 && status !== 303) throw new Error(`${path}: ${status}`)
  return performance.now() - begunMs
}

async function slowest(place: Place, paths: readonly string[]): Promise<{ ms: number; path: string }> {
  let worst = { ms: 0, path: '' }
  for (const path of paths) {
    const times: number[] = []
    for (let time = 0; time < TIMES; time += 1) times.push(await openMs(place, path))
    const { median } = spread(times)
    if (median > worst.ms) worst = { ms: median, path }
  }
  return worst
}

async function measurePlace(run: Run, place: Place): Promise<Row[]> {
  const { port, name } = place
  const users = await signUpUsers(port, 2, `admin-${name}`)
  const csrfCookie = await fetchCsrfCookie(port)
  const clients = users.map(({ email }) => loginClient(email, csrfCookie))
  const logIn = (durationMs: number) => pace({ port, clients, ratePerS: LOGINS_PER_S, durationMs })
  await logIn(run.duration(2000))
  const before = await logIn(run.duration(15_000))
  const beside = logIn(run.duration(30_000))
  const pages = await slowest(place, pagesOf(place))
  const searches = await slowest(
    place,
    searchesOf(place).map((text) => `/?q=${encodeURIComponent(text)}`),
  )
  const during = await beside
  run.note(`${name}: the slowest page was ${pages.path}, the slowest search ${decodeURIComponent(searches.path)}.`)
  return [
    limitRow(`${name}: a page`, { unit: 'ms', svc: pages.ms, goal: { atMost: 50 } }),
    limitRow(`${name}: search`, { unit: 'ms', svc: searches.ms, goal: { atMost: 100 } }),
    {
      what: `${name}: p99 of login beside them`,
      unit: 'ms',
      baseline: percentile(before, 0.99),
      svc: percentile(during, 0.99),
    },
  ]
}
