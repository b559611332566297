// Runs once.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createClockSteps } from '../../src/sessions/clock-steps.ts'

const HOUR_MS = 3_600_000

/** A clock of which a test decides everything, and one process that looks at it. */
const startClock = () => {
  const time = { elapsedMs: 1_000_000, aheadMs: 0 }
  const now = (): number => time.elapsedMs + time.aheadMs
  const steps = createClockSteps({ now, elapsedMs: () => time.elapsedMs })
  return {
    now,
    steps,
    pass: (ms: number): void => void (time.elapsedMs += ms),
    set: (ms: number): void => void (time.aheadMs += ms),
  }
}

for (const [what, stepMs] of [
  ['back', -HOUR_MS],
  ['forward', HOUR_MS],
] as const) {
  describe(`a clock that is set ${what} by an hour`, () => {
    test('makes no time before it older or younger', () => {
      const { now, steps, pass, set } = startClock()
      const written = now()
      steps.observe(written)
      pass(1000)
      set(stepMs)
      assert.equal(steps.ageMs(written, now()), 1000)
    })

    test('makes a time young that another process has written since, which has seen it first', () => {
      const { now, steps, pass, set } = startClock()
      steps.observe(now())
      pass(60_000)
      set(stepMs)
      const written = now()
      pass(5)
      assert.equal(steps.ageMs(written, now()), 5)
      pass(31_000)
      assert.equal(steps.ageMs(written, now()), 31_005)
    })

    test('twice is told apart', () => {
      const { now, steps, pass, set } = startClock()
      steps.observe(now())
      pass(1000)
      set(stepMs)
      const written = now()
      steps.observe(written)
      pass(2000)
      set(-stepMs)
      pass(10)
      assert.equal(steps.ageMs(written, now()), 2010)
    })
  })
}
