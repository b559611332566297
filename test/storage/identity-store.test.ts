// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { randomUUID, randomUUIDv7 } from 'node:crypto'
import { describe, test } from 'node:test'
import { leastUuidAt } from '../../src/lib/uuid.ts'
import {
  deleteIdentitiesOfUser,
  deleteIdentity,
  deleteUsedStatesBefore,
  findIdentitiesOfUser,
  findIdentity,
  type Identity,
  insertIdentity,
  insertUsedState,
  lockIdentity,
} from '../../src/oauth/identity-store.ts'
import { isUniqueViolation } from '../../src/storage/database.ts'
import { markEmailVerified, takeOverUser } from '../../src/accounts/email-proof-store.ts'
import { insertPasswordHash } from '../../src/accounts/passwords/password-hash-store.ts'
import { deleteUser, findUserById, insertUser, type UserRecord } from '../../src/accounts/user-store.ts'
import { freshDatabase } from './databases.ts'
import { newUser, T0 } from './rows.ts'

const { db, open } = await freshDatabase()
const other = await open()

const addedUser = async (given: Partial<UserRecord> = {}): Promise<UserRecord> => {
  const user = newUser(given)
  await insertUser(db, user)
  return user
}

const newIdentity = (userId: string, given: Partial<Identity> = {}): Identity => ({
  id: randomUUIDv7(),
  userId,
  provider: 'corp',
  issuer: 'https://id.corp.example',
  subject: randomUUID(),
  email: 'somebody@example.com',
  createdAtMs: T0,
  ...given,
})

const added = async (userId: string, given: Partial<Identity> = {}): Promise<Identity> => {
  const identity = newIdentity(userId, given)
  assert.equal(await insertIdentity(db, identity), 1)
  return identity
}

const isTaken = (error: unknown) => isUniqueViolation(error, 'identities.subject')

describe('identities', () => {
  test('are found as they were inserted, by issuer and subject', async () => {
    const { id } = await addedUser()
    for (const email of ['Ö"\\\'é😀@example.com', undefined]) {
      const identity = await added(id, { subject: `'"\\;-- %_é ${randomUUID()}`, email, createdAtMs: T0 + 1 })
      assert.deepEqual(await findIdentity(db, identity), identity)
    }
  })

  test('are found by their exact issuer and subject only', async () => {
    const { id } = await addedUser()
    const identity = await added(id, { issuer: 'https://Id.example/a_b', subject: `Sub_${randomUUID()}` })
    const { issuer, subject } = identity
    const near = [
      { issuer, subject: subject.toLowerCase() },
      { issuer, subject: `${subject} ` },
      { issuer, subject: subject.replace('_', 'x') },
      { issuer: `${issuer}/`, subject },
      { issuer: issuer.toLowerCase(), subject },
      { issuer: subject, subject: issuer },
      { issuer: '', subject },
      { issuer, subject: '' },
    ]
    for (const asked of near) assert.equal(await findIdentity(db, asked), undefined, JSON.stringify(asked))
  })

  test('are unique by issuer and subject together, for all users', async () => {
    const [user, stranger] = [await addedUser(), await addedUser()]
    const { issuer, subject } = await added(user.id)
    for (const userId of [user.id, stranger.id]) {
      await assert.rejects(insertIdentity(other, newIdentity(userId, { issuer, subject, provider: 'x' })), isTaken)
    }
    await added(stranger.id, { issuer, subject: `${subject}x` })
    await added(stranger.id, { issuer: `${issuer}/x`, subject })
  })

  test('of many requests that link one at the same time, one succeeds', async () => {
    const { issuer, subject } = newIdentity('')
    const users = await Promise.all(Array.from({ length: 20 }, () => addedUser()))
    const inserted = await Promise.allSettled(
      users.map(({ id }, index) => insertIdentity(index % 2 ? db : other, newIdentity(id, { issuer, subject }))),
    )
    const won = inserted.flatMap(({ status }, index) => (status === 'fulfilled' ? users[index]?.id : []))
    assert.equal(won.length, 1)
    for (const each of inserted) assert.ok(each.status === 'fulfilled' || isTaken(each.reason))
    assert.equal((await findIdentity(db, { issuer, subject }))?.userId, won[0])
  })

  test('need a user, and are deleted with the user', async () => {
    await assert.rejects(insertIdentity(db, newIdentity(randomUUID())))
    const user = await addedUser()
    const identity = await added(user.id)
    await deleteUser(db, user.id)
    assert.equal(await findIdentity(db, identity), undefined)
    assert.equal(await lockIdentity(db, identity.id, user.id), false)
    await added((await addedUser()).id, { issuer: identity.issuer, subject: identity.subject })
  })

  test('of a user are listed, oldest first, without those of other users', async () => {
    const [user, bystander] = [await addedUser(), await addedUser()]
    const ids = ['b', 'A', 'a_', 'a'].map((id) => `${id}-${user.id}`)
    for (const id of ids) await added(user.id, { id })
    await added(bystander.id)
    const listed = await findIdentitiesOfUser(db, user.id)
    assert.deepEqual(
      listed.map(({ id }) => id),
      [...ids].sort(),
    )
    assert.deepEqual(await findIdentitiesOfUser(db, 'nobody'), [])
  })

  test('are held and deleted by their own user only', async () => {
    const [user, stranger] = [await addedUser(), await addedUser()]
    const identity = await added(user.id)
    const isHeld = (userId: string) => db.inTransaction((transaction) => lockIdentity(transaction, identity.id, userId))
    assert.deepEqual([await isHeld(user.id), await isHeld(stranger.id)], [true, false])
    assert.equal(await deleteIdentity(db, { id: identity.id, userId: stranger.id, nowMs: T0 }), 0)
    assert.deepEqual(await findIdentity(other, identity), identity)
    assert.equal(await deleteIdentity(db, { id: identity.id, userId: user.id, nowMs: T0 }), 1)
    assert.equal(await deleteIdentity(db, { id: identity.id, userId: user.id, nowMs: T0 }), 0)
    assert.equal(await isHeld(user.id), false)
  })

  test('of a user are deleted all at once, without those of other users', async () => {
    const [user, stranger] = [await addedUser(), await addedUser()]
    await added(user.id)
    await added(user.id)
    const stays = await added(stranger.id)
    assert.equal(await deleteIdentitiesOfUser(db, { userId: user.id, sinceMs: 0, nowMs: T0 }), 2)
    assert.deepEqual(await findIdentitiesOfUser(db, user.id), [])
    assert.deepEqual(await findIdentitiesOfUser(db, stranger.id), [stays])
  })
})

describe('consumed states of sign-ins', () => {
  test('are consumed once, even by many requests at once', async () => {
    const id = randomUUIDv7()
    const uses = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) => insertUsedState(index % 2 ? db : other, id)),
    )
    assert.equal(uses.filter(({ status }) => status === 'fulfilled').length, 1)
    for (const use of uses) {
      assert.ok(use.status === 'fulfilled' || isUniqueViolation(use.reason, 'used_oauth_states.id'))
    }
  })

  test('are deleted when they are older than a given time', async (t) => {
    const { db } = await freshDatabase(t)
    const ids = [T0 - 1, T0, T0 + 1].map((timeMs) => leastUuidAt(timeMs))
    for (const id of ids) await insertUsedState(db, id)
    assert.equal(await deleteUsedStatesBefore(db, leastUuidAt(T0)), 1)
    assert.equal(await deleteUsedStatesBefore(db, leastUuidAt(T0)), 0)
    await insertUsedState(db, leastUuidAt(T0 - 1))
    await assert.rejects(insertUsedState(db, leastUuidAt(T0)))
    const fresh = randomUUIDv7()
    await insertUsedState(db, fresh)
    await deleteUsedStatesBefore(db, leastUuidAt(Date.now() - 60_000))
    await assert.rejects(insertUsedState(db, fresh), 'the ids that sign-ins have are in order of time')
  })
})

const takenOver = (user: UserRecord, given: object = {}) =>
  takeOverUser(db, {
    id: user.id,
    emailLower: user.emailLower,
    passwordHash: undefined,
    nowMs: T0 + 5,
    ...given,
  })

describe('an account whose email is not verified', () => {
  test('is taken over by the owner of its email, without its password and its roles', async () => {
    const user = await addedUser({ roles: ['a'] })
    assert.equal(await takenOver(user), 1)
    assert.deepEqual(await findUserById(db, user.id), {
      ...user,
      passwordHash: null,
      roles: [],
      emailVerifiedAtMs: T0 + 5,
    })
    assert.equal(await takenOver(user), 0)
  })

  test('keeps the roles that an operator gave it when it was made, and gets the password of its owner', async () => {
    const user = await addedUser({ roles: ['a'], isSelfMade: false, invitedAtMs: T0 })
    assert.equal(await takenOver(user, { passwordHash: 'theirs' }), 1)
    const { roles, passwordHash, invitedAtMs } = (await findUserById(db, user.id)) ?? newUser()
    assert.deepEqual([roles, passwordHash, invitedAtMs], [['a'], 'theirs', undefined])
  })

  test('is not taken over with another email, when disabled, or when the email is verified', async () => {
    const user = await addedUser()
    const disabled = await addedUser({ disabled: true })
    const proven = await addedUser({ emailVerifiedAtMs: T0 })
    assert.equal(await takenOver(user, { emailLower: 'somebody.else@example.com' }), 0)
    assert.equal(await takenOver(user, { id: randomUUID() }), 0)
    assert.equal(await takenOver(disabled), 0)
    assert.equal(await takenOver(proven), 0)
    for (const each of [user, disabled, proven]) assert.deepEqual(await findUserById(db, each.id), each)
  })

  test('of many requests that take it over at once, one succeeds', async () => {
    const user = await addedUser()
    const changes = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        takeOverUser(index % 2 ? db : other, {
          id: user.id,
          emailLower: user.emailLower,
          passwordHash: undefined,
          nowMs: T0 + index,
        }),
      ),
    )
    assert.deepEqual(changes.filter(Boolean), [1])
    assert.equal((await findUserById(db, user.id))?.emailVerifiedAtMs, T0 + changes.indexOf(1))
  })

  test('the time of the first verification is kept', async () => {
    const user = await addedUser()
    assert.equal(await markEmailVerified(db, user.id, T0 + 1), 1)
    assert.equal(await markEmailVerified(db, user.id, T0 + 2), 0)
    assert.equal((await findUserById(db, user.id))?.emailVerifiedAtMs, T0 + 1)
  })

  test('a first password is set only once, where there is none', async () => {
    const [user, without] = [await addedUser(), await addedUser({ passwordHash: null })]
    assert.equal(await insertPasswordHash(db, { id: user.id, hash: 'new', nowMs: T0 }), 0)
    const hashes = Array.from({ length: 10 }, (_, index) => `hash ${index}`)
    const changes = await Promise.all(
      hashes.map((hash, index) => insertPasswordHash(index % 2 ? db : other, { id: without.id, hash, nowMs: T0 })),
    )
    assert.deepEqual(changes.filter(Boolean), [1])
    assert.equal((await findUserById(db, without.id))?.passwordHash, hashes[changes.indexOf(1)])
    assert.deepEqual(await findUserById(db, user.id), user)
  })
})
