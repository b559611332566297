// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { AppError } from '../../src/lib/errors.ts'
import { cacheSessions, deleteSessions, insertSession, updateRotatedSession } from '../../src/sessions/session-store.ts'
import type { Database } from '../../src/storage/database.ts'
import { deleteUser, insertUser, updateUser } from '../../src/accounts/user-store.ts'
import { testOnSqlite } from '../support/database/database-choice.ts'
import { probeDatabase } from './databases.ts'
import { NO_DEADLINE, newSession, newUser } from './rows.ts'

const { db, open } = await probeDatabase()
const other = await open()

type Probe = { id: string; amount: number }

const put = (queries: Pick<Database, 'run'>, id: string, amount: number) =>
  queries.run('INSERT INTO probe (id, amount) VALUES (?, ?)', id, amount)

const set = (queries: Pick<Database, 'run'>, id: string, amount: number) =>
  queries.run('UPDATE probe SET amount = ? WHERE id = ?', amount, id)

const rows = db.cachedRow<Probe, number>({
  select: 'SELECT id, amount FROM probe',
  key: 'probe.id',
  mapRow: ({ amount }) => {
    if (amount < 0) throw new RangeError('less than nothing')
    return amount
  },
})

describe('a row by its key', () => {
  test('is the value that was made of it', async () => {
    await put(db, 'plain', 7)
    assert.equal(await rows.get('plain'), 7)
  })

  test('that does not exist is undefined, and is found as soon as it exists', async () => {
    for (const [index, queries] of [db, other].entries()) {
      assert.equal(await rows.get(`absent ${index}`), undefined)
      await put(queries, `absent ${index}`, 1)
      assert.equal(await rows.get(`absent ${index}`), 1)
    }
  })

  test('is always current: 300 writes by another connection, each seen by the next read', async () => {
    await put(db, 'fresh', 0)
    for (let round = 1; round <= 300; round++) {
      await set(other, 'fresh', round)
      assert.equal(await rows.get('fresh'), round)
    }
    await other.run('DELETE FROM probe WHERE id = ?', 'fresh')
    assert.equal(await rows.get('fresh'), undefined)
  })

  test('is always current: 100 transactions of another connection, each seen by the next read', async () => {
    await put(db, 'transacted', 0)
    for (let round = 1; round <= 100; round++) {
      await other.inTransaction(async (transaction) => {
        await set(transaction, 'transacted', round)
        assert.equal(await rows.get('transacted'), round - 1, 'not yet')
      })
      assert.equal(await rows.get('transacted'), round)
    }
  })

  test('read while an older query is running does not get the result of the older query', async () => {
    await put(db, 'asked', 0)
    for (let round = 1; round <= 100; round++) {
      const older = Array.from({ length: 4 }, async () => rows.get('asked'))
      await set(other, 'asked', round)
      assert.equal(await rows.get('asked'), round)
      await Promise.all(older)
    }
  })

  test('is current after a write of this process, which invalidates it after the commit', async () => {
    await put(db, 'own', 0)
    for (let round = 1; round <= 50; round++) {
      await set(
        db.autocommit(() => rows.forget('own')),
        'own',
        round,
      )
      assert.equal(await rows.get('own'), round)
      await db.inTransaction(async (transaction) => {
        await set(transaction, 'own', -round * -2)
        transaction.afterCommit(() => rows.forgetAll())
      })
      assert.equal(await rows.get('own'), round * 2)
      await set(
        db.autocommit(() => rows.replace('own', round * 3)),
        'own',
        round * 3,
      )
      assert.equal(await rows.get('own'), round * 3)
      assert.ok([undefined, round * 3].includes(rows.peek('own')))
    }
  })

  testOnSqlite('is read at once; while a transaction has the connection, it waits and is as committed', async () => {
    await put(db, 'awaited', 1)
    assert.equal(rows.get('awaited'), 1, 'no promise')
    for (const isCommitted of [false, true]) {
      rows.forget('awaited')
      let read: ReturnType<typeof rows.get>
      const changing = db.inTransaction(async (transaction) => {
        await set(transaction, 'awaited', 2)
        read = rows.get('awaited')
        assert.ok(read instanceof Promise)
        if (!isCommitted) throw new RangeError('taken back')
      })
      if (isCommitted) await changing
      else await assert.rejects(changing, RangeError)
      assert.equal(await read, isCommitted ? 2 : 1)
    }
  })

  test('peeked at is the cached row, or undefined', async () => {
    await put(db, 'peeked', 1)
    assert.equal(await rows.get('peeked'), 1)
    assert.ok([undefined, 1].includes(rows.peek('peeked')))
    assert.equal(rows.peek('nobody'), undefined)
    await set(other, 'peeked', 2)
    assert.ok([undefined, 2].includes(rows.peek('peeked')))
  })
})

describe('many rows by their keys', () => {
  test('5,000 at once, every third missing: each read gets its own row', async () => {
    const keys = Array.from({ length: 5000 }, (_, index) => `many ${index}`)
    await db.inTransaction(async (transaction) => {
      for (const [index, key] of keys.entries()) if (index % 3) await put(transaction, key, index)
    })
    const found = await Promise.all(keys.map(async (key) => rows.get(key)))
    assert.deepEqual(
      found,
      keys.map((_, index) => (index % 3 ? index : undefined)),
    )
  })

  test('the same key many times in one turn of the event loop: the same row for all', async () => {
    await put(db, 'same', 1)
    for (let round = 2; round < 20; round++) {
      await set(other, 'same', round)
      const found = await Promise.all(
        Array.from({ length: 50 }, async (_, index) => rows.get(index % 2 ? 'same' : 'no')),
      )
      assert.deepEqual(new Set(found), new Set([round, undefined]))
    }
  })

  test('read in waves, with writes in between: each row is at least as current as its read', async () => {
    const keys = Array.from({ length: 300 }, (_, index) => `wave ${index}`)
    for (const key of keys) await put(db, key, 0)
    const questions: Promise<void>[] = []
    for (let wave = 1; wave <= 20; wave++) {
      await other.run(`UPDATE probe SET amount = ? WHERE id LIKE 'wave %'`, wave)
      for (const key of keys) {
        const ask = async () => assert.ok(((await rows.get(key)) ?? 0) >= wave)
        questions.push(ask())
      }
    }
    await Promise.all(questions)
  })

  test('an invalid one fails for its caller, and for no other', async () => {
    await put(db, 'good', 1)
    await put(db, 'bad', -1)
    for (const bad of ['bad', 'nul \0', 'half \ud800']) {
      const [before, wrong, after] = await Promise.allSettled([
        Promise.resolve(rows.get('good')),
        (async () => rows.get(bad))(),
        (async () => rows.get('good'))(),
      ])
      assert.deepEqual(
        [before, after].map((each) => each.status === 'fulfilled' && each.value),
        [1, 1],
        bad,
      )
      const isRefused = wrong.status === 'rejected' && /less|NUL/.test(String(wrong.reason))
      assert.ok(isRefused || (wrong.status === 'fulfilled' && wrong.value === undefined), `${bad} ${wrong.status}`)
    }
    assert.equal(await rows.get('good'), 1)
  })

  test('a statement that fails rejects every read of the batch with the error of the database', async () => {
    await db.run('CREATE TABLE broken (id TEXT PRIMARY KEY)')
    const broken = db.cachedRow<{ id: string }, string>({
      select: 'SELECT id FROM broken',
      key: 'id',
      mapRow: (r) => r.id,
    })
    await other.run('DROP TABLE broken')
    const asked = await Promise.allSettled(['a', 'b'].map(async (key) => broken.get(key)))
    for (const each of asked) assert.ok(each.status === 'rejected' && each.reason instanceof AppError)
  })
})

describe('the session of every request', () => {
  const sessions = cacheSessions(db, false, (session) => session)

  test('another replica rotates it, disables its user, ends it or deletes the user: the next read sees the change', async () => {
    for (let round = 0; round < 20; round++) {
      const user = newUser()
      const session = newSession(user.id)
      await insertUser(other, user)
      assert.equal(await sessions.get(session.id), undefined)
      await insertSession(other, session)
      assert.equal((await sessions.get(session.id))?.user.email, user.email)
      await updateRotatedSession(other, { ...session, generation: 2 }, NO_DEADLINE)
      assert.equal((await sessions.get(session.id))?.generation, 2)
      await updateUser(other, user, { ...user, disabled: true }, Date.now())
      assert.equal((await sessions.get(session.id))?.user.disabled, true)
      await other.inTransaction(async (transaction) => {
        await deleteSessions(transaction, round % 2 ? { ids: [session.id] } : { userId: user.id })
        if (round % 2) await deleteUser(transaction, user.id)
      })
      assert.equal(await sessions.get(session.id), undefined)
    }
  })
})
