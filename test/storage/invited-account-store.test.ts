// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { enterInvitedUser, makeUserInvited } from '../../src/accounts/invited-account-store.ts'
import { findUserById, insertUser, type UserRecord } from '../../src/accounts/user-store.ts'
import { freshDatabase } from './databases.ts'
import { newUser, T0 } from './rows.ts'

const { db, open } = await freshDatabase()
const other = await open()

const added = async (given: Partial<UserRecord>): Promise<UserRecord> => {
  const user = newUser(given)
  await db.inTransaction((transaction) => insertUser(transaction, user))
  return user
}

const INVITED = { passwordHash: null, isSelfMade: false, invitedAtMs: T0, roles: ['editor'] }

const enter = (user: UserRecord, given: { emailLower?: string; passwordHash?: string } = {}, queries = db) =>
  enterInvitedUser(queries, {
    id: user.id,
    emailLower: user.emailLower,
    passwordHash: undefined,
    nowMs: T0 + 5,
    ...given,
  })

describe('an invited account', () => {
  test('is entered once: it has the password of the first, and its roles', async () => {
    const user = await added(INVITED)
    assert.equal(await enter(user, { passwordHash: 'first' }), 1)
    assert.equal(await enter(user, { passwordHash: 'second' }), 0)
    assert.equal(await enter(user), 0)
    const entered = { ...user, passwordHash: 'first', emailVerifiedAtMs: T0 + 5, invitedAtMs: undefined }
    assert.deepEqual(await findUserById(db, user.id), entered)
  })

  test('is entered by one of ten requests at once, over two connections', async () => {
    const user = await added(INVITED)
    const results = await Promise.all(
      Array.from({ length: 10 }, (_, index) => enter(user, { passwordHash: `hash ${index}` }, index % 2 ? db : other)),
    )
    assert.equal(results.filter((changed) => changed === 1).length, 1)
    const winner = results.indexOf(1)
    assert.equal((await findUserById(db, user.id))?.passwordHash, `hash ${winner}`)
  })

  test('keeps the time at which its email was verified before', async () => {
    const user = await added({ ...INVITED, emailVerifiedAtMs: T0 + 1 })
    assert.equal(await enter(user), 1)
    assert.equal((await findUserById(db, user.id))?.emailVerifiedAtMs, T0 + 1)
  })

  test('is not entered with another email, while it is disabled, and never where it was not invited', async () => {
    assert.equal(await enter(await added(INVITED), { emailLower: 'other@example.com' }), 0)
    assert.equal(await enter(await added({ ...INVITED, disabled: true })), 0)
    const user = await added({})
    assert.equal(await enter(user), 0)
    assert.deepEqual(await findUserById(db, user.id), user)
  })

  test('is made of a self-made account whose email nobody has proved, and of no other', async () => {
    const user = await added({ roles: ['former'] })
    const make = ({ id }: UserRecord) => makeUserInvited(db, { id, roles: ['new'], nowMs: T0 + 7 })
    assert.equal(await make(user), 1)
    const made = { ...user, passwordHash: null, roles: ['new'], isSelfMade: false, invitedAtMs: T0 + 7 }
    assert.deepEqual(await findUserById(db, user.id), made)
    for (const given of [{ emailVerifiedAtMs: T0 }, { isSelfMade: false }, { disabled: true }, INVITED]) {
      const kept = await added(given)
      assert.equal(await make(kept), 0)
      assert.deepEqual(await findUserById(db, kept.id), kept)
    }
  })
})
