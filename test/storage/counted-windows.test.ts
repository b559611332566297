// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type CountedRow,
  countTry,
  deleteEndedCounters,
  findFull,
  takeBackTry,
} from '../../src/limits/counter-store.ts'
import { DAY_MS, LIMITS } from '../../src/limits/limit-table.ts'
import { freshDatabase, testOnPostgres } from './databases.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const YEAR = 365 * 24 * HOUR

const { db } = await freshDatabase()

const tryOf = (id: string, aheadMs: number) => ({
  counters: [{ id, tries: 3, windowMs: 15 * MINUTE, isOfNetwork: false, browsers: 'all' as const }],
  nowMs: Date.now() + aheadMs,
})

/** About: a test may take a while. */
const isQuarterLeft = async (id: string, aheadMs = 0): Promise<boolean> => {
  const [full] = await findFull(db, tryOf(id, aheadMs))
  return full !== undefined && full.wait_ms <= 15 * MINUTE && full.wait_ms > 10 * MINUTE
}

const count = async (id: string, aheadMs = 0): Promise<boolean> =>
  (await countTry(db.runUnsynced, tryOf(id, aheadMs))).length > 0

const fill = async (id: string, aheadMs = 0) => {
  for (const expected of [true, true, true, false]) assert.equal(await count(id, aheadMs), expected)
}

/** What clocks that were ahead by so much have written. */
const moveEnd = (id: string, ms: number) => db.run('UPDATE counters SET ends_at = ends_at + ? WHERE id = ?', ms, id)
const endsOf = async () => (await db.all<{ id: string }>('SELECT id FROM counters ORDER BY id')).map(({ id }) => id)

test('a count has a limit for each window, which begins with the first', async () => {
  await fill('window')
  assert.ok(await isQuarterLeft('window'))
  await moveEnd('window', -15 * MINUTE)
  await fill('window')
  const rows = await db.all<CountedRow>(`SELECT id, ends_at FROM counters WHERE id = 'window'`)
  const earlier = rows.map(({ id, ends_at: endsAt }) => ({ id, ends_at: endsAt - 1 }))
  await takeBackTry(db.runUnsynced, earlier)
  assert.equal(await count('window'), false, 'a try of an earlier window is not taken back from this one')
  await takeBackTry(db.runUnsynced, rows)
  assert.equal(await count('window'), true)
  assert.equal(await count('window'), false)
})

test('a window that ends later than any clock can have said is over: the clock was set back', async () => {
  for (const aheadMs of [2 * MINUTE, HOUR, YEAR]) {
    const id = `ahead by ${aheadMs}`
    await fill(id)
    await moveEnd(id, aheadMs)
    await fill(id)
    assert.ok(await isQuarterLeft(id), id)
  }
  await fill('skewed')
  await moveEnd('skewed', 50_000)
  assert.equal(await count('skewed'), false, 'clocks may differ by so much')
})

test('what was counted while the clock was ahead does not last after it is set back', async () => {
  await fill('set back', YEAR)
  // The time of a server is not that of the machine: its windows go on.
  assert.equal(await count('set back'), db.dialect === 'sqlite')
})

test('cleanup deletes counters whose window is over, or that a clock of the future has written', async () => {
  await db.run('DELETE FROM counters')
  for (const id of ['goes on', 'longest', 'over', 'wrong by a day', 'wrong by a year']) await count(id)
  await moveEnd('longest', DAY_MS - 15 * MINUTE)
  await moveEnd('over', -15 * MINUTE)
  await moveEnd('wrong by a day', DAY_MS)
  await moveEnd('wrong by a year', YEAR)
  assert.equal(await deleteEndedCounters(db, Date.now()), 3)
  assert.deepEqual(await endsOf(), ['goes on', 'longest'])
})

test('no limit has a longer window than cleanup expects', () => {
  for (const [name, { windowMs }] of Object.entries(LIMITS)) assert.ok(windowMs <= DAY_MS, name)
})

testOnPostgres('a replica whose clock is off counts in the same windows, and deletes none that goes on', async () => {
  for (const aheadMs of [5 * HOUR, -5 * HOUR]) {
    await fill('shared')
    assert.equal(await count('shared', aheadMs), false)
    assert.ok(await isQuarterLeft('shared', aheadMs))
    await deleteEndedCounters(db, Date.now() + aheadMs)
    assert.ok((await endsOf()).includes('shared'))
    await db.run('DELETE FROM counters')
  }
})
