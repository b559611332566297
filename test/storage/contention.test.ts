// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { lockSession, deleteSessions, findSession, insertSession } from '../../src/sessions/session-store.ts'
import type { Database, Queries } from '../../src/storage/database.ts'
import {
  deleteUser,
  findUserById,
  insertUser,
  lockUser,
  lockUserToChange,
  updateUser,
  type UserRecord,
} from '../../src/accounts/user-store.ts'
import { probeDatabase, testOnPostgres } from './databases.ts'
import { holding } from '../support/database/held-transaction.ts'
import { newSession, newUser } from './rows.ts'

const { db, open } = await probeDatabase()
const other = await open()

const put = (id: string) => db.run('INSERT INTO probe (id, amount) VALUES (?, 0)', id)

const amountOf = async (id: string): Promise<number | undefined> =>
  (await db.get<{ amount: number }>('SELECT amount FROM probe WHERE id = ?', id))?.amount

const increment = (queries: Pick<Database, 'run'>, id: string) =>
  queries.run('UPDATE probe SET amount = amount + 1 WHERE id = ?', id)

test('10,000 single operations at once over a pool of 10: each is done once, and the pool stays within its limit', async () => {
  const rows = 125
  for (let row = 0; row < rows; row++) await put(`row ${row}`)
  let most = 0
  const operations = Array.from({ length: 10_000 }, async (_, index) => {
    const id = `row ${index % rows}`
    if (index % 4 === 0) assert.equal(await increment(db, id), 1)
    else assert.equal((await db.get<{ id: string }>('SELECT id FROM probe WHERE id = ?', id))?.id, id)
    most = Math.max(most, db.poolLoad?.().open ?? 1)
  })
  await Promise.all(operations)
  assert.deepEqual(await db.all('SELECT id FROM probe WHERE amount <> 20'), [])
  assert.ok(most >= 1 && most <= 10, `${most} connections`)
})

/** Whether a promise is still open after all work is done that does not wait for another transaction. */
const waits = async (promise: Promise<unknown>): Promise<boolean> => {
  promise.catch(() => {})
  return Promise.race([promise.then(() => false), sleep(300, true)])
}

const setPassword = (queries: Queries, user: UserRecord) =>
  updateUser(queries, user, { ...user, passwordHash: 'another' }, Date.now())

const remove = async (transaction: Queries, userId: string): Promise<void> => {
  await lockUserToChange(transaction, userId)
  await deleteSessions(transaction, { userId })
  await deleteUser(transaction, userId)
}

describe('a locked row', () => {
  const changes: [string, (user: UserRecord) => Promise<unknown>][] = [
    ['another password', (user) => setPassword(other, user)],
    ['a deletion', ({ id }) => other.inTransaction((transaction) => remove(transaction, id))],
    ['a transaction that changes it', (user) => other.inTransaction((transaction) => setPassword(transaction, user))],
  ]
  for (const [what, change] of changes) {
    test(`of a user does not change until the transaction ends: ${what} waits`, async () => {
      const user = newUser()
      await insertUser(db, user)
      const login = await holding(db, async (transaction) => {
        assert.deepEqual(await lockUser(transaction, user.id), user)
        return insertSession(transaction, newSession(user.id))
      })
      const changed = change(user)
      assert.ok(await waits(changed))
      assert.deepEqual(await findUserById(other, user.id), user)
      await login.commit()
      await changed
      assert.notDeepEqual(await findUserById(other, user.id), user)
    })
  }

  test('a transaction that waited for a change sees the change, and not the state of its start', async () => {
    const [user, gone] = [newUser(), newUser()]
    for (const each of [user, gone]) await insertUser(db, each)
    const change = await holding(db, async (transaction) => {
      await setPassword(transaction, user)
      await deleteUser(transaction, gone.id)
    })
    const [seen, seenGone] = [user, gone].map(({ id }) =>
      other.inTransaction((transaction) => lockUser(transaction, id)),
    )
    assert.ok(seen && seenGone && (await waits(seen)))
    await change.commit()
    assert.equal((await seen)?.passwordHash, 'another')
    assert.equal(await seenGone, undefined)
  })

  test('of a session: its holder is not logged out before it is done; a session that has ended is not held', async () => {
    const user = newUser()
    const session = newSession(user.id)
    await insertUser(db, user)
    await insertSession(db, session)
    const action = await holding(db, async (transaction) => {
      assert.ok(await lockSession(transaction, session.id, user.id))
    })
    const logout = deleteSessions(other, { ids: [session.id] })
    assert.ok(await waits(logout))
    await action.commit()
    await logout
    assert.equal(await findSession(db, session.id), undefined)
    assert.equal(await db.inTransaction((transaction) => lockSession(transaction, session.id, user.id)), undefined)
  })

  testOnPostgres('of a user does not block other logins of that user: two logins at once', async () => {
    const user = newUser()
    await insertUser(db, user)
    const first = await holding(db, (transaction) => lockUser(transaction, user.id))
    const second = await other.inTransaction(async (transaction) => {
      await insertSession(transaction, newSession(user.id))
      return lockUser(transaction, user.id)
    })
    assert.deepEqual(second, user)
    await first.commit()
  })
})

describe('transactions that conflict', () => {
  testOnPostgres('a deadlock (40P01): both transactions succeed, and the work of one has run again', async () => {
    for (const id of ['left', 'right']) await put(id)
    let [runs, held, hooks] = [0, 0, 0]
    const bothHold = Promise.withResolvers<void>()
    const lock = (queries: Database, first: string, second: string) =>
      queries.inTransaction(async (transaction) => {
        runs += 1
        transaction.afterCommit(() => (hooks += 1))
        await increment(transaction, first)
        held += 1
        if (held === 2) bothHold.resolve()
        await bothHold.promise
        await increment(transaction, second)
        return `${first} ${second}`
      })
    const results = await Promise.all([lock(db, 'left', 'right'), lock(other, 'right', 'left')])
    assert.deepEqual(results, ['left right', 'right left'])
    assert.equal(await amountOf('left'), 2)
    assert.equal(await amountOf('right'), 2)
    assert.ok(runs > 2, 'one had to begin again')
    assert.equal(hooks, 2, 'what was taken back has no hooks')
  })

  testOnPostgres('a serialization failure (40001): all transactions succeed, and none is lost', async () => {
    await put('serial')
    const serial = await open({ session: { default_transaction_isolation: 'serializable' } })
    let runs = 0
    const work = () =>
      serial.inTransaction(async (transaction) => {
        runs += 1
        const row = await transaction.get<{ amount: number }>('SELECT amount FROM probe WHERE id = ?', 'serial')
        await transaction.run('UPDATE probe SET amount = ? WHERE id = ?', (row?.amount ?? 0) + 1, 'serial')
      })
    await Promise.all(Array.from({ length: 5 }, work))
    assert.equal(await amountOf('serial'), 5)
    assert.ok(runs > 5, 'some had to begin again')
  })

  testOnPostgres('a single statement that cannot be serialized is run again, too', async () => {
    await put('alone')
    const serial = await open({ session: { default_transaction_isolation: 'repeatable\\ read' } })
    const change = await holding(db, (transaction) => increment(transaction, 'alone'))
    const alone = increment(serial, 'alone')
    assert.ok(await waits(alone))
    await change.commit()
    assert.equal(await alone, 1)
    assert.equal(await amountOf('alone'), 2)
  })
})
