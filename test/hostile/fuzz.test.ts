// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { connectionsAreAnswered } from '../support/fuzz/connections-property.ts'
import { newSeen, requestsAreAnswered } from '../support/fuzz/requests-property.ts'
import { assertOneLineEach, startFuzzWorld } from '../support/fuzz/world.ts'
import { startService } from '../support/service/service.ts'

// The same requests in every run; `npm run fuzz` makes others for as long as it is told.
const seed = 20_261_123

const world = await startFuzzWorld(startService)
const seen = newSeen()

test(`requests to every row of the table of routes, at once (seed ${seed})`, async () => {
  await fc.assert(requestsAreAnswered(world, seen), { seed, numRuns: 100 })
  const answered = [...seen.statuses.values()].reduce((sum, count) => sum + count, 0)
  assert.ok(answered > 400, `${answered} requests`)
  assert.ok(seen.accepted.size > 60, `${seen.accepted.size} rows let a request through`)
})

test(`requests in one go on a connection, whole and damaged (seed ${seed})`, async () => {
  await fc.assert(connectionsAreAnswered(world, seen.ids), { seed, numRuns: 40 })
})

test('each response has one line in the log, which has no error and no password', () =>
  assertOneLineEach(world, seen.ids))

test('a user whom no request named is unharmed', () => world.assertBystanderUnharmed())
