// GET /auth/api/v1/user and refresh on PostgreSQL, against one prepared query of the driver behind bare `node:http`.
import { randomBytes } from 'node:crypto'
import { startPostgres } from '../test/support/postgres/postgres.ts'
import { bench, type Run } from './support/bench.ts'
import type { Child } from './support/child.ts'
import { pinTo } from './support/cores.ts'
import type { Client } from './support/load.ts'
import { measureProcessorTime } from './support/processor-time.ts'
import { limitRow, ratioRow } from './support/report.ts'
import { createTarget, measureInTurn, rates } from './support/rounds.ts'
import { startPostgresHttp, startService } from './support/servers.ts'
import { spread } from './support/statistics.ts'
import { constantClient, getUser, postRefresh, refreshClient, signUpUsers, userClient } from './support/users.ts'

const CLIENTS = 64

await bench('On PostgreSQL', async (run) => {
  const { driver, service, users, requests, database } = await start(run)
  const bareClients = (request: string) => Array.from({ length: CLIENTS }, () => constantClient(request))
  const reading = [createTarget(driver, bareClients(requests.user)), createTarget(service, users.map(userClient))]
  const writing = [createTarget(driver, bareClients(requests.refresh)), createTarget(service, users.map(refreshClient))]
  const measured = [...reading, ...writing]
  await measureInTurn(run, run.duration(3000), measured)
  const [bareSelect = [], user = [], bareUpdate = [], refresh = []] = measured.map(rates)

  const [bareTime = [], time = []] = await measureOneAtATime(run, database, [
    { server: driver, client: constantClient(requests.user) },
    { server: service, client: userClient(users[0]) },
  ])
  run.note(`${CLIENTS} connections with one session each; Node on one core, PostgreSQL and the client on the other.`)
  run.note('Processor time is that of Node and of PostgreSQL together, with one connection.')
  return [
    ratioRow('GET /user against one bare SELECT', {
      unit: '/s',
      svc: user,
      baseline: bareSelect,
      goal: { atLeast: 1 },
    }),
    ratioRow('refresh against one bare UPDATE', {
      unit: '/s',
      svc: refresh,
      baseline: bareUpdate,
      goal: { atLeast: 0.6 },
    }),
    ratioRow('one GET /user at a time: processor time', {
      unit: 'µs',
      svc: time,
      baseline: bareTime,
      goal: { atMost: 1.15 },
    }),
    limitRow('the same, as a figure', { unit: 'µs', svc: spread(time).median, goal: { atMost: 450 } }),
  ]
})

async function start(run: Run) {
  // The database server inherits the cores of this process.
  pinTo('second')
  const postgres = run.use(await startPostgres({ settings: { fsync: 'on' } }))
  const url = await postgres.createDatabase()
  const env = { SVC_DATABASE_URL: url, SVC_SECRET: randomBytes(32).toString('base64') }
  const service = run.use(await startService({ folder: await run.newFolder(), cores: 'first', env }))
  const others = await signUpUsers(service.port, CLIENTS, 'bare')
  const sessions = await postgres.query<{ id: string }>(url, 'SELECT id FROM sessions ORDER BY created_at')
  const users = await signUpUsers(service.port, CLIENTS)
  const requests = { user: getUser(others[0].cookies), refresh: postRefresh(others[0].cookies) }
  const ids = sessions.map(({ id }) => id)
  const driver = run.use(await startPostgresHttp({ url, size: 10, ids, like: service, requests, cores: 'first' }))
  const database = postgres.pid()
  return { driver, service, users, requests, database }
}

/** For each server, the processor time of a request round by round, in microseconds. */
async function measureOneAtATime(run: Run, database: number, sides: { server: Child; client: Client }[]) {
  const measureEach = async (durationMs: number): Promise<number[]> => {
    const times: number[] = []
    for (const { server, client } of sides) {
      const { usedUs } = await measureProcessorTime({
        port: server.port,
        clients: [client],
        durationMs,
        pids: [server.pid, database],
      })
      times.push(usedUs.reduce((sum, each) => sum + each, 0))
    }
    return times
  }
  // Longer than the other warm-ups: with one request at a time, the compiler takes longer to see enough of them.
  await measureEach(run.duration(5000))
  const rounds: number[][] = []
  while (rounds.length < run.rounds) rounds.push(await run.round(() => measureEach(run.duration(1500))))
  return sides.map((_, side) => rounds.map((times) => times[side] ?? Number.NaN))
}
