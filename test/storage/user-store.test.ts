// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { findSession, insertSession } from '../../src/sessions/session-store.ts'
import {
  deleteUser,
  findUserByEmail,
  findUserById,
  findUserByUsername,
  insertUser,
  lockUser,
  replacePasswordHash,
  type UserRecord,
  updateUser,
} from '../../src/accounts/user-store.ts'
import { findUsers } from '../../src/accounts/user-list-store.ts'
import { freshDatabase } from './databases.ts'
import { newSession, newUser, T0 } from './rows.ts'

const { db } = await freshDatabase()

const added = async (given: Partial<UserRecord> = {}): Promise<UserRecord> => {
  const user = newUser(given)
  assert.equal(await insertUser(db, user), 1)
  return user
}

/** The order of `sort`: by UTF-16 code units, which for ASCII are bytes. */
const inByteOrder = (texts: string[]): string[] => [...texts].sort()

describe('users', () => {
  test('are found as they were inserted: by id, email and username', async () => {
    const user = await added({
      email: "O'Hara+Tag@Example.COM",
      emailLower: "o'hara+tag@example.com",
      roles: ['admin', 'a:b_c.d-e'],
      disabled: true,
    })
    assert.deepEqual(await findUserById(db, user.id), user)
    assert.deepEqual(await findUserByEmail(db, user.emailLower), user)
    assert.deepEqual(await findUserByUsername(db, user.username), user)
    assert.deepEqual(await db.inTransaction((transaction) => lockUser(transaction, user.id)), user)
  })

  test('may have no password', async () => {
    const user = await added({ passwordHash: null })
    assert.equal((await findUserById(db, user.id))?.passwordHash, null)
    assert.equal(await replacePasswordHash(db, user.id, '', 'new'), 0)
  })

  test('are found by their exact id, email or username only', async () => {
    const user = await added({ emailLower: 'exact_ly%@example.com', username: 'exact_ly' })
    for (const near of [
      'EXACT_LY%@example.com',
      'exactxly%@example.com',
      'exact_ly@example.com',
      `${user.emailLower} `,
    ])
      assert.equal(await findUserByEmail(db, near), undefined, near)
    for (const near of ['Exact_ly', 'exactxly', 'exact_ly ', '']) {
      assert.equal(await findUserByUsername(db, near), undefined, near)
    }
    assert.equal(await findUserById(db, user.id.toUpperCase()), undefined)
    assert.equal(await db.inTransaction((transaction) => lockUser(transaction, 'nobody')), undefined)
  })

  test('are changed as a whole, without changes to other users', async () => {
    const [user, bystander] = [await added(), await added()]
    const changed: UserRecord = {
      ...user,
      email: 'Changed@Example.com',
      emailLower: 'changed@example.com',
      emailVerifiedAtMs: T0 + 1,
      username: 'changed',
      roles: ['é"\\', 'b'],
      disabled: true,
      passwordHash: 'another',
      isSelfMade: false,
      invitedAtMs: T0 + 2,
    }
    await updateUser(db, user, changed, T0)
    assert.deepEqual(await findUserById(db, user.id), changed)
    await updateUser(db, changed, user, T0)
    assert.deepEqual(await findUserById(db, user.id), user)
    assert.deepEqual(await findUserById(db, bystander.id), bystander)
  })

  test('have the time of the last change that is shown', async () => {
    let user = await added({ passwordHash: null })
    const shown = async () => {
      const row = await db.get<{ updated_at: number | null }>('SELECT updated_at FROM users WHERE id = ?', user.id)
      return row?.updated_at
    }
    assert.equal(await shown(), T0, 'never changed')
    const changes: [number | undefined, Partial<UserRecord>][] = [
      [1, { username: 'updated' }],
      [1, { username: 'updated' }],
      [3, { roles: ['a'] }],
      [3, { roles: ['a'] }],
      [5, { disabled: true }],
      [5, { disabled: true }],
      [7, { passwordHash: 'first' }],
      [7, { passwordHash: 'second' }],
      [9, { passwordHash: null }],
      [9, { passwordHash: null }],
      [11, { passwordHash: 'third' }],
      [12, { emailVerifiedAtMs: T0 + 12 }],
      [12, { emailVerifiedAtMs: T0 + 13 }],
      [14, { email: user.email.toUpperCase() }],
      [15, { invitedAtMs: T0 + 15 }],
    ]
    for (const [index, [expected, change]] of changes.entries()) {
      const after = { ...user, ...change }
      await updateUser(db, user, after, index + 1)
      user = after
      assert.equal(await shown(), expected, JSON.stringify(change))
      assert.deepEqual(await findUserById(db, user.id), user)
    }
    assert.equal(await replacePasswordHash(db, user.id, 'third', 'fourth'), 1)
    assert.equal(await shown(), 15)
  })

  test('that do not exist are not changed: 0', async () => {
    await updateUser(db, { ...newUser(), id: 'nobody' }, newUser(), T0)
    assert.equal(await findUserById(db, 'nobody'), undefined)
    assert.equal(await replacePasswordHash(db, 'nobody', 'x', 'y'), 0)
    assert.equal(await deleteUser(db, 'nobody'), 0)
  })

  test('keep their password if it is no longer the one that was checked', async () => {
    const { id, passwordHash } = await added()
    assert.equal(await replacePasswordHash(db, id, 'another', 'new'), 0)
    assert.equal(await replacePasswordHash(db, id, passwordHash ?? '', 'new'), 1)
    assert.equal(await replacePasswordHash(db, id, passwordHash ?? '', 'newer'), 0)
    assert.equal((await findUserById(db, id))?.passwordHash, 'new')
  })

  test('of many requests that replace the same checked password at once, one succeeds', async () => {
    const { id, passwordHash } = await added()
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, index) => replacePasswordHash(db, id, passwordHash ?? '', `new ${index}`)),
    )
    assert.equal(results.filter((changes) => changes === 1).length, 1)
  })

  test('are not deleted while they have sessions, which end before', async () => {
    const user = await added()
    const session = newSession(user.id)
    await insertSession(db, session)
    await assert.rejects(deleteUser(db, user.id))
    assert.equal((await findUserById(db, user.id))?.id, user.id)
    assert.equal((await findSession(db, session.id))?.id, session.id)
  })

  test('free their email and username when they are deleted', async () => {
    const user = await added()
    await deleteUser(db, user.id)
    await added({ emailLower: user.emailLower, username: user.username })
  })
})

const ODD_IDS = [
  '-a',
  '_a',
  'A',
  'B',
  'Z-',
  'a',
  'a b',
  'a-b',
  'aB',
  'a_b',
  'ab',
  'b',
  'z',
  '~',
  'é',
  '日本',
  '0',
  '00',
  '9',
  '10',
]
const ODD_EMAILS = [
  'a.b',
  'a+b',
  'a-b',
  'a_b',
  'ab',
  'a.c',
  "a'b",
  'a!b',
  'a#b',
  'a{b',
  'a~b',
  'z',
  'a',
  'A',
  'B',
  'Z',
].map((local) => `${local}@order.example.com`)

describe('users in order', () => {
  test('are listed by id, byte by byte, page by page, each once', async (t) => {
    const { db } = await freshDatabase(t)
    const ids = [...ODD_IDS, ...Array.from({ length: 30 }, () => newUser().id)]
    for (const id of ids) await insertUser(db, newUser({ id }))
    const seen: string[] = []
    for (let after = ''; ; ) {
      const page = await findUsers(db, { after, limit: 7 })
      assert.ok(page.length <= 7)
      seen.push(...page.map(({ id }) => id))
      const last = page.at(-1)
      if (!last) break
      after = last.id
    }
    const expected = ids.map((id) => Buffer.from(id)).sort(Buffer.compare)
    assert.deepEqual(seen, expected.map(String))
  })

  test('have the same order by email and by username on every database', async () => {
    for (const email of ODD_EMAILS) await added({ emailLower: email, username: email.slice(0, email.indexOf('@')) })
    const rows = await db.all<{ email_lower: string }>(
      `SELECT email_lower FROM users WHERE email_lower LIKE '%@order.example.com' ORDER BY email_lower`,
    )
    assert.deepEqual(
      rows.map(({ email_lower }) => email_lower),
      inByteOrder(ODD_EMAILS),
    )
    const above = await db.all<{ username: string }>(
      `SELECT username FROM users WHERE email_lower LIKE '%@order.example.com' AND username > ? ORDER BY username DESC`,
      'B',
    )
    const locals = ODD_EMAILS.map((email) => email.slice(0, email.indexOf('@'))).filter((local) => local > 'B')
    assert.deepEqual(
      above.map(({ username }) => username),
      inByteOrder(locals).toReversed(),
    )
  })
})
