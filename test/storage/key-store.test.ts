// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { createRootSecret } from '../../src/lib/derived-keys.ts'
import {
  deleteKeysRetiredBefore,
  findKeys,
  insertKey,
  type KeyRecord,
  lockKeys,
  retireKeys,
} from '../../src/sessions/keys/key-store.ts'
import { createSigningKeys } from '../../src/sessions/keys/signing-keys.ts'
import type { Database } from '../../src/storage/database.ts'
import { freshDatabase } from './databases.ts'
import { newKey, T0 } from './rows.ts'

const idsOf = (keys: Pick<KeyRecord, 'id'>[]) => keys.map(({ id }) => id)

const ringOf = (db: Database, rootSecret: Uint8Array) =>
  createSigningKeys({
    db,
    clock: { now: () => T0 },
    rootSecret: createRootSecret({ current: rootSecret }),
    accessTokenLifetimeMs: 1000,
    recordEvent: async () => {},
  })

/** The work of a first start. */
const makeKey = (queries: Database) =>
  queries.inTransaction(async (transaction) => {
    await lockKeys(transaction)
    const keys = await findKeys(transaction)
    if (keys.length === 0) await insertKey(transaction, newKey())
  })

describe('signing keys', () => {
  test('are listed as they were inserted: the newest first, then by id, byte by byte', async (t) => {
    const { db } = await freshDatabase(t)
    const keys = ['_', '-', 'a', 'A', 'Z', '0', 'b'].map((id) => newKey({ id }))
    const newest = newKey({ createdAtMs: T0 + 1, retiredAtMs: T0 + 2 })
    for (const key of [...keys, newest, newKey({ id: 'oldest', createdAtMs: T0 - 1 })]) await insertKey(db, key)
    const found = await findKeys(db)
    assert.deepEqual(found[0], newest)
    assert.deepEqual(idsOf(found), [newest.id, ...idsOf(keys).sort(), 'oldest'])
  })

  test('are retired all at once, and each only once', async (t) => {
    const { db } = await freshDatabase(t)
    await insertKey(db, newKey({ id: 'a', retiredAtMs: T0 + 1 }))
    for (const id of ['b', 'c']) await insertKey(db, newKey({ id }))
    assert.equal(await retireKeys(db, T0 + 2), 2)
    assert.equal(await retireKeys(db, T0 + 3), 0)
    assert.deepEqual(
      (await findKeys(db)).map(({ retiredAtMs }) => retiredAtMs),
      [T0 + 1, T0 + 2, T0 + 2],
    )
  })

  test('are deleted if they were retired before a given time, but never while they sign', async (t) => {
    const { db } = await freshDatabase(t)
    await insertKey(db, newKey({ id: 'signs' }))
    for (const age of [1, 2, 3]) await insertKey(db, newKey({ id: `retired ${age}`, retiredAtMs: T0 - age }))
    assert.equal(await deleteKeysRetiredBefore(db, T0 - 2), 1)
    assert.deepEqual(idsOf(await findKeys(db)).sort(), ['retired 1', 'retired 2', 'signs'])
  })

  test('of two transactions that decide which key signs, one waits for the other', async (t) => {
    const { db, open } = await freshDatabase(t)
    const other = await open()
    await Promise.all(Array.from({ length: 20 }, (_, index) => makeKey(index % 2 ? db : other)))
    assert.equal((await findKeys(db)).length, 1)
  })

  test('8 first starts at once make one key, and all hold it', async (t) => {
    const { db, open } = await freshDatabase(t)
    const rootSecret = randomBytes(32)
    const handles = [db, ...(await Promise.all(Array.from({ length: 3 }, () => open())))]
    const rings = [...handles, ...handles].map((handle) => ringOf(handle, rootSecret))
    await Promise.all(rings.map((ring) => ring.prepare()))
    const [key] = await findKeys(db)
    assert.deepEqual(
      rings.map((ring) => ring.lastRead().newestId),
      rings.map(() => key?.id),
    )
  })

  test('of 10 rotations at once, on two connections, one key is the newest, and all verify', async (t) => {
    const { db, open } = await freshDatabase(t)
    const rootSecret = randomBytes(32)
    const [here, there] = [ringOf(db, rootSecret), ringOf(await open(), rootSecret)]
    const rings = [here, there]
    for (const ring of rings) await ring.prepare()
    await Promise.all(Array.from({ length: 10 }, (_, index) => (index % 2 ? here : there).rotate({ now: false })))
    const keys = await findKeys(db)
    assert.equal(keys.length, 11)
    const [active, ...more] = keys.filter(({ retiredAtMs }) => retiredAtMs === null)
    assert.deepEqual(more, [])
    for (const ring of rings) {
      const { newestId, verifying } = await ring.reload()
      assert.equal(newestId, active?.id)
      assert.deepEqual([...verifying.keys()].sort(), idsOf(keys).sort())
    }
  })
})
