// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isUniqueViolation } from '../../src/storage/database.ts'
import {
  deleteEndedReservations,
  findFormerEmails,
  isEmailTaken,
  releaseEmail,
  reserveEmail,
  updateEmail,
} from '../../src/accounts/email-store.ts'
import { deleteUser, findUserById, insertUser, type UserRecord } from '../../src/accounts/user-store.ts'
import { freshDatabase } from './databases.ts'
import { newUser } from './rows.ts'

const { db } = await freshDatabase()
const nowMs = Date.now()

const added = async (given: Partial<UserRecord> = {}): Promise<UserRecord> => {
  const user = newUser(given)
  await db.inTransaction((transaction) => insertUser(transaction, user))
  return user
}

const change = (id: string, to: string) =>
  db.inTransaction((transaction) =>
    updateEmail(transaction, { id, email: { shown: to, lower: to.toLowerCase() }, verifiedAtMs: nowMs, nowMs }),
  )

/** A user who has just changed their address; the old one is reserved for a minute. */
const moved = async () => {
  const user = await added()
  const next = `next.${user.emailLower}`
  await db.inTransaction(async (transaction) => {
    await updateEmail(transaction, { id: user.id, email: { shown: next, lower: next }, verifiedAtMs: nowMs, nowMs })
    await reserveEmail(transaction, { emailLower: user.emailLower, userId: user.id, untilMs: nowMs + 60_000 })
  })
  return { id: user.id, old: user.emailLower, next }
}

const assertTaken = (work: Promise<unknown>) =>
  assert.rejects(work, (error) => isUniqueViolation(error, 'users.email_lower'))

describe('addresses of accounts', () => {
  test('an address is changed, and is no longer verified where nobody has proved it', async () => {
    const { id } = await added({ emailVerifiedAtMs: nowMs - 5 })
    await change(id, 'New.Name@Example.com')
    const user = await findUserById(db, id)
    assert.deepEqual(
      [user?.email, user?.emailLower, user?.emailVerifiedAtMs],
      ['New.Name@Example.com', 'new.name@example.com', nowMs],
    )
    const email = { shown: 'x@example.com', lower: 'x@example.com' }
    await updateEmail(db, { id, email, verifiedAtMs: undefined, nowMs })
    assert.equal((await findUserById(db, id))?.emailVerifiedAtMs, undefined)
  })

  test('a reserved address is taken for a new account and for a change, and for its former user it is free', async () => {
    const { id, old } = await moved()
    const other = await added()
    await assertTaken(added({ emailLower: old, createdAtMs: nowMs }))
    await assertTaken(change(other.id, old))
    assert.equal((await findUserById(db, other.id))?.emailLower, other.emailLower)
    assert.deepEqual(await findFormerEmails(db, id, nowMs), [old])
    await change(id, old)
    assert.equal((await findUserById(db, id))?.emailLower, old)
  })

  test('an address is taken that an account has, or could get back', async () => {
    const { old, next } = await moved()
    const found = [old, next, `free.${next}`].map((email) => isEmailTaken(db, email, nowMs))
    assert.deepEqual(await Promise.all(found), [true, true, false])
  })

  test('a reservation ends with its time, by release, and with its user', async () => {
    const { id, old } = await moved()
    assert.equal(await isEmailTaken(db, old, nowMs + 60_000), false)
    assert.deepEqual(await findFormerEmails(db, id, nowMs + 60_000), [])
    assert.equal(await deleteEndedReservations(db, nowMs), 0)
    assert.ok((await deleteEndedReservations(db, nowMs + 60_000)) >= 1)
    const released = await moved()
    assert.equal(await releaseEmail(db, released.old, id), 0, 'of another user')
    assert.equal(await releaseEmail(db, released.old, released.id), 1)
    await added({ emailLower: released.old })
    const gone = await moved()
    await deleteUser(db, gone.id)
    await added({ emailLower: gone.old })
  })

  test('an address is reserved again for the user who has it then', async () => {
    const { old } = await moved()
    const other = await added({ emailLower: old, createdAtMs: nowMs + 60_000 })
    await reserveEmail(db, { emailLower: old, userId: other.id, untilMs: nowMs + 90_000 })
    assert.deepEqual(await findFormerEmails(db, other.id, nowMs), [], 'it is their own')
    await change(other.id, `other.${old}`)
    assert.deepEqual(await findFormerEmails(db, other.id, nowMs), [old])
  })

  test('a signup that waits for a change to commit finds the address reserved', async () => {
    const user = await added()
    const next = `next.${user.emailLower}`
    let signup: Promise<unknown> | undefined
    await db.inTransaction(async (transaction) => {
      const email = { shown: next, lower: next }
      await updateEmail(transaction, { id: user.id, email, verifiedAtMs: nowMs, nowMs })
      signup ??= added({ emailLower: user.emailLower, createdAtMs: nowMs }).then(
        () => 'added',
        (error: unknown) => (isUniqueViolation(error, 'users.email_lower') ? 'taken' : error),
      )
      await new Promise((resolve) => setTimeout(resolve, 30))
      await reserveEmail(transaction, { emailLower: user.emailLower, userId: user.id, untilMs: nowMs + 60_000 })
    })
    assert.equal(await signup, 'taken')
  })
})
