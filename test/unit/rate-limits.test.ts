// Runs once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRateLimits, type LimitName, type RateLimits } from '../../src/http/rate-limit.ts'
import { AppError } from '../../src/lib/errors.ts'

const MINUTE = 60_000

const create = () => {
  const state = { nowMs: 5, refusals: [] as LimitName[] }
  const limits = createRateLimits({
    clock: { elapsedMs: () => state.nowMs },
    enabled: true,
    onRefusal: (name) => state.refusals.push(name),
  })
  return { state, ...limits }
}

const wrongPassword = (): Promise<never> =>
  Promise.reject(new AppError('unauthorized', 'Wrong.', { reason: 'password_wrong' }))

const givenUp = (): Promise<never> => Promise.reject(new AppError('unavailable', 'Gone.', { reason: 'given_up' }))

const sessionEnded = (): Promise<never> => Promise.reject(new AppError('unauthorized', 'The session has ended.'))

/** The retry time of the error. */
const waitOf = async (attempt: Promise<unknown>): Promise<number> => {
  const error = await attempt.then(
    () => assert.fail('it is let in'),
    (thrown: unknown) => thrown,
  )
  assert.ok(error instanceof AppError && error.code === 'rate_limited', String(error))
  return error.retryAfterSeconds ?? assert.fail('it says when')
}

/** An attempt that is pending until the test ends it. */
const held = (limits: RateLimits, key: string) => {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const done = limits.attempt([['login', key]], () => promise)
  done.catch(() => {})
  return {
    succeed: async () => {
      resolve()
      await done
    },
    fail: async () => {
      reject(new AppError('unauthorized', 'Wrong.', { reason: 'password_wrong' }))
      await assert.rejects(done)
    },
  }
}

const failTimes = async (times: number, attempt: () => Promise<unknown>) => {
  for (let count = 0; count < times; count++) await assert.rejects(attempt(), { code: 'unauthorized' })
}

test('an attempt that one limit refuses takes no place in another, and gets the longest wait', async () => {
  const { attempt, state } = create()
  const guess = (account: string) => () =>
    attempt(
      [
        ['loginOfAddress', 'net'],
        ['login', account],
      ],
      wrongPassword,
    )
  await failTimes(10, guess('one'))
  assert.equal(await waitOf(guess('one')()), 15 * 60)
  for (let count = 0; count < 200; count++) await waitOf(guess('one')())
  for (let account = 2; account <= 10; account++) await failTimes(10, guess(`account ${account}`))
  state.nowMs += 14 * MINUTE
  assert.equal(await waitOf(guess('another')()), 60)
  assert.equal(state.refusals.at(0), 'login')
  assert.equal(state.refusals.at(-1), 'loginOfAddress')
})

test('a held place counts for others, and is free again when its attempt succeeds', async () => {
  const limits = create()
  const tries = Array.from({ length: 10 }, () => held(limits, 'one'))
  assert.equal(await waitOf(limits.attempt([['login', 'one']], wrongPassword)), 2)
  for (const one of tries) await one.succeed()
  await failTimes(10, () => limits.attempt([['login', 'one']], wrongPassword))
  assert.equal(await waitOf(limits.attempt([['login', 'one']], wrongPassword)), 15 * 60)
})

test('failures and pending attempts together never exceed the limit, in any order', async () => {
  const limits = create()
  await failTimes(4, () => limits.attempt([['login', 'one']], wrongPassword))
  const tries = Array.from({ length: 6 }, () => held(limits, 'one'))
  assert.equal(await waitOf(limits.attempt([['login', 'one']], wrongPassword)), 2)
  await tries[0]?.fail()
  assert.equal(await waitOf(limits.attempt([['login', 'one']], wrongPassword)), 2)
  await tries[1]?.succeed()
  const late = held(limits, 'one')
  for (const one of [late, ...tries.slice(2)]) await one.fail()
  assert.equal(await waitOf(limits.attempt([['login', 'one']], wrongPassword)), 15 * 60)
})

test('attempts that are pending when a window ends keep their places and count in the next', async () => {
  const limits = create()
  const tries = Array.from({ length: 4 }, () => held(limits, 'one'))
  await failTimes(6, () => limits.attempt([['login', 'one']], wrongPassword))
  limits.state.nowMs += 15 * MINUTE
  await failTimes(6, () => limits.attempt([['login', 'one']], wrongPassword))
  assert.equal(await waitOf(limits.attempt([['login', 'one']], wrongPassword)), 2)
  for (const one of tries) await one.fail()
  assert.equal(await waitOf(limits.attempt([['login', 'one']], wrongPassword)), 15 * 60)
})

test('a window begins with the first failure and lasts exactly as long as configured', async () => {
  const { attempt, state } = create()
  const guess = () => attempt([['login', 'one']], wrongPassword)
  await attempt([['login', 'one']], async () => {})
  state.nowMs += 10 * MINUTE
  await failTimes(10, guess)
  state.nowMs += 15 * MINUTE - 1
  assert.equal(await waitOf(guess()), 1)
  state.nowMs += 1
  await failTimes(10, guess)
})

test('an attempt that was never made does not count: the sender disconnected, or a part was unavailable', async () => {
  const { attempt } = create()
  const names: LimitName[] = ['login', 'loginOfAddress', 'signupOfAddress', 'passwordOfUser', 'usernameOfUser']
  for (const name of names) {
    for (let count = 0; count < 150; count++) {
      await assert.rejects(attempt([[name, 'one']], givenUp), { reason: 'given_up' })
    }
  }
})

test('a session that has ended does not count as a wrong password', async () => {
  const { attempt } = create()
  for (let count = 0; count < 20; count++) {
    await assert.rejects(attempt([['passwordOfUser', 'one']], sessionEnded), { code: 'unauthorized' })
  }
})

test('signups and usernames count when they succeed or reveal what is taken, and not for an invalid form', async () => {
  const { attempt } = create()
  for (const [name, tries] of [
    ['signupOfAddress', 30],
    ['usernameOfUser', 5],
  ] as const) {
    const refuse = (code: 'unprocessable' | 'conflict') => () =>
      attempt([[name, 'one']], () => Promise.reject(new AppError(code, 'No.')))
    for (let count = 0; count < 40; count++) await assert.rejects(refuse('unprocessable')(), { code: 'unprocessable' })
    for (let count = 1; count < tries; count++) await assert.rejects(refuse('conflict')(), { code: 'conflict' })
    await attempt([[name, 'one']], async () => {})
    assert.equal(await waitOf(attempt([[name, 'one']], async () => {})), 3600)
  }
})

test('a flood of other keys gives no pending attempt a second place', async () => {
  const limits = create()
  const tries = Array.from({ length: 10 }, () => held(limits, 'one'))
  for (let count = 0; count < 100_001; count++) limits.count('providerOfAddress', String(count))
  assert.equal(await waitOf(limits.attempt([['login', 'one']], wrongPassword)), 2)
  for (const one of tries) await one.fail()
  assert.equal(await waitOf(limits.attempt([['login', 'one']], wrongPassword)), 15 * 60)
})
