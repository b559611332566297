// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deleteExpiredTokens, isSpent, spendToken } from '../../src/storage/used-tokens.ts'
import { openOperator } from '../support/service/replicas.ts'
import { startService } from '../support/service/service.ts'
import { testOnPostgres } from './databases.ts'

const { db } = await openOperator(await startService())
const HOUR_MS = 3_600_000

test('a token is spent once, and not by a transaction that fails', async () => {
  const token = { id: 'once', expiresAtMs: 1000 }
  const failing = db.inTransaction(async (transaction) => {
    await spendToken(transaction, token)
    throw new Error('failed later')
  })
  await assert.rejects(failing, /failed later/)
  assert.equal(await isSpent(db, 'once'), false)
  const both = [1, 2].map(() => db.inTransaction((transaction) => spendToken(transaction, token)))
  assert.equal((await Promise.all(both)).filter(Boolean).length, 1)
  assert.equal(await isSpent(db, 'once'), true)
})

test('its mark outlasts it by an hour, for replicas whose clock is behind', async () => {
  await spendToken(db, { id: 'kept', expiresAtMs: Date.now() - 0.9 * HOUR_MS })
  await spendToken(db, { id: 'old', expiresAtMs: Date.now() - HOUR_MS })
  assert.equal(await deleteExpiredTokens(db, Date.now()), 2)
  assert.equal(await isSpent(db, 'kept'), true)
  assert.equal(await isSpent(db, 'old'), false)
})

testOnPostgres('a replica whose clock is hours ahead deletes no mark of a token that is good elsewhere', async () => {
  await spendToken(db, { id: 'live', expiresAtMs: Date.now() + HOUR_MS })
  await deleteExpiredTokens(db, Date.now() + 5 * HOUR_MS)
  assert.equal(await isSpent(db, 'live'), true)
})
