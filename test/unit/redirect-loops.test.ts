// Runs once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRedirectLoops } from '../../src/web/sign-in/redirect-loops.ts'

const watch = () => {
  const clock = { nowMs: 0 }
  const note = createRedirectLoops({ elapsedMs: () => clock.nowMs })
  /** A redirect that is requested and answered in the same millisecond. */
  const come = (sessionId = 'session', target = '/a') => note(sessionId, target, clock.nowMs)
  const comeAt = (...timesMs: number[]) =>
    timesMs.map((timeMs) => {
      clock.nowMs = timeMs
      return come()
    })
  return { clock, note, come, comeAt }
}

const FIVE = ['return', 'return', 'return', 'return', 'return']

test('five redirects within ten seconds are a loop, which is reported as new once', () => {
  assert.deepEqual(watch().comeAt(0, 1, 2, 3, 4, 5, 6), [...FIVE, 'loop', 'known_loop'])
  assert.deepEqual(watch().comeAt(0, 2499, 4999, 7499, 9998, 9999), [...FIVE, 'loop'])
  assert.deepEqual(watch().comeAt(0, 2500, 5000, 7500, 9999, 10_000, 10_001), [...FIVE, 'return', 'loop'])
})

test('a user who logs in every three seconds is never stopped', () => {
  const outcomes = watch().comeAt(...Array.from({ length: 100 }, (_, index) => index * 3000))
  assert.deepEqual(new Set(outcomes), new Set(['return']))
})

test('a loop that continues is new again only after ten seconds without it', () => {
  const { comeAt } = watch()
  const outcomes = comeAt(...Array.from({ length: 60_000 / 100 }, (_, index) => index * 100))
  assert.equal(outcomes.filter((outcome) => outcome === 'loop').length, 1)
  assert.equal(outcomes.filter((outcome) => outcome === 'return').length, 5 * 6)
  assert.deepEqual(comeAt(70_000, 70_001, 70_002, 70_003, 70_004, 70_005), [...FIVE, 'loop'])
})

test('sessions and addresses are counted separately', () => {
  const { come, comeAt } = watch()
  assert.equal(comeAt(0, 1, 2, 3, 4, 5).at(-1), 'loop')
  assert.equal(come('session', '/b'), 'return')
  assert.equal(come('other', '/a'), 'return')
  assert.equal(come('session /a', ''), 'return')
})

test('concurrent requests count as one', () => {
  const { clock, note, comeAt } = watch()
  for (clock.nowMs = 10; clock.nowMs < 50; clock.nowMs += 1) assert.equal(note('session', '/a', 9), 'return')
  assert.deepEqual(comeAt(51, 52, 53, 54, 55), [...FIVE.slice(1), 'loop'])
})

test('the memory is bounded: an entry that does not come again is dropped', () => {
  const { come, comeAt } = watch()
  comeAt(0, 1, 2, 3, 4)
  for (let index = 0; index < 20_000; index += 1) come(`other ${index}`)
  assert.equal(come(), 'return')
})
