// GET /auth/api/v1/user and refresh on PostgreSQL, against one prepared query of the driver behind bare `node:http`.
import { randomBytes } from 'node:crypto'
import { startPostgres } from '../test/support/postgres/postgres.ts'
import { bench } from './support/bench.ts'
import { pinTo } from './support/cores.ts'
import { ratioRow } from './support/report.ts'
import { createTarget, measureInTurn, rates } from './support/rounds.ts'
import { startPostgresHttp, startService } from './support/servers.ts'
import { constantClient, getUser, postRefresh, refreshClient, signUpUsers, userClient } from './support/users.ts'

const CLIENTS = 64

await bench('On PostgreSQL', async (run) => {
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

  const bareClients = (request: string) => Array.from({ length: CLIENTS }, () => constantClient(request))
  const reading = [createTarget(driver, bareClients(requests.user)), createTarget(service, users.map(userClient))]
  const writing = [createTarget(driver, bareClients(requests.refresh)), createTarget(service, users.map(refreshClient))]
  const measured = [...reading, ...writing]
  await measureInTurn(run, run.duration(3000), measured)
  const [bareSelect = [], user = [], bareUpdate = [], refresh = []] = measured.map(rates)
  run.note(`${CLIENTS} connections with one session each; Node on one core, PostgreSQL and the client on the other.`)
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
  ]
})
