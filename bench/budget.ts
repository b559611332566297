// Where the processor time of a request goes: `GET /user`, refresh and the login page, against bare node:http with the
// same response bytes. Linux only.
import { type Budget, type RequestBudget, toBudget, totalOf } from './budget/budget.ts'
import { CATEGORIES, type Category, type ProfiledFunction, sortByCategory } from './budget/categories.ts'
import { readThreadTimes } from './budget/thread-time.ts'
import { bench, type Run } from './support/bench.ts'
import type { Child } from './support/child.ts'
import { pinTo } from './support/cores.ts'
import { type Client, load } from './support/load.ts'
import { PROFILER, startConstant, startService } from './support/servers.ts'
import {
  constantClient,
  get,
  getUser,
  postRefresh,
  refreshClient,
  type SignedInUser,
  signUpUsers,
  userClient,
} from './support/users.ts'

const CLIENTS = 64
const ROUND_MS = 1000

await bench('Where the time goes', async (run) => {
  pinTo('second')
  const service = run.use(await startService({ folder: await run.newFolder(), cores: 'first', imports: [PROFILER] }))
  const [spare, ...users] = await signUpUsers(service.port, CLIENTS + 1)
  const budgets: RequestBudget[] = []
  for (const kind of kindsOf(spare, users)) budgets.push(await measureKind(run, service, kind))
  run.note('Microseconds of processor time for a request; in brackets, bare node:http with the same response.')
  run.note(`${CLIENTS} connections; server with all its threads on one core, load client on the other.`)
  return { rows: [], budgets, table: tableOf(budgets) }
})

interface Kind {
  what: string
  /** Answered as the bare server answers all requests. */
  sample: string
  clients: readonly Client[]
}

function kindsOf(spare: SignedInUser, users: SignedInUser[]): Kind[] {
  const page = get('/auth/login')
  return [
    { what: 'GET /user', sample: getUser(spare.cookies), clients: users.map(userClient) },
    { what: 'login page', sample: page, clients: users.map(() => constantClient(page)) },
    { what: 'refresh', sample: postRefresh(spare.cookies), clients: users.map(refreshClient) },
  ]
}

async function measureKind(run: Run, service: Child, { what, sample, clients }: Kind): Promise<RequestBudget> {
  await using http = await startConstant({ like: service, request: sample, cores: 'first', imports: [PROFILER] })
  const same = clients.map(() => constantClient(sample))
  const sides = [createSide(service, clients), createSide(http, same)] as const
  const durationMs = run.duration(ROUND_MS)
  for (const { server, clients } of sides) await load({ port: server.port, clients, durationMs: durationMs * 2 })
  for (let round = 0; round < run.rounds; round++) {
    const [ofService, ofBare] = await run.round(async () => [
      await measureSide(sides[0], durationMs),
      await measureSide(sides[1], durationMs),
    ])
    sides[0].rounds.push(ofService)
    sides[1].rounds.push(ofBare)
  }
  return { what, svc: medianOf(sides[0].rounds), bare: medianOf(sides[1].rounds) }
}

interface Side {
  server: Child
  clients: readonly Client[]
  rounds: Budget[]
}

function createSide(server: Child, clients: readonly Client[]): Side {
  return { server, clients, rounds: [] }
}

/** Processor time without the profiler, which costs time itself; then the profile. */
async function measureSide({ server, clients }: Side, durationMs: number): Promise<Budget> {
  const { port, pid } = server
  const before = readThreadTimes(pid)
  const { requests } = await load({ port, clients, durationMs })
  const threads = new Map([...readThreadTimes(pid)].map(([role, us]) => [role, us - (before.get(role) ?? 0)]))
  await server.request('start')
  await load({ port, clients, durationMs })
  const profile = sortByCategory(await server.request<ProfiledFunction[]>('stop'))
  return toBudget({ requests, threads, profile })
}

/** The round whose total is the median, so that its parts add up. */
function medianOf(rounds: readonly Budget[]): Budget {
  const sorted = rounds.toSorted((a, b) => totalOf(a) - totalOf(b))
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? {}
}

function cell(svc = 0, bare = 0): string {
  return svc + bare < 0.05 ? '' : `${svc.toFixed(1)} (${bare.toFixed(1)})`
}

function tableOf(budgets: readonly RequestBudget[]) {
  const line = (category: Category): string[] => [
    category,
    ...budgets.map(({ svc, bare }) => cell(svc[category], bare[category])),
  ]
  return {
    header: ['µs', ...budgets.map(({ what }) => what)],
    lines: [
      ...CATEGORIES.map(line).filter(([, ...cells]) => cells.some(Boolean)),
      ['all', ...budgets.map(({ svc, bare }) => cell(totalOf(svc), totalOf(bare)))],
    ],
  }
}
