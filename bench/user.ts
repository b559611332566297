// GET /auth/api/v1/user against bare node:http with the same response bytes.
import { bench } from './support/bench.ts'
import { pinTo } from './support/cores.ts'
import { ratioRow } from './support/report.ts'
import { createTarget, measureInTurn, rates } from './support/rounds.ts'
import { startConstant, startService } from './support/servers.ts'
import { getUser, signUpUsers, userClient } from './support/users.ts'

const CLIENTS = 64

await bench('GET /auth/api/v1/user', async (run) => {
  pinTo('second')
  const service = run.use(await startService({ folder: await run.newFolder(), cores: 'first' }))
  const users = await signUpUsers(service.port, CLIENTS)
  const request = getUser(users[0].cookies)
  const http = run.use(await startConstant({ like: service, request, cores: 'first' }))

  const clients = users.map(userClient)
  const bare = createTarget(http, clients)
  const svc = createTarget(service, clients)
  await measureInTurn(run, run.duration(2000), [bare, svc])
  run.note(`${CLIENTS} connections with one session each; server on one core, load client on the other.`)
  return [
    ratioRow('against bare node:http', { unit: '/s', svc: rates(svc), baseline: rates(bare), goal: { atLeast: 0.8 } }),
  ]
})
