// GET /user at an even rate while 100 clients log in, against bare node:http beside a process that computes two hashes
// at a time.
import { setTimeout as wait } from 'node:timers/promises'
import { bench } from './support/bench.ts'
import type { Child } from './support/child.ts'
import { pinTo } from './support/cores.ts'
import { type Client, load } from './support/load.ts'
import { pace } from './support/pace.ts'
import { limitRow, ratioRow } from './support/report.ts'
import { startConstant, startHasher, startService } from './support/servers.ts'
import { percentile, spread } from './support/statistics.ts'
import { fetchCsrfCookie, getUser, loginClient, signUpUsers, userClient } from './support/users.ts'

const STORM_CLIENTS = 100
const READERS = 16
const READS_PER_S = 200
const P99_MS = 5
/** The first logins of all clients arrive in one moment, which happens once. */
const LEAD_MS = 500

/** What one server did in a round: the latency of its reads, and the rate of logins or hashes beside them. */
interface Side {
  ratePerS: number
  p99Ms: number
}

await bench('GET /user during a storm of logins', async (run) => {
  pinTo('both')
  const hasher = run.use(startHasher('both'))
  const service = run.use(await startService({ folder: await run.newFolder(), cores: 'both' }))
  const users = await signUpUsers(service.port, STORM_CLIENTS)
  const csrfCookie = await fetchCsrfCookie(service.port)
  const storm = users.map(({ email }) => loginClient(email, csrfCookie))
  const readers = users.slice(0, READERS).map(userClient)
  const request = getUser(users[0].cookies)
  const http = run.use(await startConstant({ like: service, request, cores: 'both' }))

  const durationMs = run.duration(5000)
  const read = (server: Child, clients: Client[]): Promise<number[]> =>
    pace({ port: server.port, clients, ratePerS: READS_PER_S, durationMs })
  await load({ port: service.port, clients: storm, durationMs })
  const beside = async (server: Child, other: Promise<number>): Promise<Side> => {
    const reads = wait(LEAD_MS).then(() => read(server, readers))
    const [ratePerS, latenciesMs] = await Promise.all([other, reads])
    return { ratePerS, p99Ms: percentile(latenciesMs, 0.99) }
  }
  const logIn = async (): Promise<number> =>
    (await load({ port: service.port, clients: storm, durationMs: LEAD_MS + durationMs })).ratePerS
  const bare: Side[] = []
  const svc: Side[] = []
  for (let round = 0; round < run.rounds; round++) {
    const [besideHashes, besideLogins] = await run.round(async () => [
      await beside(http, hasher.request<number>(LEAD_MS + durationMs)),
      await beside(service, logIn()),
    ])
    bare.push(besideHashes)
    svc.push(besideLogins)
  }
  run.note(`The reads begin ${LEAD_MS / 1000} s after the logins.`)
  run.note(`${STORM_CLIENTS} clients log in without a pause; ${READS_PER_S} reads/s; all on the same two cores.`)
  return [
    limitRow('p99 of GET /user', {
      unit: 'ms',
      svc: spread(svc.map(({ p99Ms }) => p99Ms)).median,
      baseline: spread(bare.map(({ p99Ms }) => p99Ms)).median,
      goal: { atMost: P99_MS },
    }),
    ratioRow('logins during the run, against bare Argon2id', {
      unit: '/s',
      svc: svc.map(({ ratePerS }) => ratePerS),
      baseline: bare.map(({ ratePerS }) => ratePerS),
      goal: { atLeast: 0.85 },
    }),
  ]
})
