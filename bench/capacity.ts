// Processor time of a request in svc and in PostgreSQL: the figures of the capacity model in docs/scaling.md. Linux
// only.
import { randomBytes } from 'node:crypto'
import { startPostgres } from '../test/support/postgres.ts'
import { bench, type Run } from './support/bench.ts'
import type { Child } from './support/child.ts'
import { moveTo } from './support/cores.ts'
import { familyCpuMs, parentOf } from './support/cpu-time.ts'
import { type Client, load } from './support/load.ts'
import type { Row } from './support/report.ts'
import { startService } from './support/servers.ts'
import { loginClient, refreshClient, signUpVisitors, userClient, visit } from './support/visitors.ts'

const CLIENTS = 64

interface Place {
  name: string
  service: Child
  /** Process ID of the database server's first process; undefined with SQLite. */
  database?: number
}

await bench('Processor time of a request', async (run) => {
  moveTo('second')
  const places = [await startOnSqlite(run), await startOnPostgres(run)]
  const rows: Row[] = []
  for (const place of places) rows.push(...(await measurePlace(run, place)))
  run.note('User and system time; svc on one core, PostgreSQL and the client on the other.')
  return rows
})

async function startOnSqlite(run: Run): Promise<Place> {
  return { name: 'SQLite', service: run.use(await startService({ folder: await run.newFolder(), cores: 'first' })) }
}

async function startOnPostgres(run: Run): Promise<Place> {
  const postgres = run.use(await startPostgres({ settings: { fsync: 'on' } }))
  const url = await postgres.createDatabase()
  const env = { SVC_DATABASE_URL: url, SVC_SECRET: randomBytes(32).toString('base64') }
  const service = run.use(await startService({ folder: await run.newFolder(), cores: 'first', env }))
  const backends = await postgres.query<{ pid: number }>(
    url,
    `SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend'`,
  )
  return { name: 'PostgreSQL', service, database: parentOf(backends[0]?.pid ?? 0) }
}

async function measurePlace(run: Run, place: Place): Promise<Row[]> {
  const { port } = place.service
  const visitors = await signUpVisitors(port, CLIENTS)
  const stranger = await visit(port)
  const kinds: [string, Client[]][] = [
    ['GET /user, one at a time', visitors.slice(0, 1).map(userClient)],
    [`GET /user, ${CLIENTS} at once`, visitors.map(userClient)],
    [`refresh, ${CLIENTS} at once`, visitors.map(refreshClient)],
    ['login, 4 at once', visitors.slice(0, 4).map(({ email }) => loginClient(email, stranger))],
  ]
  const rows: Row[] = []
  for (const [what, clients] of kinds) rows.push(...(await measure(place, `${what}, ${place.name}`, clients, run)))
  return rows
}

async function measure({ service, database }: Place, what: string, clients: Client[], run: Run): Promise<Row[]> {
  await load({ port: service.port, clients, durationMs: run.duration(1000) })
  const before = [familyCpuMs(service.pid), database ? familyCpuMs(database) : 0]
  const durationMs = run.duration(4000)
  const { ratePerS } = await load({ port: service.port, clients, durationMs })
  const count = (ratePerS * durationMs) / 1000
  const used = (index: number, pid: number): number => ((familyCpuMs(pid) - (before[index] ?? 0)) * 1000) / count
  return [
    { what: `${what}: svc`, unit: 'µs', svc: used(0, service.pid) },
    ...(database ? [{ what: `${what}: PostgreSQL`, unit: 'µs', svc: used(1, database) }] : []),
    { what: `${what}: rate`, unit: '/s', svc: ratePerS },
  ]
}
