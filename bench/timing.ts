// Whether response times tell which emails have an account: known and unknown ones in turn, at login, at the reset of a
// password, at signup while emails must be verified, and at sign-in by mail, for the request and a wrong code; and which
// usernames, at login. With all limits on.
import { execFileSync } from 'node:child_process'
import { hash as digest, randomBytes } from 'node:crypto'
import { hash } from '@node-rs/argon2'
import { type SmtpServer, startSmtpServer } from '../test/support/network/smtp-server.ts'
import { startPostgres } from '../test/support/postgres/postgres.ts'
import { createScope } from '../test/support/scope.ts'
import { eventually } from '../test/support/wait.ts'
import { bench, type Run } from './support/bench.ts'
import { connect } from './support/connection.ts'
import { pinTo } from './support/cores.ts'
import { limitRow, type Row } from './support/report.ts'
import { serviceEnvironment, startService, SVC } from './support/servers.ts'
import { separability } from './support/statistics.ts'
import { fetchCsrfCookie, PASSWORD, postForm } from './support/users.ts'

const EMAILS = 1000
const QUICK_EMAILS = 50
const WARM_UP = 40
/** Half of it above 0.5 and half below: 0.45 to 0.55. */
const MOST_DISTANCE = 0.05

const FORMS = {
  login: (email: string) => ['/auth/login', { email, password: 'some wrong password' }, 401],
  'login by username': (email: string) => [
    '/auth/login',
    { email: email.replace('@example.com', ''), password: 'some wrong password' },
    401,
  ],
  reset: (email: string) => ['/auth/password/forgot', { email }, 200],
  signup: (email: string) => ['/auth/signup', { email, password: PASSWORD }, 200],
  'request of a code': (email: string) => ['/auth/login/email', { email }, 200],
  'wrong code': (email: string) => ['/auth/login/email/code', { email, code: '00000000' }, 401],
} satisfies Record<string, (email: string) => [path: string, fields: Record<string, string>, status: number]>

type Form = keyof typeof FORMS

const emailsOf = (kind: 'known' | 'other', count: number): string[] =>
  Array.from({ length: count }, (_, at) => `${kind}-${String(at).padStart(4, '0')}@example.com`)

/** Accounts with verified emails and one password. */
const importUsers = async (env: Record<string, string>, cwd: string, count: number): Promise<void> => {
  const passwordHash = await hash(PASSWORD, { memoryCost: 19_456, timeCost: 2, parallelism: 1 })
  const users = emailsOf('known', count).map((email) =>
    JSON.stringify({
      email,
      username: email.replace('@example.com', ''),
      email_verified: true,
      password_hash: passwordHash,
    }),
  )
  const options = { env, cwd, input: users.join('\n'), stdio: 'pipe' } as const
  execFileSync(process.execPath, [SVC, 'users', 'import', '-', '--no-events'], options)
}

let networks = 0

/** Each request comes from a network of its own, so that no limit refuses it. */
const fromAnother = (request: string): string => {
  networks += 1
  const address = `10.${(networks >> 16) & 255}.${(networks >> 8) & 255}.${networks & 255}`
  return request.replace('\r\n', `\r\nX-Forwarded-For: ${address}\r\n`)
}

/** Sends requests one after another on one connection, and resolves to the milliseconds that each took. */
const time = (port: number, requests: readonly string[], status: number): Promise<number[]> =>
  new Promise((resolve, reject) => {
    const tookMs: number[] = []
    let sentAtMs = 0
    const send = (): void => {
      const request = requests[tookMs.length]
      if (request === undefined) {
        connection.close()
        return resolve(tookMs)
      }
      sentAtMs = performance.now()
      connection.send(request)
    }
    const connection = connect({
      port,
      onFailure: reject,
      onResponse: (response) => {
        if (response.status !== status) return reject(new Error(`${response.status}: ${response.body.toString()}`))
        tookMs.push(performance.now() - sentAtMs)
        send()
      },
    })
    send()
  })

/** How well the time tells known emails from unknown ones: 0.5 is not at all. */
const measure = async (port: number, form: Form, count: number): Promise<number> => {
  const csrfCookie = await fetchCsrfCookie(port)
  const toRequest = (email: string) => {
    const [path, fields] = FORMS[form](email)
    // Each has a browser of its own, in which a code is asked for and typed.
    const cookies = new Map([...csrfCookie, ['svc_link', digest('sha256', email, 'base64url')]])
    return fromAnother(postForm(path, cookies, fields))
  }
  const [known, other] = [emailsOf('known', count), emailsOf('other', count)]
  const [, , status] = FORMS[form]('')
  // The first of a pair would pay for what the one before it has left behind: chance decides.
  const pairs = known.map((email, at) => (Math.random() < 0.5 ? [email, other[at] ?? ''] : [other[at] ?? '', email]))
  const inTurn = pairs.flat()
  await time(
    port,
    emailsOf('other', WARM_UP).map((email) => toRequest(`warm-${email}`)),
    status,
  )
  const tookMs = await time(port, inTurn.map(toRequest), status)
  const of = (emails: string[]) => {
    const set = new Set(emails)
    return tookMs.filter((_, at) => set.has(inTurn[at] ?? ''))
  }
  return separability(of(known), of(other))
}

interface Measured {
  forms: readonly Form[]
  smtp: SmtpServer
  env: Record<string, string>
}

const measureOn = async (run: Run, database: 'SQLite' | 'PostgreSQL', { forms, smtp, env }: Measured) => {
  const count = run.quick ? QUICK_EMAILS : EMAILS
  const folder = await run.newFolder()
  const mail = { ...smtp.env, SVC_EMAIL_VERIFICATION: 'required', SVC_EMAIL_SIGN_IN: 'on' }
  const settings = { ...mail, SVC_RATE_LIMIT: 'on', SVC_LOGIN_WITH: 'both', ...env }
  await importUsers({ ...serviceEnvironment(0), ...settings, PATH: process.env.PATH ?? '' }, folder, count)
  const service = run.use(await startService({ folder, cores: 'both', env: settings }))
  const rows: Row[] = []
  const mailedBefore = smtp.mails.length
  for (const form of forms) {
    if (form === 'wrong code')
      await eventually('the codes to known emails', () => smtp.mails.length >= mailedBefore + count)
    const area = await run.once(() => measure(service.port, form, count))
    run.note(`${form} on ${database}: AUC ${area.toFixed(3)}.`)
    const svc = Math.abs(area - 0.5)
    rows.push(
      limitRow(`${form} on ${database}: distance of the AUC from 0.5`, {
        unit: '',
        svc,
        goal: { atMost: MOST_DISTANCE },
      }),
    )
  }
  return rows
}

await bench('Known and unknown emails in time', async (run) => {
  pinTo('both')
  const scope = createScope()
  run.use({ [Symbol.asyncDispose]: scope.end })
  const smtp = await startSmtpServer({ t: scope.t })
  const postgres = run.use(await startPostgres())
  const secret = randomBytes(32).toString('base64')
  const onPostgres = async () => ({ SVC_DATABASE_URL: await postgres.createDatabase(), SVC_SECRET: secret })
  const openSignup = { smtp, forms: ['login', 'login by username', 'reset', 'signup'] } as const
  // An unknown address gets no message then, and its browser has a code that nobody was sent.
  const closedSignup = { smtp, forms: ['request of a code', 'wrong code'] } as const
  const closed = { SVC_SIGNUP: 'off' }
  const count = run.quick ? QUICK_EMAILS : EMAILS
  run.note(`${count} known emails and ${count} unknown ones in turn, one request at a time, with all limits on.`)
  return [
    ...(await measureOn(run, 'SQLite', { ...openSignup, env: {} })),
    ...(await measureOn(run, 'SQLite', { ...closedSignup, env: closed })),
    ...(await measureOn(run, 'PostgreSQL', { ...openSignup, env: await onPostgres() })),
    ...(await measureOn(run, 'PostgreSQL', { ...closedSignup, env: { ...closed, ...(await onPostgres()) } })),
  ]
})
