// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { deleteSessionsEndedBy, findSessionEnds } from '../../src/sessions/all-sessions-store.ts'
import { deleteExpiredSessions } from '../../src/sessions/expiry.ts'
import { findKeys, insertKey, retireKeys } from '../../src/sessions/keys/key-store.ts'
import type { Session } from '../../src/sessions/session.ts'
import {
  deleteSession,
  findSession,
  insertSession,
  updateRotatedSession,
  updateUnansweredSession,
  lockSession,
} from '../../src/sessions/session-store.ts'
import {
  countSessionsOfUser,
  deleteSessionOfUser,
  deleteSessionsOfUser,
  findSessionsOfUser,
} from '../../src/sessions/user-sessions-store.ts'
import { insertUser, type UserRecord } from '../../src/accounts/user-store.ts'
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
    const { email, username, roles, disabled, createdAtMs } = user
    const shown = { email, emailVerified: false, username, name: undefined, roles, disabled, createdAtMs }
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
    assert.equal(await deleteSession(db, session.id), 0)
    assert.equal(await db.inTransaction((transaction) => lockSession(transaction, session.id, id)), undefined)
  })

  test('is ended only by its own user, if a user is given', async () => {
    const [owner, stranger] = [await addedUser(), await addedUser()]
    const session = await added(owner.id)
    assert.equal(await deleteSessionOfUser(db, session.id, stranger.id), 0)
    assert.ok(await isThere(session))
    assert.equal(await deleteSessionOfUser(db, session.id, owner.id), 1)
    assert.ok(!(await isThere(session)))
  })
})

describe('the sessions of a user', () => {
  test('end all, or all but one, without those of other users', async () => {
    const [user, bystander] = [await addedUser(), await addedUser()]
    const sessions = [await added(user.id), await added(user.id), await added(user.id)]
    const others = await added(bystander.id)
    assert.equal(await deleteSessionsOfUser(db, user.id, sessions[1]?.id), 2)
    assert.deepEqual(await Promise.all(sessions.map(isThere)), [false, true, false])
    assert.equal(await deleteSessionsOfUser(db, user.id, others.id), 1)
    assert.equal(await deleteSessionsOfUser(db, user.id), 0)
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

describe('expired sessions', () => {
  test('are found by id between two ids and deleted up to the last; the others stay', async (t) => {
    const { db } = await freshDatabase(t)
    const user = newUser()
    await insertUser(db, user)
    const ids = ['0', 'A', 'B', 'a', 'a-1', 'a_1', 'aa', 'b', 'é']
    for (const [index, id] of ids.toReversed().entries())
      await insertSession(db, newSession(user.id, { id, expiresAtMs: T0 + (index % 2) }))
    const ends = await findSessionEnds(db, { after: '0', before: 'é', limit: 100 })
    assert.deepEqual(
      ends.map(({ id }) => id),
      ids.slice(1, -1),
    )
    assert.deepEqual(new Set(ends.map(({ expires_at }) => expires_at)), new Set([T0, T0 + 1]))
    assert.deepEqual(
      (await findSessionEnds(db, { after: 'A', before: 'é', limit: 2 })).map(({ id }) => id),
      ['B', 'a'],
    )
    const ended = ends.filter((each) => each.expires_at <= T0 && each.id <= 'a_1').map(({ id }) => id)
    assert.equal(await deleteSessionsEndedBy(db, { after: '0', upTo: 'a_1', nowMs: T0 }), ended.length)
    const left = await findSessionEnds(db, { after: '', before: 'zzz', limit: 100 })
    assert.deepEqual(
      left.map(({ id }) => id),
      ids.filter((id) => !ended.includes(id) && id < 'zzz'),
    )
  })

  test('1,300 in several windows: all expired ones are deleted, and no others', async (t) => {
    const { db } = await freshDatabase(t)
    const user = newUser()
    await insertUser(db, user)
    const nowMs = Date.now()
    await db.inTransaction(async (transaction) => {
      for (let index = 0; index < 1300; index++) {
        const expiresAtMs = index % 3 === 0 ? nowMs + 100_000 : nowMs
        await insertSession(transaction, newSession(user.id, { id: idAt(nowMs - 5000, index), expiresAtMs }))
      }
      await insertSession(transaction, newSession(user.id, { id: idAt(nowMs, 1), expiresAtMs: nowMs }))
    })
    assert.equal(await deleteExpiredSessions({ db, nowMs: nowMs + 1, shortestLifetimeMs: 1000 }), 866)
    assert.equal(await deleteExpiredSessions({ db, nowMs: nowMs + 1, shortestLifetimeMs: 1000 }), 0)
    const row = await db.get<{ count: number }>('SELECT COUNT(*) AS count FROM sessions')
    assert.equal(row?.count, 435, 'the youngest is not looked at yet')
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
