// Runs on SQLite.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { hash } from '@node-rs/argon2'
import { logIn, logOut, newAgent, newPerson, signedUp } from '../../support/client/accounts.ts'
import { assertCanLogIn, assertErrorPage, assertPage, assertShowsRequestId } from '../../support/client/assertions.ts'
import type { Answer, UserAgent } from '../../support/client/user-agent.ts'
import { turnedClock } from '../../support/clock/turned-clock.ts'
import { openDatabaseFile } from '../../support/database/database-file.ts'
import { holdHashQueue } from '../../support/service/held-hash-queue.ts'
import { startMeteredService } from '../../support/service/metrics.ts'
import { type Service, startService } from '../../support/service/service.ts'

/** Agents that already have a CSRF token, so that all can post at the same time. */
const visitors = (service: Service, count: number): UserAgent[] =>
  Array.from({ length: count }, () => newAgent(service))

const statusesOf = (answers: Answer[]) => new Set(answers.map(({ status }) => status))

/** The page without the parts that differ each time: the CSRF token and the typed values. */
const withoutTyped = ({ text }: Answer, email: string) =>
  text.replaceAll(email, 'EMAIL').replaceAll(/name="csrf_token" value="[^"]*"/g, 'CSRF')

describe('passwords while requests compete', { concurrency: 2 }, () => {
  test('a request whose session is logged out while its password hash waits changes nothing', async (t) => {
    const service = await startMeteredService({ t, env: { SVC_HASHES_AT_ONCE: '1' } })
    const [one, other] = [await signedUp(service), await signedUp(service)]
    const queue = await holdHashQueue(service, t)
    const inOrder: string[] = []
    const told = (what: string) => (answer: Answer) => {
      inOrder.push(what)
      return answer
    }
    const change = { current_password: one.person.password, new_password: 'another pass phrase' }
    const changed = one.agent.copy().post('/auth/account/password', change).then(told('change'))
    const { password } = other.person
    const deleted = other.agent.copy().post('/auth/account/delete', { password }).then(told('deletion'))
    await queue.isFollowedBy(2)
    for (const { agent } of [one, other]) assert.equal(told('logout')(await logOut(agent)).status, 303)
    const answers = [await changed, await deleted]
    assert.deepEqual(inOrder.slice(0, 2), ['logout', 'logout'], 'the hashes took longer than the logouts')
    // Not the redirect for a visitor who is not signed in.
    for (const answer of answers) assertErrorPage(answer, 401)
    await queue.released()
    for (const { person } of [one, other]) await assertCanLogIn(service, person)
  })

  test('a 503 for a full queue does not count as a wrong password: 40 right logins at once are never 429', async (t) => {
    const env = { SVC_RATE_LIMIT: 'on', SVC_HASH_QUEUE: '0', SVC_HASHES_AT_ONCE: '1' }
    const service = await startService({ t, env, fullHashes: true })
    const { person } = await signedUp(service)
    const answers = await Promise.all(visitors(service, 40).map((visitor) => logIn(visitor, person)))
    assert.deepEqual(statusesOf(answers), new Set([303, 503]))
    for (let tries = 0; tries < 12; tries++) await assertCanLogIn(service, person)
  })

  test('a login form that is shown again with 429 or 503 contains the id of the request', async (t) => {
    const env = { SVC_RATE_LIMIT: 'on', SVC_HASH_QUEUE: '0', SVC_HASHES_AT_ONCE: '1' }
    const service = {
      ...(await startService({ t, env, fullHashes: true })),
      headers: { 'x-forwarded-for': '198.51.100.7' },
    }
    const answers = await Promise.all(visitors(service, 20).map((visitor) => logIn(visitor, newPerson())))
    const busy = answers.filter(({ status }) => status === 503)
    assert.ok(busy.length > 0, 'somebody found the queue full')
    const nobody = newPerson()
    const visitor = newAgent({ url: service.url, headers: { 'x-forwarded-for': '198.51.100.1' } })
    let limited = await logIn(visitor, nobody)
    for (let tries = 0; tries < 20 && limited.status === 401; tries++) limited = await logIn(visitor, nobody)
    assertPage(limited, 429)
    for (const answer of [...busy, limited]) {
      assert.match(answer.text, /<form method="post" action="\/auth\/login"/)
      assertShowsRequestId(answer)
    }
  })

  const foreign = {
    bcrypt: '$2b$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy',
    empty: '',
    'cut off': '$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHRzb21lc2FsdA',
    'not a hash': 'secret',
  }
  test('a stored hash that cannot be read is answered like an unknown email: 401, the same page', async (t) => {
    const service = await startService({ t, fullHashes: true })
    const database = openDatabaseFile(service, t)
    const { person, agent } = await signedUp(service)
    const [visitor] = visitors(service, 1)
    assert.ok(visitor)
    const nobody = newPerson()
    const unknown = withoutTyped(await logIn(visitor, nobody), nobody.email)
    for (const [what, stored] of Object.entries(foreign)) {
      assert.equal(database.run('UPDATE users SET password_hash = ? WHERE username = ?', stored, person.username), 1)
      const answer = await logIn(visitor, person)
      assertPage(answer, 401)
      assert.equal(withoutTyped(answer, person.email), unknown, what)
      const form = { current_password: person.password, new_password: 'another pass phrase' }
      assertPage(await agent.post('/auth/account/password', form), 401)
    }
  })

  test('several logins at once with an outdated hash all succeed, and the hash is upgraded', async (t) => {
    const service = await startService({ t, fullHashes: true })
    const database = openDatabaseFile(service, t)
    const { person } = await signedUp(service)
    const outdated = await hash(person.password, { memoryCost: 8192, timeCost: 1, parallelism: 1 })
    assert.equal(database.run('UPDATE users SET password_hash = ?', outdated), 1)
    const answers = await Promise.all(visitors(service, 8).map((visitor) => logIn(visitor, person)))
    assert.deepEqual(statusesOf(answers), new Set([303]))
    const [row] = database.rows('SELECT password_hash FROM users')
    assert.match(String(row?.password_hash), /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
    await assertCanLogIn(service, person)
  })
})

test('a password has no end: it logs in after ten years', async (t) => {
  const clock = turnedClock()
  const service = await startService({ t, clock })
  const { person } = await signedUp(service)
  await clock.turnTo(10 * 365 * 24 * 3_600_000)
  await assertCanLogIn(service, person)
})
