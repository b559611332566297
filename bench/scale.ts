// GET /user and refresh with a million users and sessions against a thousand, ten thousand of them active.
import { bench, type Run } from './support/bench.ts'
import type { Child } from './support/child.ts'
import { type Cores, pinTo } from './support/cores.ts'
import type { Client } from './support/load.ts'
import { limitRow, ratioRow } from './support/report.ts'
import { createTarget, measureInTurn, rates } from './support/rounds.ts'
import { seed, signInSeeded } from './support/seed.ts'
import { startService } from './support/servers.ts'
import { refreshClient, roundRobinClient, type SignedInUser, userClient } from './support/users.ts'

const FEW = 1000
const MANY = 1_000_000
const MANY_QUICK = 20_000
const ACTIVE = 10_000
const CONNECTIONS = 64

interface Population {
  service: Child
  users: SignedInUser[]
}

await bench('A thousand and a million users', async (run) => {
  pinTo('second')
  const few = await populate(run, FEW, 'first')
  const many = await populate(run, run.quick ? MANY_QUICK : MANY, 'first')

  const reads = [few, many].map(({ service, users }) => createTarget(service, share(users, userClient)))
  await measureInTurn(run, run.duration(2000), reads)
  const residentMb = [few, many].map(({ service }) => service.residentMb())
  const refreshes = [few, many].map(({ service, users }) => createTarget(service, share(users, refreshClient)))
  await measureInTurn(run, run.duration(2000), refreshes)

  run.note(`Baseline: ${FEW} users, all active. Of the million, ${ACTIVE} evenly spread users are active, in turn.`)
  run.note('Server on one core, load client on the other.')
  const [readsFew = [], readsMany = []] = reads.map(rates)
  const [refreshesFew = [], refreshesMany = []] = refreshes.map(rates)
  return [
    ratioRow('GET /user', { unit: '/s', svc: readsMany, baseline: readsFew, goal: { atLeast: 0.9 } }),
    ratioRow('refresh', { unit: '/s', svc: refreshesMany, baseline: refreshesFew, goal: { atLeast: 0.85 } }),
    limitRow('resident memory after reads', {
      unit: 'MB',
      svc: residentMb[1],
      baseline: residentMb[0],
      goal: { atMost: 130 },
    }),
  ]
})

/** Starts a service with `count` users and sessions, and signs its active users in. */
async function populate(run: Run, count: number, cores: Cores): Promise<Population> {
  const folder = await run.newFolder()
  // The first start creates the schema, the key and the secret.
  const first = await startService({ folder, cores })
  await first.stop()
  seed(folder, count)
  const service = run.use(await startService({ folder, cores }))
  return { service, users: await signInSeeded(service.port, folder, Math.min(ACTIVE, count)) }
}

/** Divides the users among the connections. */
function share(users: SignedInUser[], toClient: (user: SignedInUser) => Client): Client[] {
  const shares = Array.from({ length: CONNECTIONS }, (_, at) =>
    users.filter((_, n) => n % CONNECTIONS === at).map(toClient),
  )
  return shares.map(roundRobinClient)
}
