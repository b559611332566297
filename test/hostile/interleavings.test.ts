// Runs on SQLite and PostgreSQL.
import { test } from 'node:test'
import fc from 'fast-check'
import { turnedClock } from '../support/clock/turned-clock.ts'
import { interleavingsHold } from '../support/fuzz/interleavings-property.ts'
import { openOperator, startReplicas } from '../support/service/replicas.ts'

// The same interleavings in every run, as far as the machine plays along; `npm run fuzz` makes others.
const seed = 20_261_123

const clock = turnedClock()
const replicas = await startReplicas({ clock, env: { SVC_RATE_LIMIT: 'on' } })
const operator = await openOperator(replicas[0])

test(`tabs, changes, operators, a thief and clocks at two replicas (seed ${seed})`, async () => {
  await fc.assert(interleavingsHold({ replicas, operator, clock }), { seed, numRuns: 25 })
})
