// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Person, newAgent, newPerson, signedUp } from '../../support/client/accounts.ts'
import { assertErrorPage, assertPage, assertRedirect } from '../../support/client/assertions.ts'
import { type Answer, type UserAgent, createUserAgent } from '../../support/client/user-agent.ts'
import { openDatabase } from '../../support/database/database.ts'
import { at, inTurn, startReplicas } from '../../support/service/replicas.ts'

const replicas = await startReplicas({
  env: {
    SVC_RATE_LIMIT: 'on',
    SVC_DATABASE_TIMEOUT: '10s',
    SVC_SUPPORT_URL: 'https://help.example/',
    SVC_APP_NAME: 'Tea',
  },
})
const [one, other] = replicas

let networks = 0
const newNetwork = (): string => `198.51.100.${++networks}`

/** The first replica at even rounds, the other at odd ones. */
const logInAt = (
  round: number,
  { email, password }: Person,
  from = newNetwork(),
  agent?: UserAgent,
): Promise<Answer> => {
  const [service] = inTurn(replicas, round)
  const visitor = agent ? at(service, agent) : newAgent(service)
  return visitor.post('/auth/login', { email, password }, { 'x-forwarded-for': from })
}

const guessAt = (round: number, person: Person, from?: string): Promise<Answer> =>
  logInAt(round, { ...person, password: 'wrong password' }, from)

const statusesOf = async (count: number, ask: (round: number) => Promise<Answer>): Promise<number[]> => {
  const answers = await Promise.all(Array.from({ length: count }, (_, round) => ask(round)))
  return answers.map(({ status }) => status).toSorted((a, b) => a - b)
}

/** Networks enough to use up all tries of an account, from two replicas at once. */
const useUp = (person: Person, tries = 100): Promise<number[]> =>
  statusesOf(tries, (round) => guessAt(round, person, `203.0.113.${round}`))

/** A user with a browser in which they have logged in. */
const newUser = async () => {
  const { person } = await signedUp(one)
  const browser = newAgent(one)
  assertRedirect(await logInAt(0, person, newNetwork(), browser), '/')
  return { person, browser }
}

/** A page without what is another each time. */
const plain = ({ text }: Answer, { email }: Person) =>
  text
    .replaceAll(email, 'EMAIL')
    .replaceAll(/(?:value="|<code>)[\w.-]{20,}/g, 'TOKEN')
    .replaceAll(/\d+ (?:minutes|hour)/g, 'N')

test('an account is guessed 100 times in an hour, whether or not it exists, and its user gets in by a known browser', async () => {
  const { person, browser } = await newUser()
  const nobody = newPerson()
  const expected = [...Array(100).fill(401), ...Array(30).fill(429)]
  assert.deepEqual(await useUp(person, 130), expected)
  assert.deepEqual(await useUp(nobody, 130), expected)
  const [known, unknown] = [await logInAt(1, person), await logInAt(1, nobody)]
  for (const answer of [known, unknown]) assertPage(answer, 429)
  assert.ok(Number(known.headers['retry-after']) > 3000)
  assert.equal(plain(known, person), plain(unknown, nobody))
  assert.match(known.text, /A browser you’ve logged in with before still works\./)
  assert.match(known.text, /<a href="https:\/\/help\.example\/">Contact support\.<\/a>/)
  assertRedirect(await logInAt(1, person, '203.0.113.1', browser), '/')
  assert.deepEqual(
    await statusesOf(30, (round) => logInAt(round, { ...person, password: 'wrong' }, newNetwork(), browser)),
    [...Array(20).fill(401), ...Array(10).fill(429)],
  )
  assertPage(await logInAt(0, person, newNetwork(), browser), 429)
})

test('every spelling of an email is one account', async () => {
  const { person } = await newUser()
  const [from, { email }] = [newNetwork(), person]
  const spellings = [email, email.toUpperCase(), ` ${email}`, `${email}  `, email.replace('p', 'P')]
  for (let round = 0; round < 10; round += 1) {
    const spelling = spellings[round % spellings.length] ?? email
    assert.equal((await guessAt(round, { ...person, email: spelling }, from)).status, 401)
  }
  for (const spelling of spellings) assertPage(await logInAt(0, { ...person, email: spelling }, from), 429)
})

test('svc users unlock opens an account at once, at every replica', async () => {
  const { person } = await newUser()
  await useUp(person)
  for (const round of [0, 1]) assertPage(await logInAt(round, person), 429)
  assert.equal((await one.cli(['users', 'unlock', person.email])).code, 0)
  for (const round of [0, 1]) assertRedirect(await logInAt(round, person), '/')
})

test('a link to a new password opens it too, and lets its user in', async () => {
  const { person } = await newUser()
  await useUp(person)
  const { stdout } = await one.cli(['users', 'reset-link', person.email])
  const token = /token=([\w-]+)/.exec(stdout)?.[1] ?? assert.fail(stdout)
  const password = `another ${person.password}`
  const agent = newAgent(other)
  assertRedirect(await agent.post('/auth/password/reset', { token, password }), '/')
  for (const round of [0, 1]) assertRedirect(await logInAt(round, { ...person, password }), '/')
})

test('signups and wrong API keys of a network are counted together', async () => {
  const headers = { 'x-forwarded-for': newNetwork() }
  const signUpAt = (round: number) => newAgent(inTurn(replicas, round)[0]).post('/auth/signup', newPerson(), headers)
  assert.deepEqual(await statusesOf(40, signUpAt), [...Array(30).fill(303), ...Array(10).fill(429)])
  const tryKeyAt = (round: number) =>
    createUserAgent(inTurn(replicas, round)[0]).get('/auth/api/v2/users', {
      ...headers,
      authorization: 'Bearer svc_sk_x',
    })
  assert.deepEqual(await statusesOf(110, tryKeyAt), [...Array(100).fill(401), ...Array(10).fill(429)])
})

test('while the database cannot count, nobody may guess: 503', async (t) => {
  const { person } = await newUser()
  const database = await openDatabase(one, t)
  const release = await database.lock()
  try {
    assertErrorPage(await guessAt(0, person), 503)
  } finally {
    await release()
  }
  assert.equal((await guessAt(0, person)).status, 401)
})
