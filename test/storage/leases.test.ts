// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { takeLease } from '../../src/storage/leases.ts'
import { freshDatabase } from './databases.ts'
import { T0 } from './rows.ts'

const { db, open } = await freshDatabase()
const other = await open()

const take = (name: string, holder: string, nowMs: number, untilMs: number, queries = db) =>
  takeLease(queries, { name, holder, nowMs, untilMs })

describe('a lease', () => {
  test('of 40 requests at once, over two connections, exactly one gets it: 25 times', async () => {
    for (let round = 0; round < 25; round++) {
      const takers = Array.from({ length: 40 }, (_, index) =>
        take(`raced ${round}`, `holder ${index}`, T0, T0 + 1000, index % 2 ? db : other),
      )
      assert.equal((await Promise.all(takers)).filter(Boolean).length, 1)
    }
  })

  test('that has expired: of 40 requests at once, exactly one gets it: 25 times', async () => {
    for (let round = 0; round < 25; round++) {
      const takers = Array.from({ length: 40 }, (_, index) =>
        take('run out', `holder ${round}.${index}`, T0 + 2 * round, T0 + 2 * round + 1, index % 2 ? db : other),
      )
      assert.equal((await Promise.all(takers)).filter(Boolean).length, 1, `round ${round}`)
    }
  })

  test('is not available to others before it expires, and is afterwards: its holder may have crashed', async () => {
    assert.equal(await take('timed', 'a', T0, T0 + 1000), true)
    for (const nowMs of [T0, T0 + 1, T0 + 999])
      assert.equal(await take('timed', 'b', nowMs, nowMs + 5000, other), false)
    assert.equal(await take('timed', 'b', T0 + 1001, T0 + 2000, other), true)
    assert.equal(await take('timed', 'a', T0 + 1500, T0 + 9000), false)
  })

  test('is extended and shortened by its holder', async () => {
    assert.equal(await take('moved', 'a', T0, T0 + 1000), true)
    assert.equal(await take('moved', 'a', T0 + 10, T0 + 5000), true)
    assert.equal(await take('moved', 'b', T0 + 1001, T0 + 2000), false)
    assert.equal(await take('moved', 'a', T0 + 20, T0 + 30), true)
    assert.equal(await take('moved', 'b', T0 + 31, T0 + 2000), true)
  })

  test('is extended by its holder after it expired, as long as no other holder has taken it', async () => {
    assert.equal(await take('late', 'a', T0, T0 + 10), true)
    assert.equal(await take('late', 'a', T0 + 500, T0 + 1000), true)
    assert.equal(await take('late', 'b', T0 + 500, T0 + 2000), false)
  })

  test('has a name, and leases with different names are independent', async () => {
    assert.equal(await take('sessions', 'a', T0, T0 + 1000), true)
    assert.equal(await take('webhook events', 'b', T0, T0 + 1000), true)
    assert.equal(await take('sessions', 'b', T0, T0 + 1000), false)
  })

  test('belongs to its holder alone, even if another holder’s name is similar', async () => {
    const holders = ['Ab-_1', 'ab-_1', 'AB-_1', 'Ab-x1', '%', '1', 'x Ab-_1']
    for (const [index, holder] of holders.entries()) {
      const name = `alike ${index}`
      assert.equal(await take(name, holder, T0, T0 + 1000), true)
      for (const another of holders) {
        const expected = another === holder
        assert.equal(await take(name, another, T0, T0 + 1000), expected, `${another} takes what is ${holder}'s`)
      }
    }
  })
})
