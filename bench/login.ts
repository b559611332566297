// Login and signup against the machine's bare Argon2id rate, with the load client on the same two cores.
import { bench } from './support/bench.ts'
import { moveTo } from './support/cores.ts'
import { type Client, load } from './support/load.ts'
import { ratioRow } from './support/report.ts'
import { startHasher, startService } from './support/servers.ts'
import { loginClient, signUpVisitors, signupClient, visit } from './support/visitors.ts'

const CLIENTS = 16

await bench('Login and signup', async (run) => {
  moveTo('both')
  const hasher = run.use(startHasher('both'))
  const { port } = run.use(await startService({ folder: await run.newFolder(), cores: 'both' }))
  const stranger = await visit(port)
  const logins = (await signUpVisitors(port, CLIENTS)).map(({ email }) => loginClient(email, stranger))
  const signups = logins.map((_, at) => signupClient(`new-${at}`, stranger))

  const durationMs = run.duration(4000)
  const measure = async (clients: Client[]): Promise<number> => (await load({ port, clients, durationMs })).ratePerS
  // V8 optimizes code that runs only a hundred times a second late: the warm-up covers both forms.
  await measure([...logins, ...signups])
  const bare: number[] = []
  const login: number[] = []
  const signup: number[] = []
  for (let round = 0; round < run.rounds; round++) {
    bare.push(await hasher.tell<number>(durationMs))
    login.push(await measure(logins))
    signup.push(await measure(signups))
  }
  run.note(`Baseline: only Argon2id (19 MiB, 2 passes, 1 lane), two at a time. ${CLIENTS} clients.`)
  return [
    ratioRow('login against bare Argon2id', { unit: '/s', svc: login, baseline: bare, goal: { atLeast: 0.85 } }),
    ratioRow('signup against bare Argon2id', { unit: '/s', svc: signup, baseline: bare, goal: { atLeast: 0.8 } }),
  ]
})
