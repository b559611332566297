// Runs on SQLite.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { currentUser, logIn, newAgent, newPerson, signedUp } from '../../support/client/accounts.ts'
import { assertJsonError, assertPage, assertSignedIn } from '../../support/client/assertions.ts'
import type { Answer } from '../../support/client/user-agent.ts'
import { turnedProcessClock } from '../../support/clock/turned-process-clock.ts'
import { startService } from '../../support/service/service.ts'
import { startServiceProcess } from '../../support/service/service-process.ts'

/** Repeats a request until the response is 429, and returns it with the number of attempts. Fails after `most`. */
const untilLimited = async (ask: () => Promise<Answer>, most: number): Promise<{ answer: Answer; tries: number }> => {
  for (let tries = 1; tries <= most; tries++) {
    const answer = await ask()
    assert.ok(answer.status < 500, answer.text)
    if (answer.status === 429) return { answer, tries }
  }
  throw new Error(`no 429 within ${most} tries`)
}

const assertRetryAfter = (answer: Answer) => assert.match(answer.headers['retry-after'] ?? '', /^[1-9]\d*$/)

describe('SVC_RATE_LIMIT=on, the default', { concurrency: 2 }, () => {
  test('guessing the password of one account ends in 429 with Retry-After, as a page', async (t) => {
    const service = await startService({ t, env: { SVC_RATE_LIMIT: undefined } })
    const { person, agent } = await signedUp(service)
    const guess = () => logIn(newAgent(service), { ...person, password: 'wrong password' })
    const { answer } = await untilLimited(guess, 150)
    assertPage(answer, 429)
    assertRetryAfter(answer)
    await assertSignedIn(agent)
  })

  test('one address that tries many accounts ends in 429, and other addresses still work', async (t) => {
    const service = await startService({ t, env: { SVC_RATE_LIMIT: 'on' } })
    const from = (address: string) => () =>
      newAgent(service).post('/auth/login', newPerson(), { 'x-forwarded-for': address })
    assertRetryAfter((await untilLimited(from('203.0.113.1'), 400)).answer)
    assert.equal((await from('203.0.113.2')()).status, 401)
  })

  test('an X-Forwarded-For from an address that is not trusted is no way around it', async (t) => {
    const service = await startService({ t, env: { SVC_RATE_LIMIT: 'on', SVC_TRUST_PROXY: '192.0.2.0/24' } })
    const person = newPerson()
    let address = 0
    const guess = () => {
      address += 1
      const headers = { 'x-forwarded-for': `203.0.113.${address % 250}`, 'x-real-ip': `203.0.113.${address % 250}` }
      return newAgent(service).post('/auth/login', person, headers)
    }
    assertRetryAfter((await untilLimited(guess, 400)).answer)
  })

  test('signing up again and again ends in 429', async (t) => {
    const service = await startService({ t, env: { SVC_RATE_LIMIT: 'on' } })
    const from = { 'x-forwarded-for': '203.0.113.1' }
    const { answer, tries } = await untilLimited(() => newAgent(service).post('/auth/signup', newPerson(), from), 400)
    assert.equal(tries, 31)
    assertPage(answer, 429)
    assertRetryAfter(answer)
  })

  test('a user has 5 attempts in an hour to change the username, taken names included; an invalid name does not count', async (t) => {
    const { env, turnTo } = turnedProcessClock(t)
    const service = await startServiceProcess({ t, env: { ...env, SVC_RATE_LIMIT: 'on' } })
    const { agent } = await signedUp(service)
    const other = await signedUp(service)
    const change = (username: string, by = agent) => by.post('/auth/account/username', { username })
    for (let tries = 0; tries < 8; tries++) assertPage(await change('a bad name'), 422)
    for (let tries = 0; tries < 3; tries++) assertPage(await change(other.person.username), 409)
    for (let tries = 0; tries < 2; tries++) assert.equal((await change(newPerson().username)).status, 303)
    const { username } = await currentUser(agent)
    for (const name of [other.person.username, newPerson().username]) {
      const limited = await change(name)
      assertPage(limited, 429)
      assertRetryAfter(limited)
      assert.ok(limited.text.includes(name), 'the page keeps what was typed')
    }
    assert.equal((await currentUser(agent)).username, username)
    assert.equal((await change(newPerson().username, other.agent)).status, 303)
    await turnTo(61 * 60_000)
    assert.equal((await agent.refresh()).status, 200)
    assert.equal((await change(newPerson().username)).status, 303)
  })

  test('a user changes the name of the person 10 times in an hour; what is refused does not count', async (t) => {
    const service = await startService({ t, env: { SVC_RATE_LIMIT: 'on', SVC_NAMES: 'optional' } })
    const { agent } = await signedUp(service)
    const change = (name: string) => agent.post('/auth/account/name', { name })
    for (let tries = 0; tries < 12; tries++) assertPage(await change('x'.repeat(101)), 422)
    const answers = await Promise.all(Array.from({ length: 20 }, (_, round) => change(`Ada ${round}`)))
    assert.equal(answers.filter(({ status }) => status === 303).length, 10)
    const limited = await change('Grace')
    assertPage(limited, 429)
    assertRetryAfter(limited)
    assert.match(limited.text, /value="Grace"/, 'the page keeps what was typed')
    assert.equal((await agent.post('/auth/account/username', { username: newPerson().username })).status, 303)
  })

  test('of 20 changes of a username at once, 5 are made', async (t) => {
    const service = await startService({ t, env: { SVC_RATE_LIMIT: 'on' } })
    const { agent } = await signedUp(service)
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => agent.post('/auth/account/username', { username: newPerson().username })),
    )
    assert.equal(answers.filter(({ status }) => status === 303).length, 5)
    assert.equal(answers.filter(({ status }) => status === 429).length, 15)
  })

  test('guessing the password of an account does not end the existing session of its owner', async (t) => {
    const service = await startService({ t, env: { SVC_RATE_LIMIT: 'on' } })
    const { person, agent } = await signedUp(service)
    await untilLimited(() => logIn(newAgent(service), { ...person, password: 'wrong password' }), 150)
    assert.equal((await agent.refresh()).status, 200)
    await assertSignedIn(agent)
  })

  test('a 429 of the JSON API is rate_limited, and clears no cookie', async (t) => {
    const service = await startService({ t, env: { SVC_RATE_LIMIT: 'on' } })
    const { agent } = await signedUp(service)
    for (let tries = 0; tries < 400; tries++) {
      const answer = await agent.refresh()
      if (answer.status === 200) continue
      assertJsonError(answer, 429, 'rate_limited')
      assertRetryAfter(answer)
      return assert.deepEqual(answer.cleared, [])
    }
    // A refresh with a valid token is never limited, so there is no such response.
    await assertSignedIn(agent)
  })
})

test('SVC_RATE_LIMIT=off: no limits', async (t) => {
  const service = await startService({ t, env: { SVC_RATE_LIMIT: 'off' } })
  const { person } = await signedUp(service)
  for (let tries = 0; tries < 60; tries++) {
    const answers = await Promise.all(
      [1, 2, 3].map(() => logIn(newAgent(service), { ...person, password: 'wrong password' })),
    )
    for (const { status } of answers) assert.equal(status, 401)
  }
})
