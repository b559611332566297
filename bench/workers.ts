// GET /user, refreshes and logins with two workers against one process, on SQLite and on PostgreSQL; both cores for
// all.
import { randomBytes } from 'node:crypto'
import { startPostgres } from '../test/support/postgres/postgres.ts'
import { bench, type Run } from './support/bench.ts'
import { pinTo } from './support/cores.ts'
import { type Row, ratioRow } from './support/report.ts'
import { createTarget, measureInTurn, rates } from './support/rounds.ts'
import { startService } from './support/servers.ts'
import { fetchCsrfCookie, loginClient, refreshClient, signUpUsers, userClient } from './support/users.ts'

const WORKERS = 2
const CLIENTS = 64
const LOGINS = 8

await bench(`${WORKERS} workers against one process`, async (run) => {
  pinTo('both')
  const postgres = run.use(await startPostgres({ settings: { fsync: 'on' } }))
  const onPostgres = async () => ({
    SVC_DATABASE_URL: await postgres.createDatabase(),
    SVC_SECRET: randomBytes(32).toString('base64'),
  })
  run.note(`${CLIENTS} connections with one session each, and ${LOGINS} for logins; all processes share both cores.`)
  return [...(await compare(run, 'SQLite', async () => ({}))), ...(await compare(run, 'PostgreSQL', onPostgres))]
})

async function compare(run: Run, place: string, database: () => Promise<Record<string, string>>): Promise<Row[]> {
  const one = await start(run, 1, await database())
  const several = await start(run, WORKERS, await database())
  const durationMs = run.duration(2000)
  const rows: Row[] = []
  for (const [index, what] of ['GET /user', 'refresh', 'login'].entries()) {
    const [few, many] = [one.targets[index], several.targets[index]]
    if (!few || !many) continue
    await measureInTurn(run, durationMs, [few, many])
    const goal = what === 'GET /user' ? { goal: { atLeast: 1.3 } } : {}
    rows.push(ratioRow(`${what}, ${place}`, { unit: '/s', svc: rates(many), baseline: rates(few), ...goal }))
  }
  await Promise.all([one.stop(), several.stop()])
  return rows
}

async function start(run: Run, workers: number, database: Record<string, string>) {
  const env = { ...database, SVC_WORKERS: String(workers) }
  const service = run.use(await startService({ folder: await run.newFolder(), cores: 'both', env }))
  const readers = await signUpUsers(service.port, CLIENTS, 'reader')
  const refreshers = await signUpUsers(service.port, CLIENTS, 'refresher')
  const csrfCookie = await fetchCsrfCookie(service.port)
  const logins = readers.slice(0, LOGINS).map(({ email }) => loginClient(email, csrfCookie))
  return {
    targets: [readers.map(userClient), refreshers.map(refreshClient), logins].map((clients) =>
      createTarget(service, clients),
    ),
    stop: () => service.stop(),
  }
}
