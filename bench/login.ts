// Login and signup against the machine's bare Argon2id rate, with the load client on the same two cores.
import { bench } from './support/bench.ts'
import { pinTo } from './support/cores.ts'
import { type Client, load } from './support/load.ts'
import { ratioRow } from './support/report.ts'
import { startHasher, startService } from './support/servers.ts'
import { fetchCsrfCookie, loginClient, signUpUsers, signupClient } from './support/users.ts'

const CLIENTS = 16

await bench('Login and signup', async (run) => {
  pinTo('both')
  const hasher = run.use(startHasher('both'))
  const { port } = run.use(await startService({ folder: await run.newFolder(), cores: 'both' }))
  const csrfCookie = await fetchCsrfCookie(port)
  const logins = (await signUpUsers(port, CLIENTS)).map(({ email }) => loginClient(email, csrfCookie))
  const signups = logins.map((_, at) => signupClient(`new-${at}`, csrfCookie))

  const durationMs = run.duration(3000)
  const measure = async (clients: Client[]): Promise<number> => (await load({ port, clients, durationMs })).ratePerS
  // V8 optimizes code that runs only a hundred times a second late: the warm-up covers both forms.
  await measure([...logins, ...signups])
  const bare: number[] = []
  const login: number[] = []
  const signup: number[] = []
  for (let round = 0; round < run.rounds; round++) {
    const [hashRate, loginRate, signupRate] = await run.round(async () => [
      await hasher.request<number>(durationMs),
      await measure(logins),
      await measure(signups),
    ])
    bare.push(hashRate)
    login.push(loginRate)
    signup.push(signupRate)
  }
  run.note(`Baseline: only Argon2id (19 MiB, 2 passes, 1 lane), two at a time. ${CLIENTS} clients.`)
  return [
    ratioRow('login against bare Argon2id', { unit: '/s', svc: login, baseline: bare, goal: { atLeast: 0.85 } }),
    ratioRow('signup against bare Argon2id', { unit: '/s', svc: signup, baseline: bare, goal: { atLeast: 0.8 } }),
  ]
})
