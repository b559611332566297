// Runs on PostgreSQL.
import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { AppError } from '../../src/lib/errors.ts'
import { probeDatabase, testOnPostgres } from './databases.ts'

const database = await probeDatabase()

/** A handle with one connection, so that a statement meets what earlier ones left behind. */
const openOne = () => database.open({ size: 1 })

const FIND = 'SELECT id, amount, words FROM probe WHERE id = ?'

const isRefused = (error: unknown): boolean => error instanceof AppError && error.code === 'invalid_request'

describe('a statement on one connection', () => {
  testOnPostgres('returns rows after it was refused before it ran, and after it found nothing', async () => {
    const db = await openOne()
    await assert.rejects(db.get(FIND, 'NUL \0'), isRefused)
    await assert.rejects(db.get(FIND, 'NUL \0'), isRefused)
    assert.equal(await db.get(FIND, 'refused'), undefined)
    await db.run('INSERT INTO probe (id, amount, words) VALUES (?, ?, ?)', 'refused', 2 ** 33, null)
    for (let time = 0; time < 3; time++) {
      assert.deepEqual(await db.get(FIND, 'refused'), { id: 'refused', amount: 2 ** 33, words: null })
    }
  })

  testOnPostgres('returns rows after it failed while it ran', async () => {
    const db = await openOne()
    const divide = 'SELECT CAST(? AS INTEGER) / CAST(? AS INTEGER) AS quotient'
    for (const divisor of [0, 0]) await assert.rejects(db.get(divide, 6, divisor), AppError)
    for (const divisor of [3, 2]) assert.deepEqual(await db.get(divide, 6, divisor), { quotient: 6 / divisor })
  })

  testOnPostgres('keeps its columns apart from those of other statements', async () => {
    const db = await openOne()
    await db.run('INSERT INTO probe (id, amount, words) VALUES (?, ?, ?)', 'columns', 7, '')
    for (let time = 0; time < 3; time++) {
      assert.deepEqual(await db.get('SELECT words, id FROM probe WHERE id = ?', 'columns'), {
        words: '',
        id: 'columns',
      })
      assert.deepEqual(await db.get(FIND, 'columns'), { id: 'columns', amount: 7, words: '' })
      assert.equal(await db.run('UPDATE probe SET amount = 7 WHERE id = ?', 'columns'), 1)
      assert.equal(await db.run('UPDATE probe SET amount = 7 WHERE id = ?', 'nobody'), 0)
    }
  })

  testOnPostgres('returns the new columns after a change of the schema', async () => {
    const db = await openOne()
    await db.run('CREATE TABLE changing (id TEXT PRIMARY KEY, size INTEGER)')
    await db.run('INSERT INTO changing VALUES (?, 7)', 'a')
    const read = 'SELECT size FROM changing WHERE id = ?'
    assert.deepEqual(await db.get(read, 'a'), { size: 7 })
    await db.run('ALTER TABLE changing ALTER COLUMN size TYPE TEXT')
    assert.deepEqual(await db.get(read, 'a'), { size: '7' })
    await db.run('ALTER TABLE changing ALTER COLUMN size TYPE BIGINT USING CAST(size AS BIGINT)')
    assert.deepEqual(await db.get(read, 'a'), { size: 7 })
  })

  testOnPostgres('in a transaction fails without an effect on the next one', async () => {
    const db = await openOne()
    const failing = db.inTransaction(async (transaction) => {
      await transaction.run('INSERT INTO probe (id, amount) VALUES (?, 1)', 'rolled back')
      await transaction.get(FIND, 'NUL \0')
    })
    await assert.rejects(failing, isRefused)
    assert.equal(await db.get(FIND, 'rolled back'), undefined)
  })
})
