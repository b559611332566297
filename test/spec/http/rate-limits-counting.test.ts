// Runs on SQLite.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Person, newAgent, newPerson, signedUp } from '../../support/client/accounts.ts'
import { assertRedirect } from '../../support/client/assertions.ts'
import type { Answer, Form } from '../../support/client/user-agent.ts'
import { turnedProcessClock } from '../../support/clock/turned-process-clock.ts'
import { HASHES_THAT_WAIT } from '../../support/service/command.ts'
import { startServiceProcess } from '../../support/service/service-process.ts'

const MINUTE = 60_000
const WINDOW_SECONDS = 15 * 60

const clock = turnedProcessClock()
// Hashes take their time, so that logins are under way at once.
const NODE_OPTIONS = `${clock.env.NODE_OPTIONS} ${HASHES_THAT_WAIT}`
const service = await startServiceProcess({
  env: { ...clock.env, NODE_OPTIONS, SVC_RATE_LIMIT: 'on', SVC_HASHES_AT_ONCE: '1' },
})

/** An address in a separate network. */
const newAddress = (() => {
  let count = 0
  return () => `198.51.100.${++count}`
})()

const logInFrom = (address: string, { email, password }: Person): Promise<Answer> =>
  newAgent(service).post('/auth/login', { email, password }, { 'x-forwarded-for': address })

const guessFrom = (address: string, person: Person): Promise<Answer> =>
  logInFrom(address, { ...person, password: 'wrong password' })

const statuses = async (count: number, ask: () => Promise<Answer>): Promise<number[]> => {
  const found: number[] = []
  for (let tries = 0; tries < count; tries++) found.push((await ask()).status)
  return found
}

const all = (count: number, ask: () => Promise<Answer>): Promise<Answer[]> =>
  Promise.all(Array.from({ length: count }, ask))

const retryAfter = ({ status, headers }: Answer): number => {
  assert.equal(status, 429)
  return Number(headers['retry-after'])
}

const assertAccepted = (answer: Answer): void => assertRedirect(answer, '/')

describe('attempts are counted once and for the right reason', () => {
  test('refused attempts do not count: wrong passwords for one account do not lock out its network', async () => {
    const address = newAddress()
    const neighbour = await signedUp(service)
    const guess = () => guessFrom(address, newPerson())
    const target = newPerson()
    assert.deepEqual(await statuses(10, () => guessFrom(address, target)), Array(10).fill(401))
    assert.deepEqual(await statuses(100, () => guessFrom(address, target)), Array(100).fill(429))
    assertAccepted(await logInFrom(address, neighbour.person))
    assert.equal((await guess()).status, 401)
  })

  test('of many wrong passwords at once, only as many are checked as may fail', async () => {
    const address = newAddress()
    const { person } = await signedUp(service)
    const answers = await all(60, () => guessFrom(address, person))
    assert.equal(answers.filter(({ status }) => status === 401).length, 10)
    assert.equal(answers.filter(({ status }) => status === 429).length, 50)
    assert.ok(retryAfter(await logInFrom(address, person)) > WINDOW_SECONDS - 60)
  })

  test('before any failure, attempts above the limit at the same time may retry soon', async () => {
    const address = newAddress()
    const { person } = await signedUp(service)
    const answers = await all(28, () => logInFrom(address, person))
    const refused = answers.filter(({ status }) => status !== 303)
    assert.ok(refused.length > 0, 'some come while ten others are under way')
    for (const answer of refused) assert.ok([1, 2].includes(retryAfter(answer)), answer.headers['retry-after'])
    assertAccepted(await logInFrom(address, person))
  })

  test('all spellings of an IPv6 address, and all addresses of a /64, are one network', async () => {
    const person = newPerson()
    const spellings = ['2001:0db8:5::1', '2001:DB8:5::0:1', '2001:db8:5:0:ffff::', '2001:db8:5::192.0.2.1']
    for (let tries = 0; tries < 10; tries++) {
      assert.equal((await guessFrom(spellings[tries % 4] ?? '', person)).status, 401)
    }
    for (const spelling of spellings) assert.equal((await guessFrom(spelling, person)).status, 429, spelling)
    assert.equal((await guessFrom('2001:db8:5:1::1', person)).status, 401)
  })

  test('an IPv4 address that is written as IPv6 is that IPv4 address', async () => {
    const person = newPerson()
    const spellings = ['203.0.113.9', '::ffff:203.0.113.9', '::FFFF:cb00:7109', '0:0:0:0:0:ffff:cb00:7109']
    for (let tries = 0; tries < 10; tries++) {
      assert.equal((await guessFrom(spellings[tries % 4] ?? '', person)).status, 401)
    }
    for (const spelling of spellings) assert.equal((await guessFrom(spelling, person)).status, 429, spelling)
    assert.equal((await guessFrom('::ffff:cb00:710a', person)).status, 401)
  })
})

describe('right passwords count too', () => {
  test('a user can log in 30 times in 15 minutes from a network; other users there and the user elsewhere still can', async () => {
    const address = newAddress()
    const { person } = await signedUp(service)
    const neighbour = await signedUp(service)
    for (let batch = 0; batch < 5; batch++) await all(5, () => logInFrom(address, person))
    const answers = await all(9, () => logInFrom(address, person))
    assert.equal(answers.filter(({ status }) => status === 303).length, 5)
    const seconds = retryAfter(await logInFrom(address, person))
    assert.ok(seconds > WINDOW_SECONDS - 60 && seconds <= WINDOW_SECONDS, `${seconds}`)
    assertAccepted(await logInFrom(address, neighbour.person))
    assertAccepted(await logInFrom(newAddress(), person))
    await clock.turnTo(16 * MINUTE)
    assertAccepted(await logInFrom(address, person))
  })

  test('an account at its limit looks like one that does not exist', async () => {
    const address = newAddress()
    const { person } = await signedUp(service)
    for (let batch = 0; batch < 6; batch++) await all(5, () => logInFrom(address, person))
    assert.equal((await logInFrom(address, person)).status, 429)
    const [known, unknown] = [person, newPerson()]
    const textOf = async (it: Person) => {
      const { status, text } = await guessFrom(address, it)
      assert.equal(status, 401)
      return text.replaceAll(it.email, 'EMAIL')
    }
    assert.equal(await textOf(known), await textOf(unknown))
  })

  test('above the limit right passwords count like wrong ones: in the end they are not checked', async () => {
    const address = newAddress()
    const { person } = await signedUp(service)
    for (let batch = 0; batch < 6; batch++) await all(5, () => logInFrom(address, person))
    assert.deepEqual(await statuses(12, () => logInFrom(address, person)), Array(12).fill(429))
    assert.equal((await guessFrom(address, person)).status, 429)
  })

  test('a user can send the password forms of the account page 30 times in 15 minutes, with any result', async () => {
    const { agent, person } = await signedUp(service)
    const forms: [path: string, form: Form, status: number][] = [
      ['/auth/account/confirm', { password: person.password }, 303],
      ['/auth/account/password', { current_password: person.password, new_password: 'short' }, 422],
      ['/auth/account/password', { current_password: person.password, new_password: person.password }, 303],
    ]
    for (let tries = 0; tries < 30; tries++) {
      const [path, form, status] = forms[tries % 3] ?? assert.fail('a form')
      assert.equal((await agent.post(path, form)).status, status, `${path} ${tries}`)
    }
    for (const [path, form] of forms) assert.ok(retryAfter(await agent.post(path, form)) > 60)
    const deleted = await agent.post('/auth/account/delete', { password: person.password })
    assert.ok(retryAfter(deleted) > 60)
    assertAccepted(await logInFrom(newAddress(), person))
  })
})

describe('a window', () => {
  test('begins with the first failure, and ends', async () => {
    const address = newAddress()
    const { person } = await signedUp(service)
    await clock.turnTo(20 * MINUTE)
    assertAccepted(await logInFrom(address, person))
    await clock.turnTo(34 * MINUTE)
    assert.deepEqual(await statuses(10, () => guessFrom(address, person)), Array(10).fill(401))
    await clock.turnTo(48 * MINUTE)
    assert.ok(retryAfter(await logInFrom(address, person)) <= 60)
    await clock.turnTo(50 * MINUTE)
    assertAccepted(await logInFrom(address, person))
  })

  test('begins again after the clock was set, forwards or back: nobody is kept out for longer than it lasts', async () => {
    const { person } = await signedUp(service)
    for (const setTo of [24 * 60 * MINUTE, -24 * 60 * MINUTE]) {
      const address = newAddress()
      clock.setWallClockTo(50 * MINUTE)
      assert.deepEqual(await statuses(11, () => guessFrom(address, person)), [...Array(10).fill(401), 429])
      clock.setWallClockTo(setTo)
      assert.deepEqual(await statuses(11, () => guessFrom(address, person)), [...Array(10).fill(401), 429])
    }
  })
})
