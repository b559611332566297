// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { newPerson } from '../support/client/accounts.ts'
import { exchangeBytes } from '../support/fuzz/wire.ts'
import { startSmtpServer } from '../support/network/smtp-server.ts'
import { openOperator } from '../support/service/replicas.ts'
import { startService } from '../support/service/service.ts'

const smtp = await startSmtpServer()
const settings = { ...smtp.env, SVC_EMAIL_VERIFICATION: 'required', SVC_RATE_LIMIT: 'on', SVC_LOGIN_WITH: 'both' }
const service = await startService({ env: settings })
const operator = await openOperator(service)
const csrf = 'x'.repeat(43)

const FORMS = ['/auth/login', '/auth/password/forgot', '/auth/signup'] as const

/** How users write one address: svc takes all of them for the same. */
const SPELLINGS = {
  plain: (email: string) => email,
  upper: (email: string) => email.toUpperCase(),
  mixed: (email: string) => email.replace(/^./, (letter) => letter.toUpperCase()),
  spaced: (email: string) => `  ${email} `,
}

interface Asked {
  form: (typeof FORMS)[number]
  spelling: keyof typeof SPELLINGS
  password: string
  username: string | undefined
  returnTo: string
  headers: Record<string, string>
}

const asked: fc.Arbitrary<Asked> = fc.record({
  form: fc.constantFrom(...FORMS),
  spelling: fc.constantFrom('plain', 'upper', 'mixed', 'spaced'),
  password: fc.constantFrom('some good pass phrase', 'short', '', 'password1', 'x'.repeat(257), '\u0000'.repeat(20)),
  username: fc.constantFrom(undefined, '', 'free', 'no spaces'),
  returnTo: fc.constantFrom('/', '/', '/start?a=b', '//evil.example'),
  headers: fc.dictionary(
    fc.constantFrom('accept', 'accept-language', 'user-agent'),
    fc.constantFrom('*/*', 'text/html'),
  ),
})

let networks = 0

const newNetwork = (): string => `10.0.0.${networks++}`

const send = async (
  { form, spelling, password, username, returnTo, headers }: Asked,
  email: string,
  from = newNetwork(),
) => {
  const fields = new URLSearchParams({
    csrf_token: csrf,
    email: SPELLINGS[spelling](email),
    password,
    return_to: returnTo,
  })
  if (username !== undefined) fields.set('username', username === 'free' ? newPerson().username : username)
  const body = fields.toString()
  const all = {
    host: new URL(service.url).host,
    cookie: `svc_csrf=${csrf}`,
    'x-forwarded-for': from,
    connection: 'close',
    'content-type': 'application/x-www-form-urlencoded',
    'content-length': String(body.length),
    ...headers,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  const bytes = `POST ${form} HTTP/1.1\r\n${lines.join('')}\r\n${body}`
  return (await exchangeBytes(service.port, Buffer.from(bytes), { sizes: [], patienceMs: 20_000 })).toString('latin1')
}

/** Without what differs between any two responses: its length stays. */
const comparable = (response: string, email: string): string =>
  response
    .replaceAll(new RegExp(email, 'gi'), (found) => 'E'.repeat(found.length))
    .replaceAll(/p[0-9a-f]{12}(?=")/g, 'a username')
    .replaceAll(/[\w-]{43}/g, 'a token')
    .replaceAll(/\b[0-9a-f]{20}\b/g, 'an id')
    .replaceAll(/^Date: .*$/gim, 'Date')

/** A new account and its email, and an email of the same length that nobody has. */
const newEmails = async () => {
  const [known, unknown] = [newPerson(), newPerson()]
  await operator.users.create({ ...known, emailVerified: true })
  return [known.email, unknown.email] as const
}

/** The same of usernames, which every form but that of the login takes for no email. */
const newUsernames = async () => {
  const [known, unknown] = [newPerson(), newPerson()]
  await operator.users.create({ ...known, emailVerified: true })
  return [known.username, unknown.username] as const
}

const seed = 20_261_123

test(`login, reset and signup answer the same bytes for known and unknown emails (seed ${seed})`, async () => {
  await fc.assert(
    fc.asyncProperty(asked, async (one) => {
      const responses = []
      for (const email of await newEmails()) responses.push(comparable(await send(one, email), email))
      assert.match(responses[0] ?? '', /^HTTP\/1\.1 [24]\d\d /)
      assert.equal(responses[0], responses[1])
    }),
    { seed, numRuns: 60 },
  )
})

test(`login and reset answer the same bytes for known and unknown usernames (seed ${seed})`, async () => {
  await fc.assert(
    fc.asyncProperty(
      asked.filter(({ form }) => form !== '/auth/signup'),
      async (one) => {
        const responses = []
        for (const username of await newUsernames()) responses.push(comparable(await send(one, username), username))
        assert.match(responses[0] ?? '', /^HTTP\/1\.1 4\d\d /)
        assert.equal(responses[0], responses[1])
      },
    ),
    { seed, numRuns: 40 },
  )
})

/** More than any limit of these forms lets through. */
const TRIES = 32

const LIMITED = [
  ...FORMS.map((form) => ({ form, what: 'emails', newNames: newEmails })),
  { form: '/auth/login', what: 'usernames', newNames: newUsernames },
] as const

for (const { form, what, newNames } of LIMITED) {
  test(`${form} answers the same bytes for known and unknown ${what} when there were too many tries`, async () => {
    const one: Asked = {
      form,
      spelling: 'plain',
      password: 'some good pass phrase',
      username: undefined,
      returnTo: '/',
      headers: {},
    }
    const tries = []
    for (const email of await newNames()) {
      const network = newNetwork()
      const responses: string[] = []
      for (let count = 0; count < TRIES; count += 1) responses.push(comparable(await send(one, email, network), email))
      // The time until the next try goes on while the test runs, and the length with its words.
      tries.push(
        responses.map((response) =>
          response.replaceAll(/(?:Retry-After|Content-Length): \d+|\b\d+ (?:hours?|minutes?|seconds?)\b/gi, 'a while'),
        ),
      )
    }
    const last = tries[0]?.at(-1) ?? ''
    assert.equal(last.startsWith('HTTP/1.1 429 '), form !== '/auth/password/forgot', last)
    assert.deepEqual(tries[0], tries[1])
  })
}
