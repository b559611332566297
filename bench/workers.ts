// GET /user and refreshes with two workers on one SQLite file against one process; both cores for everything.
import { bench } from './support/bench.ts'
import { moveTo } from './support/cores.ts'
import { ratioRow } from './support/report.ts'
import { contestant, inTurn, rates } from './support/rounds.ts'
import { startService } from './support/servers.ts'
import { refreshClient, signUpVisitors, userClient } from './support/visitors.ts'

const WORKERS = 2
const CLIENTS = 64

await bench(`${WORKERS} workers against one process`, async (run) => {
  moveTo('both')
  const start = async (workers: number) => {
    const env = { SVC_WORKERS: String(workers) }
    const service = run.use(await startService({ folder: await run.newFolder(), cores: 'both', env }))
    const readers = await signUpVisitors(service.port, CLIENTS, 'reader')
    const refreshers = await signUpVisitors(service.port, CLIENTS, 'refresher')
    return {
      reading: contestant(service, readers.map(userClient)),
      refreshing: contestant(service, refreshers.map(refreshClient)),
    }
  }
  const one = await start(1)
  const several = await start(WORKERS)
  const durationMs = run.duration(3000)
  await inTurn(run, durationMs, [one.reading, several.reading])
  await inTurn(run, durationMs, [one.refreshing, several.refreshing])
  run.note(`${CLIENTS} connections, each a session of its own; servers and load client share both cores.`)
  return [
    ratioRow('GET /auth/api/v1/user', {
      unit: '/s',
      svc: rates(several.reading),
      baseline: rates(one.reading),
      goal: { atLeast: 1.3 },
    }),
    ratioRow('POST /auth/api/v1/sessions/refresh', {
      unit: '/s',
      svc: rates(several.refreshing),
      baseline: rates(one.refreshing),
    }),
  ]
})
