// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  deleteReplacedSessions,
  findReplacedSession,
  insertReplaced,
  updateSuccessor,
} from '../../src/sessions/replaced-store.ts'
import type { Session } from '../../src/sessions/session.ts'
import { deleteSessions, findSession, insertSession } from '../../src/sessions/session-store.ts'
import { insertUser } from '../../src/accounts/user-store.ts'
import { freshDatabase } from './databases.ts'
import { newSession, newUser, T0 } from './rows.ts'

const { db, open } = await freshDatabase()
const other = await open()

const added = async (): Promise<Session> => {
  const user = newUser()
  const session = newSession(user.id)
  await insertUser(db, user)
  await insertSession(db, session)
  return session
}

const replace = (queries: typeof db, former: Session, successor: Session, nowMs = T0): Promise<void> =>
  queries.inTransaction(async (transaction) => {
    await updateSuccessor(transaction, former.id, successor.id)
    for (const { id, salt } of await deleteSessions(transaction, { ids: [former.id] }))
      await insertReplaced(transaction, { id, salt, successorId: successor.id, nowMs })
  })

const successorOf = async ({ id }: Session) => (await findReplacedSession(db, id))?.successorId

describe('a session that was replaced', () => {
  test('is gone, and a row keeps its salt, its time and the session that replaced it', async () => {
    const [former, successor] = [await added(), await added()]
    await replace(db, former, successor, T0 + 7)
    assert.equal(await findSession(db, former.id), undefined)
    const beforeMs = Date.now()
    const { readAtMs, ...found } = (await findReplacedSession(other, former.id)) ?? assert.fail()
    const { id, salt } = former
    assert.deepEqual(found, { id, salt, successorId: successor.id, replacedAtMs: T0 + 7 })
    if (db.dialect === 'sqlite') assert.equal(readAtMs, null)
    else assert.ok(readAtMs !== null && Number.isInteger(readAtMs) && readAtMs >= beforeMs - 1)
    assert.equal(await findReplacedSession(db, successor.id), undefined)
  })

  test('points to the latest replacement when that is replaced, and keeps its own time', async () => {
    const [first, second, third] = [await added(), await added(), await added()]
    await replace(db, first, second, T0)
    await replace(db, second, third, T0 + 5)
    assert.deepEqual([await successorOf(first), await successorOf(second)], [third.id, third.id])
    assert.equal((await findReplacedSession(db, first.id))?.replacedAtMs, T0)
  })

  test('by several logins at once is replaced by exactly one of them, over all connections', async () => {
    for (let round = 0; round < 10; round++) {
      const former = await added()
      const successors = await Promise.all(Array.from({ length: 6 }, added))
      await Promise.all(successors.map((successor, index) => replace(index % 2 ? db : other, former, successor)))
      assert.ok(successors.map(({ id }) => id).includes((await successorOf(former)) ?? ''))
    }
  })

  test('that had ended before leaves no row', async () => {
    const [former, successor] = [await added(), await added()]
    await deleteSessions(db, { ids: [former.id] })
    await replace(db, former, successor)
    assert.equal(await successorOf(former), undefined)
  })

  test('is deleted with its replacement, by its id or with all of its user', async () => {
    const [one, two, successor, another] = [await added(), await added(), await added(), await added()]
    await replace(db, one, successor)
    await replace(db, two, another)
    await deleteSessions(db, { ids: [successor.id] })
    await deleteSessions(db, { userId: another.userId })
    assert.deepEqual([await successorOf(one), await successorOf(two)], [undefined, undefined])
  })

  test('is deleted after the grace period and no sooner, by the time of the database server if there is one', async (t) => {
    const { db } = await freshDatabase(t)
    const user = newUser()
    await insertUser(db, user)
    const nowMs = db.dialect === 'sqlite' ? T0 : Date.now()
    const successor = newSession(user.id)
    await insertSession(db, successor)
    const agesMs = [0, 20_000, 40_000, 600_000]
    for (const ageMs of agesMs) {
      const former = newSession(user.id)
      await insertSession(db, former)
      await replace(db, former, successor, nowMs - ageMs)
    }
    // With a database server, the clock of this process does not count.
    assert.equal(await deleteReplacedSessions(db, { graceMs: 30_000, nowMs: T0 }), 2)
    assert.equal(await deleteReplacedSessions(db, { graceMs: 30_000, nowMs: T0 }), 0)
  })
})
