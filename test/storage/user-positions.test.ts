// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { assignPositions, countSince, findLastPosition, findPlaces } from '../../src/accounts/user-list-store.ts'
import { listUserIds } from '../../src/accounts/directory/user-list.ts'
import type { Database } from '../../src/storage/database.ts'
import { deleteUser, insertUser } from '../../src/accounts/user-store.ts'
import { freshDatabase, testOnPostgres } from './databases.ts'
import { newUser, T0 } from './rows.ts'

/** No list takes so long. */
const MINUTES = { longestMs: 600_000 }

const added = async (db: Database, createdAtMs = T0): Promise<string> => {
  const user = newUser({ createdAtMs })
  await insertUser(db, user)
  return user.id
}

/** Reads a list to its end from a cursor. */
const readFrom = async (db: Database, cursor?: string, limit = 2): Promise<string[]> => {
  const { ids, nextCursor } = await listUserIds(db, { limit, cursor })
  return nextCursor === undefined ? ids : [...ids, ...(await readFrom(db, nextCursor, limit))]
}

/** A transaction that inserts a user and commits only on request. */
const insertingLate = async (db: Database, createdAtMs: number) => {
  const user = newUser({ createdAtMs })
  const inserted = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  const done = db.inTransaction(async (transaction) => {
    await insertUser(transaction, user)
    inserted.resolve()
    await release.promise
  })
  await Promise.race([inserted.promise, done])
  return {
    id: user.id,
    async commit() {
      release.resolve()
      await done
    },
  }
}

describe('positions of users', () => {
  test('are given once, in order of creation, also by many at once, and never again after a deletion', async (t) => {
    const { db, open } = await freshDatabase(t)
    const others = [db, await open(), await open()]
    const ids: string[] = []
    for (let age = 40; age > 0; age -= 1) ids.unshift(await added(db, T0 + age))
    await Promise.all(others.flatMap((each) => [assignPositions(each, 7), assignPositions(each, 11)]))
    assert.deepEqual(await readFrom(db), ids)
    assert.equal(await findLastPosition(db), 40)
    await deleteUser(db, ids[39] ?? '')
    const next = await added(db)
    assert.equal(await assignPositions(db, 1000), 41)
    assert.deepEqual(await readFrom(db), [...ids.slice(0, 39), next])
  })

  testOnPostgres(
    'a user whose transaction commits late is on a later page than all that were shown before',
    async (t) => {
      const { db, open } = await freshDatabase(t)
      const other = await open()
      const first = [await added(db, T0 + 1), await added(db, T0 + 2)]
      const late = await insertingLate(other, T0)
      const page = await listUserIds(db, { limit: 1 })
      assert.deepEqual(page.ids, [first[0]])
      const after = await added(db, T0 + 3)
      const whole = await readFrom(db)
      assert.deepEqual(whole, [...first, after])
      await late.commit()
      assert.deepEqual(await readFrom(db, page.nextCursor), [first[1], after, late.id])
    },
  )

  test('a list that is read while users are added in parallel misses none that was there when it ended', async (t) => {
    const { db, open } = await freshDatabase(t)
    const [reader, writer, another] = [db, await open(), await open()]
    const acknowledged: string[] = []
    let isOver = false
    const write = async (to: Database, round = 0): Promise<void> => {
      if (round === 60) return
      // Of any age, as an import adds them.
      acknowledged.push(await added(to, T0 - ((round * 7919) % 100)))
      return write(to, round + 1)
    }
    const writing = Promise.all([write(writer), write(another), write(writer)]).finally(() => {
      isOver = true
    })
    const found: string[] = []
    let cursor: string | undefined
    for (;;) {
      const before = [...acknowledged]
      const page = await listUserIds(reader, { limit: 7, cursor })
      found.push(...page.ids)
      if (page.nextCursor !== undefined) {
        cursor = page.nextCursor
        continue
      }
      for (const id of before) assert.ok(found.includes(id), 'acknowledged before the last page was asked for')
      if (isOver) break
      found.length = 0
      cursor = undefined
      await new Promise((resolve) => setImmediate(resolve))
    }
    await writing
    assert.equal(new Set(found).size, found.length)
    assert.deepEqual([...(await readFrom(reader, undefined, 1000))].sort(), [...acknowledged].sort())
  })

  test('a list with few matches ends its pages early, and finds them all', async (t) => {
    const { db } = await freshDatabase(t)
    await db.run(
      `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 45000)
       INSERT INTO users (id, email, email_lower, username, roles, disabled, created_at, updated_at, self_made)
       SELECT CAST(n AS TEXT), 'u' || n, 'u' || n, 'u' || n, CASE WHEN n % 22000 = 0 THEN '["rare"]' ELSE '[]' END, 0,
         ${T0} + n, ${T0} + n, 0 FROM numbers`,
    )
    const query = { role: 'rare', limit: 10 }
    const pages = []
    let cursor: string | undefined
    do {
      // No time is left after its first step.
      const page = await listUserIds(db, { ...query, cursor }, { longestMs: 0, leastSteps: 1 })
      pages.push(page.ids)
      cursor = page.nextCursor
    } while (cursor !== undefined)
    assert.deepEqual(pages.flat(), ['22000', '44000'])
    assert.ok(pages.length > 1, 'no request reads all')
    assert.deepEqual(await listUserIds(db, query, MINUTES), { ids: ['22000', '44000'], nextCursor: undefined })
    assert.equal((await listUserIds(db, { limit: 10, updatedSinceMs: T0 + 44_990 }, MINUTES)).ids.length, 10)
    assert.equal((await listUserIds(db, { limit: 1000, updatedSinceMs: T0 + 1 }, MINUTES)).ids.length, 1000)
  })
})

test('users who were updated since a time are found by an index', async (t) => {
  const { open } = await freshDatabase(t)
  // On no rows, PostgreSQL takes no index if it may choose.
  const db = await open({ session: { enable_seqscan: 'off' } })
  const plans: string[] = []
  const all: Database['all'] = async (sql, ...values) => {
    const explain = db.dialect === 'sqlite' ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN'
    const rows = await db.all<Record<string, unknown>>(`${explain} ${sql}`, ...values)
    plans.push(rows.map((row) => row.detail ?? row['QUERY PLAN']).join('\n'))
    return []
  }
  const get: Database['get'] = async (sql, ...values) => (await all(sql, ...values), undefined)
  const explaining = { ...db, all, get }
  await countSince(explaining, 'updated_at', T0, 10)
  const range = { after: 0, upTo: 1000, limit: 10 }
  await findPlaces(explaining, { updatedSinceMs: T0 }, { ...range, isSelective: true })
  await findPlaces(explaining, { updatedSinceMs: T0 }, { ...range, isSelective: false })
  const indexes = plans.map((plan) => /users_by_\w+/.exec(plan)?.[0])
  assert.deepEqual(indexes, ['users_by_update', 'users_by_update', 'users_by_position'], plans.join('\n'))
})
