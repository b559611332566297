// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createLog } from '../../src/lib/log.ts'
import { systemClock } from '../../src/lib/time.ts'
import { createCleanup } from '../../src/storage/cleanup.ts'
import { endLease, takeLease } from '../../src/storage/leases.ts'
import { migrate } from '../../src/storage/migrations.ts'
import { turnedClock } from '../support/clock/turned-clock.ts'
import { eventually } from '../support/wait.ts'
import { emptyDatabase, testOnPostgres } from './databases.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
const YEAR = 365 * DAY

const clock = turnedClock()
const { open, url } = await emptyDatabase()
await clock.turnDatabase(url)
const db = await open()
await migrate(db, systemClock)
const other = await open()

interface Options {
  forMs?: number
  longestMs?: number
  aheadMs?: number
  queries?: typeof db
}

const take = (
  name: string,
  holder: string,
  { forMs = 10 * MINUTE, longestMs = 10 * MINUTE, aheadMs = 0, queries = db }: Options = {},
) => takeLease(queries, { name, holder, forMs, longestMs, nowMs: clock.now() + aheadMs })

/** Of 40 requests at once, over two connections. */
const howManyGet = async (name: string): Promise<number> => {
  const takers = Array.from({ length: 40 }, (_, index) =>
    take(name, `holder ${index}`, { queries: index % 2 ? db : other }),
  )
  return (await Promise.all(takers)).filter(Boolean).length
}

let passedMs = 0
const pass = (ms: number) => {
  passedMs += ms
  return clock.turnTo(passedMs)
}

describe('a lease', { concurrency: 1 }, () => {
  test('of 40 requests at once, over two connections, exactly one gets it: 25 times', async () => {
    for (let round = 0; round < 25; round++) assert.equal(await howManyGet(`raced ${round}`), 1)
  })

  test('that has expired: of 40 requests at once, exactly one gets it: 25 times', async () => {
    for (let round = 0; round < 25; round++) await take(`run out ${round}`, 'dead')
    await pass(11 * MINUTE)
    for (let round = 0; round < 25; round++) assert.equal(await howManyGet(`run out ${round}`), 1, `round ${round}`)
  })

  test('is not available to others before it expires, and is afterwards: its holder may have crashed', async () => {
    assert.equal(await take('timed', 'a'), true)
    assert.equal(await take('timed', 'b', { queries: other }), false)
    await pass(5 * MINUTE)
    assert.equal(await take('timed', 'b', { queries: other }), false)
    await pass(6 * MINUTE)
    assert.equal(await take('timed', 'b', { queries: other }), true)
    assert.equal(await take('timed', 'a'), false)
  })

  test('is extended and shortened by its holder', async () => {
    assert.equal(await take('moved', 'a', { forMs: MINUTE }), true)
    assert.equal(await take('moved', 'a', { forMs: 10 * MINUTE }), true)
    await pass(2 * MINUTE)
    assert.equal(await take('moved', 'b'), false)
    assert.equal(await take('moved', 'a', { forMs: MINUTE }), true)
    await pass(2 * MINUTE)
    assert.equal(await take('moved', 'b'), true)
  })

  test('is extended by its holder after it expired, as long as no other holder has taken it', async () => {
    assert.equal(await take('late', 'a'), true)
    await pass(11 * MINUTE)
    assert.equal(await take('late', 'a'), true)
    assert.equal(await take('late', 'b'), false)
  })

  test('is given back by its holder, and by nobody else', async () => {
    assert.equal(await take('given back', 'a'), true)
    await endLease(db, { name: 'given back', holder: 'b' })
    assert.equal(await take('given back', 'b'), false)
    await endLease(db, { name: 'given back', holder: 'a' })
    assert.equal(await take('given back', 'b'), true)
  })

  test('has a name, and leases with different names are independent', async () => {
    assert.equal(await take('sessions', 'a'), true)
    assert.equal(await take('webhook events', 'b'), true)
    assert.equal(await take('sessions', 'b'), false)
  })

  test('belongs to its holder alone, even if another holder’s name is similar', async () => {
    const holders = ['Ab-_1', 'ab-_1', 'AB-_1', 'Ab-x1', '%', '1', 'x Ab-_1']
    for (const [index, holder] of holders.entries()) {
      const name = `alike ${index}`
      assert.equal(await take(name, holder), true)
      for (const another of holders) {
        const expected = another === holder
        assert.equal(await take(name, another), expected, `${another} takes what is ${holder}'s`)
      }
    }
  })
})

describe('a lease that was taken while the clock was wrong', { concurrency: 1 }, () => {
  const wrong = { 'a day ahead': DAY, 'a year ahead': YEAR, 'at the beginning of 1970': MINUTE - Date.now() }
  for (const [what, aheadMs] of Object.entries(wrong)) {
    test(`${what} is its holder’s by that clock, and free when the clock is right`, async () => {
      await clock.turnTo(passedMs + aheadMs)
      assert.equal(await take(what, 'a'), true)
      assert.equal(await take(what, 'b'), false)
      assert.equal(await take(what, 'a'), true)
      await clock.turnTo(passedMs)
      assert.equal(await take(what, 'b'), true)
      assert.equal(await take(what, 'a'), false)
    })
  }

  test('may end as late as the longest does, and a minute later, since clocks differ', async () => {
    assert.equal(await take('long', 'a', { forMs: DAY, longestMs: DAY }), true)
    assert.equal(await take('long', 'b', { forMs: 10 * MINUTE, longestMs: DAY }), false)
    assert.equal(await take('skewed', 'a', { forMs: 10 * MINUTE + 50_000 }), true)
    assert.equal(await take('skewed', 'b'), false)
  })

  testOnPostgres('by one replica alone lasts no longer than by any other', async () => {
    assert.equal(await take('one replica', 'a', { aheadMs: YEAR }), true)
    assert.equal(await take('one replica', 'b'), false)
    await pass(11 * MINUTE)
    assert.equal(await take('one replica', 'b'), true)
  })

  test('keeps no later process from cleanup', async () => {
    const runCleanup = async (holder: string) => {
      let runs = 0
      const cleanup = createCleanup({
        jobs: [{ name: 'job', run: async () => ++runs }],
        intervalMs: 20,
        findTime: async () => clock.now(),
        reserve: (reservation) => takeLease(db, { ...reservation, holder, nowMs: clock.now() }),
        log: createLog('silent', { write: () => {} }),
      })
      cleanup.start()
      await eventually(`${holder} runs the job`, () => runs > 0)
      await cleanup.stop()
    }
    await clock.turnTo(passedMs + YEAR)
    await runCleanup('before')
    await clock.turnTo(passedMs)
    await runCleanup('after')
  })
})
