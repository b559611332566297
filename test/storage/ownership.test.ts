// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { createOwnership } from '../../src/accounts/ownership.ts'
import { createPasswordChange } from '../../src/accounts/password-change.ts'
import { findUserById, insertUser, requireUserToChange, type UserRecord } from '../../src/accounts/user-store.ts'
import { AppError } from '../../src/lib/errors.ts'
import { freshDatabase } from './databases.ts'
import { recordedChange } from './recorded-change.ts'
import { newUser, T0 } from './rows.ts'

const { db, open } = await freshDatabase()
const other = await open()

const { change } = recordedChange(T0 + 5)
const { reclaim, enterInvited, makeInvited, markVerified } = createOwnership(change)

const added = async (given: Partial<UserRecord> = {}): Promise<UserRecord> => {
  const user = newUser(given)
  await db.inTransaction((transaction) => insertUser(transaction, user))
  return user
}

const INVITED = { passwordHash: null, isSelfMade: false, invitedAtMs: T0, roles: ['editor'] }

type Proved = Partial<{ userId: string; emailLower: string; passwordHash: string; username: string }>

const enter = (user: UserRecord, given: Proved = {}, queries = db) =>
  queries.inTransaction((transaction) =>
    enterInvited(transaction, { userId: user.id, emailLower: user.emailLower, caller: {}, ...given }),
  )

const reclaimed = (user: UserRecord, given: Proved = {}, queries = db) =>
  queries.inTransaction((transaction) => {
    const proved = { userId: user.id, emailLower: user.emailLower, caller: {}, ...given }
    return reclaim(transaction, proved, { by: 'reclaim', method: 'corp' })
  })

/** Of ten requests at once, over two connections: the one that has succeeded. */
const winnerOf = async (request: (index: number, queries: typeof db) => Promise<boolean>): Promise<number> => {
  const results = await Promise.all(Array.from({ length: 10 }, (_, index) => request(index, index % 2 ? db : other)))
  assert.equal(results.filter(Boolean).length, 1)
  return results.indexOf(true)
}

describe('an invited account', () => {
  test('is entered once: it has the password of the first, and its roles', async () => {
    const user = await added(INVITED)
    assert.equal(await enter(user, { passwordHash: 'first' }), true)
    assert.equal(await enter(user, { passwordHash: 'second' }), false)
    assert.equal(await enter(user), false)
    const entered = { ...user, passwordHash: 'first', emailVerifiedAtMs: T0 + 5, invitedAtMs: undefined }
    assert.deepEqual(await findUserById(db, user.id), entered)
  })

  test('is entered by one of ten requests at once, over two connections', async () => {
    const user = await added(INVITED)
    const winner = await winnerOf((index, queries) => enter(user, { passwordHash: `hash ${index}` }, queries))
    assert.equal((await findUserById(db, user.id))?.passwordHash, `hash ${winner}`)
  })

  test('keeps the time at which its email was verified before', async () => {
    const user = await added({ ...INVITED, emailVerifiedAtMs: T0 + 1 })
    assert.equal(await enter(user), true)
    assert.equal((await findUserById(db, user.id))?.emailVerifiedAtMs, T0 + 1)
  })

  test('is not entered with another email, while it is disabled, and never where it was not invited', async () => {
    assert.equal(await enter(await added(INVITED), { emailLower: 'other@example.com' }), false)
    assert.equal(await enter(await added({ ...INVITED, disabled: true })), false)
    assert.equal(await enter(await added(INVITED), { userId: 'nobody' }), false)
    const user = await added({})
    assert.equal(await enter(user), false)
    assert.deepEqual(await findUserById(db, user.id), user)
  })

  test('is entered with a username that nobody has', async () => {
    const [user, known] = [await added(INVITED), await added()]
    await assert.rejects(enter(user, { username: known.username }), { code: 'conflict', reason: 'username_taken' })
    assert.deepEqual(await findUserById(db, user.id), user)
  })

  test('is made of a self-made account whose email nobody has proved, and of no other', async () => {
    const user = await added({ roles: ['former'] })
    const make = ({ id }: UserRecord) =>
      db.inTransaction(async (transaction) => {
        const locked = await requireUserToChange(transaction, id)
        await makeInvited(transaction, locked, { username: undefined, name: undefined, roles: ['new'] })
      })
    await make(user)
    const made = { ...user, passwordHash: null, roles: ['new'], isSelfMade: false, invitedAtMs: T0 + 5 }
    assert.deepEqual(await findUserById(db, user.id), made)
    for (const given of [{ emailVerifiedAtMs: T0 }, { isSelfMade: false }, { disabled: true }]) {
      const kept = await added(given)
      await assert.rejects(make(kept), { code: 'conflict' })
      assert.deepEqual(await findUserById(db, kept.id), kept)
    }
    const invited = await added(INVITED)
    await make(invited)
    assert.deepEqual(await findUserById(db, invited.id), { ...invited, roles: ['new'] }, 'it stays invited')
  })
})

describe('an account whose email is not verified', () => {
  test('is reclaimed by the owner of its email, without its password and its roles', async () => {
    const user = await added({ roles: ['a'] })
    assert.equal(await reclaimed(user), true)
    assert.deepEqual(await findUserById(db, user.id), {
      ...user,
      passwordHash: null,
      roles: [],
      emailVerifiedAtMs: T0 + 5,
    })
    assert.equal(await reclaimed(user), false)
  })

  test('keeps the roles that an operator gave it when it was made, and gets the password of its owner', async () => {
    const user = await added({ roles: ['a'], isSelfMade: false, invitedAtMs: T0 })
    assert.equal(await reclaimed(user, { passwordHash: 'theirs' }), true)
    const { roles, passwordHash, invitedAtMs } = (await findUserById(db, user.id)) ?? newUser()
    assert.deepEqual([roles, passwordHash, invitedAtMs], [['a'], 'theirs', undefined])
  })

  test('is not reclaimed with another email, when disabled, or when the email is verified', async () => {
    const user = await added()
    const disabled = await added({ disabled: true })
    const proven = await added({ emailVerifiedAtMs: T0 })
    assert.equal(await reclaimed(user, { emailLower: 'somebody.else@example.com' }), false)
    assert.equal(await reclaimed(user, { userId: randomUUID() }), false)
    assert.equal(await reclaimed(disabled), false)
    assert.equal(await reclaimed(proven), false)
    for (const each of [user, disabled, proven]) assert.deepEqual(await findUserById(db, each.id), each)
  })

  test('is reclaimed by one of ten requests at once, over two connections', async () => {
    const user = await added()
    const winner = await winnerOf((index, queries) => reclaimed(user, { passwordHash: `hash ${index}` }, queries))
    assert.equal((await findUserById(db, user.id))?.passwordHash, `hash ${winner}`)
  })

  test('keeps the time of the first verification', async () => {
    const user = await added()
    const verify = (nowMs: number) =>
      db.inTransaction((transaction) =>
        createOwnership(recordedChange(nowMs).change).markVerified(transaction, user.id, {}),
      )
    await verify(T0 + 1)
    await verify(T0 + 2)
    await db.inTransaction((transaction) => markVerified(transaction, user.id, {}))
    assert.equal((await findUserById(db, user.id))?.emailVerifiedAtMs, T0 + 1)
  })
})

describe('a first password', () => {
  test('is set by one of ten requests at once that have all found none, over two connections', async () => {
    const { id } = await added({ passwordHash: null })
    let waiting = 10
    const allHaveRead = Promise.withResolvers<void>()
    const setFirst = (next: string, queries: typeof db) =>
      createPasswordChange({
        db: queries,
        clock: { now: () => T0 },
        passwords: { hash: async (password) => password },
        change: recordedChange(T0).change,
        async requireGoodPassword(password) {
          waiting -= 1
          if (waiting === 0) allHaveRead.resolve()
          await allHaveRead.promise
          return password
        },
        requireOwnPassword: () => assert.fail('there is none'),
        requireSession: () => assert.fail('there is no password to change'),
        requireRecentAuthentication: async () => {},
      })(id, { current: '', next, sessionId: '' })

    const winner = await winnerOf(async (index, queries) => {
      try {
        await setFirst(`hash ${index}`, queries)
        return true
      } catch (error) {
        assert.ok(error instanceof AppError && error.code === 'conflict', String(error))
        return false
      }
    })
    assert.equal((await findUserById(db, id))?.passwordHash, `hash ${winner}`)
  })
})
