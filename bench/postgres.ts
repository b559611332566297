// GET /auth/api/v1/user and refresh on PostgreSQL, against one prepared query of the driver behind the same framework.
import { randomBytes } from 'node:crypto'
import { startPostgres } from '../test/support/postgres/postgres.ts'
import { bench } from './support/bench.ts'
import { pinTo } from './support/cores.ts'
import { ratioRow } from './support/report.ts'
import { createTarget, measureInTurn, rates } from './support/rounds.ts'
import { startPostgresFastify, startService } from './support/servers.ts'
import { refreshClient, signUpUsers, userClient } from './support/users.ts'

const CLIENTS = 64

await bench('On PostgreSQL', async (run) => {
  // The database server inherits the cores of this process.
  pinTo('second')
  const postgres = run.use(await startPostgres({ settings: { fsync: 'on' } }))
  const url = await postgres.createDatabase()
  const env = { SVC_DATABASE_URL: url, SVC_SECRET: randomBytes(32).toString('base64') }
  const service = run.use(await startService({ folder: await run.newFolder(), cores: 'first', env }))
  const users = await signUpUsers(service.port, CLIENTS)
  const sessions = await postgres.query<{ id: string }>(url, 'SELECT id FROM sessions')
  const ids = sessions.map(({ id }) => id)
  const driver = run.use(await startPostgresFastify({ url, size: 10, ids, cores: 'first' }))

  const bare = createTarget(driver, users.map(userClient))
  const svc = createTarget(service, users.map(userClient))
  const refreshing = createTarget(service, users.map(refreshClient))
  await measureInTurn(run, run.duration(3000), [bare, svc, refreshing])
  run.note(`${CLIENTS} connections with one session each; Node on one core, PostgreSQL and the client on the other.`)
  return [
    ratioRow('GET /user against one bare query', {
      unit: '/s',
      svc: rates(svc),
      baseline: rates(bare),
      goal: { atLeast: 0.85 },
    }),
    ratioRow('refresh against one bare query', { unit: '/s', svc: rates(refreshing), baseline: rates(bare) }),
  ]
})
