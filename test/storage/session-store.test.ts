// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { createExpiry } from '../../src/sessions/expiry.ts'
import { findKeys, insertKey, retireKeys } from '../../src/sessions/keys/key-store.ts'
import type { RemoveSessions } from '../../src/sessions/removal.ts'
import type { Session } from '../../src/sessions/session.ts'
import {
  deleteSessions,
  findSession,
  insertSession,
  updateRotatedSession,
  updateUnansweredSession,
  lockSession,
} from '../../src/sessions/session-store.ts'
import { countSessionsOfUser, findSessionsOfUser } from '../../src/sessions/user-sessions-store.ts'
import { insertUser, type UserRecord } from '../../src/accounts/user-store.ts'
import type { Database, Value } from '../../src/storage/database.ts'
import { freshDatabase } from './databases.ts'
import { NO_DEADLINE, newKey, newSession, newUser, T0 } from './rows.ts'

const { db, open } = await freshDatabase()
const other = await open()

const addedUser = async (): Promise<UserRecord> => {
  const user = newUser({ roles: ['a', 'b'] })
  await insertUser(db, user)
  return user
}

const added = async (userId: string, given: Partial<Session> = {}): Promise<Session> => {
  const session = newSession(userId, given)
  assert.equal(await insertSession(db, session), 1)
  return session
}

const isThere = async ({ id }: Session): Promise<boolean> => (await findSession(db, id)) !== undefined

/** The id of a session that began at a given time. */
const idAt = (timeMs: number, last: number): string => {
  const hex = timeMs.toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-${String(last).padStart(12, '0')}`
}

describe('a session', () => {
  test('is found as it was inserted, with its user', async () => {
    const user = await addedUser()
    const session = await added(user.id, { generation: 2 ** 33, replacedAtMs: [T0 - 2, T0 - 1], userAgent: 'é😀"\\' })
    const found = await findSession(db, session.id)
    const { email, username, language, roles, disabled, createdAtMs } = user
    const shown = { email, emailVerified: false, username, name: undefined, language, roles, disabled, createdAtMs }
    assert.deepEqual(found, { ...session, user: shown, newestKeyId: '', readAtMs: found?.readAtMs })
    assert.equal(await findSession(db, 'none'), undefined)
  })

  test('is rotated by exactly one of many requests that saw the same generation, over all connections', async () => {
    const session = await added((await addedUser()).id)
    for (let generation = 2; generation < 12; generation++) {
      const movers = Array.from({ length: 20 }, (_, index) =>
        updateRotatedSession(index % 2 ? db : other, { ...session, generation, replacedAtMs: [index] }, NO_DEADLINE),
      )
      const changes = await Promise.all(movers)
      assert.deepEqual(changes.filter(Boolean), [1])
      assert.deepEqual((await findSession(db, session.id))?.replacedAtMs, [changes.indexOf(1)])
    }
  })

  test('keeps its time of creation and its user when it is rotated', async () => {
    const user = await addedUser()
    const session = await added(user.id)
    const next = {
      ...session,
      generation: 2,
      replacedAtMs: [T0 + 5],
      lastSeenAtMs: T0 + 5,
      expiresAtMs: T0 + 1005,
      userAgent: 'Chrome',
      address: '::1',
    }
    assert.equal(
      await updateRotatedSession(db, { ...next, salt: 'x', createdAtMs: 1, absoluteExpiresAtMs: 1 }, NO_DEADLINE),
      1,
    )
    const { user: _, newestKeyId: __, readAtMs: ___, ...found } = (await findSession(db, session.id)) ?? assert.fail()
    assert.deepEqual(found, next)
    assert.equal(await updateRotatedSession(db, { ...next, generation: 4 }, NO_DEADLINE), 0)
  })

  test('whose rotation had no known outcome is rotated or changed, and left alone when it went on', async () => {
    const session = await added((await addedUser()).id)
    const unanswered = { ...session, generation: 2, replacedAtMs: [T0 + 7] }
    for (const _ of ['not made', 'made']) {
      assert.equal(await updateUnansweredSession(db, unanswered), 1)
      const found = await findSession(db, session.id)
      assert.deepEqual([found?.generation, found?.replacedAtMs], [2, [T0 + 7]])
    }
    assert.equal(await updateRotatedSession(db, { ...session, generation: 3 }, NO_DEADLINE), 1)
    assert.equal(await updateUnansweredSession(db, unanswered), 0)
  })

  test('that is gone cannot be rotated, ended or held', async () => {
    const { id } = await addedUser()
    const session = newSession(id)
    assert.equal(await updateRotatedSession(db, { ...session, generation: 2 }, NO_DEADLINE), 0)
    assert.deepEqual(await deleteSessions(db, { ids: [session.id] }), [])
    assert.equal(await db.inTransaction((transaction) => lockSession(transaction, session.id, id)), undefined)
  })

  test('is ended only by its own user, if a user is given', async () => {
    const [owner, stranger] = [await addedUser(), await addedUser()]
    const session = await added(owner.id)
    assert.deepEqual(await deleteSessions(db, { ids: [session.id], userId: stranger.id }), [])
    assert.ok(await isThere(session))
    const { id, userId, salt } = session
    const [deleted] = await deleteSessions(db, { ids: [id], userId: owner.id })
    assert.deepEqual({ ...deleted }, { id, userId, salt, grants: null })
    assert.ok(!(await isThere(session)))
  })
})

const deleted = async (userId: string, exceptId?: string): Promise<number> =>
  (await deleteSessions(db, { userId, exceptId })).length

describe('the sessions of a user', () => {
  test('end all, or all but one, without those of other users', async () => {
    const [user, bystander] = [await addedUser(), await addedUser()]
    const sessions = [await added(user.id), await added(user.id), await added(user.id)]
    const others = await added(bystander.id)
    assert.equal(await deleted(user.id, sessions[1]?.id), 2)
    assert.deepEqual(await Promise.all(sessions.map(isThere)), [false, true, false])
    assert.equal(await deleted(user.id, others.id), 1)
    assert.equal(await deleted(user.id), 0)
    assert.ok(await isThere(others))
  })

  test('are listed: the given one first, then by last use, then by creation, the latest first; ended ones are not', async () => {
    const { id } = await addedUser()
    const times = [5, 3, 9, 3, 3, 7]
    const sessions: Session[] = []
    for (const [index, time] of times.entries())
      sessions.push(await added(id, { id: idAt(T0 + index, 1), lastSeenAtMs: T0 + time }))
    const ended = await added(id, { lastSeenAtMs: T0 + 99, expiresAtMs: T0 + 10 })
    const listed = async (firstId: string, limit = 100) => {
      const found = await findSessionsOfUser(db, { userId: id, firstId, nowMs: T0 + 10, limit })
      return found.map((session) => sessions.findIndex((each) => each.id === session.id))
    }
    assert.deepEqual(await listed(''), [2, 5, 0, 4, 3, 1])
    assert.deepEqual(await listed(sessions[3]?.id ?? ''), [3, 2, 5, 0, 4, 1])
    assert.deepEqual(await listed(ended.id, 3), [2, 5, 0])
    assert.deepEqual(await listed(sessions[1]?.id ?? '', 2), [1, 2])
    assert.equal(await countSessionsOfUser(db, id, T0 + 10), 6)
    assert.equal(await countSessionsOfUser(db, id, T0 + 9), 7)
    assert.equal(await countSessionsOfUser(db, 'nobody', T0), 0)
  })
})

const LIFETIME_MS = 100_000

/** Cleanup of one process over time, the sessions that it reads, and those that are left. */
const removeSessions: RemoveSessions = (transaction, which) => deleteSessions(transaction, which)

const expiryOf = async (t: TestContext) => {
  const { db } = await freshDatabase(t)
  const user = newUser()
  await insertUser(db, user)
  const reads: number[] = []
  const counted: Database = {
    ...db,
    async all<Row>(sql: string, ...values: Value[]) {
      const rows = await db.all<Row>(sql, ...values)
      reads.push(rows.length)
      return rows
    },
  }
  const open = () => createExpiry({ db: counted, shortestLifetimeMs: LIFETIME_MS, removeSessions })
  return {
    db,
    open,
    /** Sessions with the lifetime of the settings, or another one. */
    begin: (startMs: number, index: number, lifetimeMs = LIFETIME_MS) =>
      insertSession(db, newSession(user.id, { id: idAt(startMs, index), expiresAtMs: startMs + lifetimeMs })),
    async end(expire: (nowMs: number) => Promise<number>, nowMs: number) {
      reads.length = 0
      const ended = await expire(nowMs)
      const left = await db.all<{ id: string }>('SELECT id FROM sessions')
      return { ended, left: left.length, read: reads.reduce((sum, count) => sum + count, 0) }
    },
  }
}

describe('expired sessions', () => {
  test('1,300 in several batches: all expired ones end, and no others', async (t) => {
    const { open, begin, end } = await expiryOf(t)
    for (let index = 0; index < 1300; index++) await begin(T0, index, LIFETIME_MS + (index % 3 === 0 ? 1000 : 0))
    await begin(T0 + 5000, 1)
    const expire = open()
    assert.deepEqual(await end(expire, T0), { ended: 0, left: 1301, read: 0 })
    assert.deepEqual(await end(expire, T0 + LIFETIME_MS + 1), { ended: 866, left: 435, read: 1300 })
    assert.deepEqual(await end(expire, T0 + LIFETIME_MS + 1000), { ended: 434, left: 1, read: 434 })
    assert.deepEqual(await end(open(), T0 + LIFETIME_MS + 6000), { ended: 1, left: 0, read: 1 })
  })

  test('are looked for among few: blocks of which none can have ended are not read', async (t) => {
    const { open, begin, end } = await expiryOf(t)
    for (let index = 0; index < 2000; index++) await begin(T0, index, index === 700 ? 3 * LIFETIME_MS : 4 * LIFETIME_MS)
    const expire = open()
    const reads: number[] = []
    for (let nowMs = T0 + LIFETIME_MS; nowMs < T0 + 2 * LIFETIME_MS; nowMs += LIFETIME_MS / 10)
      reads.push((await end(expire, nowMs + 1)).read)
    assert.deepEqual(reads, [2000, ...reads.slice(1).map(() => 0)])
    assert.deepEqual(await end(expire, T0 + 3 * LIFETIME_MS), { ended: 1, left: 1999, read: 2000 })
  })

  test('one that is refreshed ends when it does then, and not before', async (t) => {
    const { db, open, begin, end } = await expiryOf(t)
    await begin(T0, 1)
    await db.run('UPDATE sessions SET expires_at = ?', T0 + LIFETIME_MS + 1500)
    const expire = open()
    assert.equal((await end(expire, T0 + LIFETIME_MS + 1)).left, 1)
    await db.run('UPDATE sessions SET expires_at = ?', T0 + 2 * LIFETIME_MS)
    assert.equal((await end(expire, T0 + LIFETIME_MS + 1500)).left, 1)
    assert.equal((await end(expire, T0 + 2 * LIFETIME_MS - 1)).left, 1)
    assert.equal((await end(expire, T0 + 2 * LIFETIME_MS)).left, 0)
  })

  test('one that a refresh has given a shorter life, since the setting was changed, ends in time', async (t) => {
    const { db, open, begin, end } = await expiryOf(t)
    await begin(T0, 1, 9 * LIFETIME_MS)
    const expire = open()
    assert.equal((await end(expire, T0 + LIFETIME_MS + 1)).left, 1)
    await db.run('UPDATE sessions SET expires_at = ?', T0 + 2 * LIFETIME_MS + 2)
    assert.equal((await end(expire, T0 + 2 * LIFETIME_MS + 1)).left, 1)
    assert.equal((await end(expire, T0 + 2 * LIFETIME_MS + 2)).left, 0)
  })
})

test('the signing key comes with the session: the newest that is not retired', async (t) => {
  const { db } = await freshDatabase(t)
  const user = newUser()
  const session = newSession(user.id)
  await insertUser(db, user)
  await insertSession(db, session)
  const signing = async () => (await findSession(db, session.id))?.newestKeyId
  assert.equal(await signing(), '')
  await insertKey(db, newKey({ id: 'Retired', createdAtMs: T0 + 9, retiredAtMs: T0 + 10 }))
  assert.equal(await signing(), '')
  for (const [id, createdAtMs] of Object.entries({ older: T0, b: T0 + 1, a_: T0 + 1, B: T0 + 1 })) {
    await insertKey(db, newKey({ id, createdAtMs }))
  }
  assert.equal(await signing(), 'B')
  const active = (await findKeys(db)).find((key) => key.retiredAtMs === null)
  assert.equal(active?.id, 'B', 'the same that the ring of keys takes')
  await retireKeys(db, T0 + 20)
  assert.equal(await signing(), '')
})
