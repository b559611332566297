// Login and signup against the machine's bare Argon2id rate, with the load client on the same two cores.
import { bench, type Run } from './support/bench.ts'
import { codeLoginClient, seedUsersWithApps } from './support/codes.ts'
import { pinTo } from './support/cores.ts'
import { type Client, load } from './support/load.ts'
import { ratioRow } from './support/report.ts'
import { startHasher, startService } from './support/servers.ts'
import { fetchCsrfCookie, loginClient, loginFromAnywhere, signUpUsers, signupClient } from './support/users.ts'

const CLIENTS = 16
/** As many as can log in during all rounds, since each does so once. */
const USERS_WITH_APPS = 8000

/** What is measured on one service; `perRequest` is what one response counts for. */
interface Target {
  what: string
  goal?: { atLeast: number }
  port: number
  clients: Client[]
  perRequest?: number
}

await bench('Login and signup', async (run) => {
  pinTo('both')
  const hasher = run.use(startHasher('both'))
  const targets = [...(await startWithoutLimits(run)), await startWithLimits(run), await startWithCodes(run)]
  const durationMs = run.duration(3000)
  const measure = async ({ port, clients, perRequest = 1 }: Target): Promise<number> =>
    (await load({ port, clients, durationMs })).ratePerS * perRequest
  // V8 optimizes code that runs only a hundred times a second late: the warm-up covers all forms.
  for (const target of targets) await measure(target)
  const bare: number[] = []
  const rates = targets.map((): number[] => [])
  for (let round = 0; round < run.rounds; round++) {
    const [hashRate, ...all] = await run.round(async () => {
      const measured = [await hasher.request<number>(durationMs)]
      for (const target of targets) measured.push(await measure(target))
      return measured
    })
    bare.push(hashRate ?? Number.NaN)
    for (const [at, rate] of all.entries()) rates[at]?.push(rate)
  }
  run.note(`Baseline: only Argon2id (19 MiB, 2 passes, 1 lane), two at a time. ${CLIENTS} clients.`)
  run.note('With limits on, each login comes from another address.')
  return targets.map(({ what, goal }, at) =>
    ratioRow(`${what} against bare Argon2id`, {
      unit: '/s',
      svc: rates[at] ?? [],
      baseline: bare,
      ...(goal && { goal }),
    }),
  )
})

async function startWithoutLimits(run: Run): Promise<Target[]> {
  const { port } = run.use(await startService({ folder: await run.newFolder(), cores: 'both' }))
  const csrfCookie = await fetchCsrfCookie(port)
  const logins = (await signUpUsers(port, CLIENTS)).map(({ email }) => loginClient(email, csrfCookie))
  const signups = logins.map((_, at) => signupClient(`new-${at}`, csrfCookie))
  return [
    { what: 'login', port, clients: logins, goal: { atLeast: 0.85 } },
    { what: 'signup', port, clients: signups, goal: { atLeast: 0.8 } },
  ]
}

async function startWithLimits(run: Run): Promise<Target> {
  const { port } = run.use(
    await startService({ folder: await run.newFolder(), cores: 'both', env: { SVC_RATE_LIMIT: 'on' } }),
  )
  const csrfCookie = await fetchCsrfCookie(port)
  const users = await signUpUsers(port, CLIENTS)
  const clients = users.map(({ email }) => ({ expectStatus: 303, request: () => loginFromAnywhere(email, csrfCookie) }))
  return { what: 'login with limits on', port, clients }
}

async function startWithCodes(run: Run): Promise<Target> {
  const folder = await run.newFolder()
  const first = await startService({ folder, cores: 'both' })
  await signUpUsers(first.port, 1)
  await first.stop()
  const users = seedUsersWithApps(folder, run.quick ? 500 : USERS_WITH_APPS)
  const { port } = run.use(await startService({ folder, cores: 'both', env: { SVC_RATE_LIMIT: 'on' } }))
  const csrfCookie = await fetchCsrfCookie(port)
  const clients = Array.from({ length: CLIENTS }, () => codeLoginClient(users, csrfCookie))
  return { what: 'login with a code, limits on', port, clients, perRequest: 0.5 }
}
