// Processor time of a request in svc and in PostgreSQL: the figures of the capacity model in docs/scaling.md. Linux
// only.
import { randomBytes } from 'node:crypto'
import { startPostgres } from '../test/support/postgres/postgres.ts'
import { bench, type Run } from './support/bench.ts'
import type { Child } from './support/child.ts'
import { pinTo } from './support/cores.ts'
import { type Client, load } from './support/load.ts'
import { measureProcessorTime } from './support/processor-time.ts'
import type { Row } from './support/report.ts'
import { startService } from './support/servers.ts'
import { fetchCsrfCookie, loginClient, refreshClient, signUpUsers, userClient } from './support/users.ts'

const CLIENTS = 64

interface Setup {
  name: string
  service: Child
  /** Process ID of the database server's first process; undefined with SQLite. */
  database?: number
}

await bench('Processor time of a request', async (run) => {
  pinTo('second')
  const places = [await startOnSqlite(run), await startOnPostgres(run)]
  const rows: Row[] = []
  for (const place of places) rows.push(...(await measureSetup(run, place)))
  run.note('User and system time; svc on one core, PostgreSQL and the client on the other.')
  return rows
})

async function startOnSqlite(run: Run): Promise<Setup> {
  return { name: 'SQLite', service: run.use(await startService({ folder: await run.newFolder(), cores: 'first' })) }
}

async function startOnPostgres(run: Run): Promise<Setup> {
  const postgres = run.use(await startPostgres({ settings: { fsync: 'on' } }))
  const url = await postgres.createDatabase()
  const env = { SVC_DATABASE_URL: url, SVC_SECRET: randomBytes(32).toString('base64') }
  const service = run.use(await startService({ folder: await run.newFolder(), cores: 'first', env }))
  return { name: 'PostgreSQL', service, database: postgres.pid() }
}

async function measureSetup(run: Run, place: Setup): Promise<Row[]> {
  const { port } = place.service
  const users = await signUpUsers(port, CLIENTS)
  const csrfCookie = await fetchCsrfCookie(port)
  const kinds: [string, Client[]][] = [
    ['GET /user, one at a time', users.slice(0, 1).map(userClient)],
    [`GET /user, ${CLIENTS} at once`, users.map(userClient)],
    [`refresh, ${CLIENTS} at once`, users.map(refreshClient)],
    ['login, 4 at once', users.slice(0, 4).map(({ email }) => loginClient(email, csrfCookie))],
  ]
  const rows: Row[] = []
  for (const [what, clients] of kinds) rows.push(...(await measure(place, `${what}, ${place.name}`, clients, run)))
  return rows
}

async function measure({ service, database }: Setup, what: string, clients: Client[], run: Run): Promise<Row[]> {
  const { port, pid } = service
  const pids = database === undefined ? [pid] : [pid, database]
  await load({ port, clients, durationMs: run.duration(2000) })
  const measured = await run.round(() => measureProcessorTime({ port, clients, durationMs: run.duration(4000), pids }))
  const [svc = Number.NaN, server] = measured.usedUs
  return [
    { what: `${what}: svc`, unit: 'µs', svc },
    ...(server === undefined ? [] : [{ what: `${what}: PostgreSQL`, unit: 'µs', svc: server }]),
    { what: `${what}: rate`, unit: '/s', svc: measured.ratePerS },
  ]
}
