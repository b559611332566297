// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Cause, Changes } from '../../src/accounts/change.ts'
import { CAUSES } from '../../src/accounts/causes.ts'
import { findUserById, insertUser, type UserRecord } from '../../src/accounts/user-store.ts'
import { isUniqueViolation } from '../../src/storage/database.ts'
import { freshDatabase } from './databases.ts'
import { recordedChange } from './recorded-change.ts'
import { newUser, T0 } from './rows.ts'

const { db } = await freshDatabase()

const added = async (given: Partial<UserRecord> = {}): Promise<UserRecord> => {
  const user = newUser(given)
  await db.inTransaction((transaction) => insertUser(transaction, user))
  return user
}

interface Case {
  cause: Cause
  before?: Partial<UserRecord>
  changes: Changes
  follows: string[]
}

const EMAIL = { shown: 'New@Example.com', lower: 'new@example.com' }

/** What follows from each change, in order, by its cause. */
const CASES: Record<keyof typeof CAUSES, Case[]> = {
  user: [
    {
      cause: { by: 'user' },
      changes: { username: 'other' },
      follows: ['mail username_changed', 'forget', 'record username.changed', 'announce username'],
    },
    {
      cause: { by: 'user' },
      changes: { passwordHash: 'x' },
      follows: ['record password.changed', 'event password_changed', 'mail password_changed changed'],
    },
    {
      cause: { by: 'user' },
      before: { passwordHash: null },
      changes: { passwordHash: 'x' },
      follows: ['record password.set', 'event password_changed', 'mail password_changed set'],
    },
  ],
  operator: [
    {
      cause: { by: 'operator' },
      changes: { username: 'other2' },
      follows: ['mail username_changed', 'forget', 'record username.changed', 'announce username'],
    },
    {
      cause: { by: 'operator' },
      changes: { roles: ['a'] },
      follows: ['forget', 'claims', 'record user.roles_changed {"roles":["a"]}', 'announce roles'],
    },
    { cause: { by: 'operator' }, before: { roles: ['a'] }, changes: { roles: ['a'] }, follows: [] },
    {
      cause: { by: 'operator' },
      changes: { emailVerified: true },
      follows: ['forget', 'claims', 'record email.verified', 'announce email_verified'],
    },
    {
      cause: { by: 'operator' },
      before: { emailVerifiedAtMs: T0 },
      changes: { emailVerified: false },
      follows: ['forget', 'claims', 'record email.unverified', 'announce email_verified'],
    },
    {
      cause: { by: 'operator' },
      changes: { disabled: true },
      follows: ['forget', 'record user.disabled', 'event disabled', 'announce disabled'],
    },
    {
      cause: { by: 'operator' },
      before: { disabled: true },
      changes: { disabled: true },
      follows: ['event disabled'],
    },
    {
      cause: { by: 'operator' },
      before: { disabled: true },
      changes: { disabled: false },
      follows: ['forget', 'record user.enabled', 'announce disabled'],
    },
    {
      cause: { by: 'operator' },
      changes: { passwordHash: 'x' },
      follows: ['record password.set', 'event password_set', 'mail password_changed changed'],
    },
    {
      cause: { by: 'operator' },
      before: { passwordHash: null },
      changes: { passwordHash: 'x' },
      follows: ['record password.set', 'event password_set', 'mail password_changed set'],
    },
    {
      cause: { by: 'operator' },
      before: { emailVerifiedAtMs: T0 },
      changes: { email: EMAIL, username: 'other3', roles: ['a'], disabled: true },
      follows: [
        'mail username_changed',
        'forget',
        'claims',
        'record email.changed',
        'record username.changed',
        'record user.roles_changed {"roles":["a"]}',
        'record user.disabled',
        'event email_changed',
        'mail email_changed',
        'leave New@Example.com',
        'event disabled',
        'announce email,username,roles,disabled,email_verified',
      ],
    },
  ],
  theft: [
    {
      cause: { by: 'theft' },
      changes: { email: { shown: 'Theft@example.com', lower: 'theft@example.com' } },
      follows: [
        'forget',
        'claims',
        'record email.change_cancelled {"reason":"stolen"}',
        'event email_taken_back',
        'record email.changed',
        'mail email_changed',
        'announce email',
      ],
    },
    {
      cause: { by: 'theft' },
      changes: {},
      follows: ['record email.change_cancelled {"reason":"stolen"}', 'event email_taken_back'],
    },
  ],
  confirmation: [
    {
      cause: { by: 'confirmation', askedAtMs: 7 },
      changes: { email: { shown: 'Confirmed@example.com', lower: 'confirmed@example.com' }, emailVerified: true },
      follows: [
        'forget',
        'claims',
        'record email.changed',
        'event email_changed',
        'mail email_changed',
        'leave Confirmed@example.com 7',
        'announce email,email_verified',
      ],
    },
  ],
  undo: [
    {
      cause: { by: 'undo', sinceMs: 7, signsInWith: 'password' },
      changes: {
        email: { shown: 'Back@example.com', lower: 'back@example.com' },
        emailVerified: true,
        passwordHash: 'x',
      },
      follows: [
        'forget',
        'claims',
        'record email.change_undone',
        'event email_undone',
        'record password.reset {"method":"password"}',
        'mail email_changed',
        'mail password_changed reset',
        'announce email,email_verified',
      ],
    },
  ],
  proof: [
    {
      cause: { by: 'proof' },
      changes: { emailVerified: true },
      follows: ['forget', 'claims', 'record email.verified', 'announce email_verified'],
    },
    {
      cause: { by: 'proof' },
      before: { emailVerifiedAtMs: T0 },
      changes: { emailVerified: true },
      follows: [],
    },
  ],
  reset: [
    {
      cause: { by: 'reset', signsInWith: 'password' },
      changes: { passwordHash: 'x', emailVerified: true },
      follows: [
        'forget',
        'claims',
        'record email.verified',
        'record password.reset {"method":"password"}',
        'event password_reset',
        'mail password_changed reset',
        'announce email_verified',
      ],
    },
    {
      cause: { by: 'reset', signsInWith: 'corp' },
      changes: { passwordHash: null },
      follows: ['record password.reset {"method":"corp"}', 'event password_reset'],
    },
  ],
  not_me: [{ cause: { by: 'not_me' }, changes: { passwordHash: null }, follows: [] }],
  invitation: [
    {
      cause: { by: 'invitation' },
      changes: { username: 'other4', roles: ['a'] },
      follows: [
        'forget',
        'claims',
        'record username.changed',
        'record user.roles_changed {"roles":["a"]}',
        'announce username,roles',
      ],
    },
  ],
  entry: [
    {
      cause: { by: 'entry' },
      before: { passwordHash: null, isSelfMade: false, invitedAtMs: T0 },
      changes: { passwordHash: 'x', emailVerified: true, username: 'other5' },
      follows: [
        'forget',
        'claims',
        'record signup {"method":"invitation"}',
        'event taken_over',
        'record email.verified',
        'record username.changed',
        'announce username,email_verified',
      ],
    },
  ],
  reclaim: [
    {
      cause: { by: 'reclaim', method: 'corp' },
      before: { roles: ['a'] },
      changes: { passwordHash: null, emailVerified: true, roles: [] },
      follows: [
        'forget',
        'claims',
        'record identity.taken_over {"method":"corp"}',
        'event taken_over',
        'record email.verified',
        'record user.roles_changed {"roles":[]}',
        'announce roles,email_verified',
      ],
    },
  ],
  reclaim_by_reset: [
    {
      cause: { by: 'reclaim_by_reset', method: 'link', signsInWith: 'password' },
      changes: { passwordHash: 'x', emailVerified: true },
      follows: [
        'forget',
        'claims',
        'record identity.taken_over {"method":"link"}',
        'event taken_over',
        'record email.verified',
        'record password.reset {"method":"password"}',
        'mail password_changed reset',
        'announce email_verified',
      ],
    },
  ],
  reclaim_by_verification: [
    {
      cause: { by: 'reclaim_by_verification', method: 'link', signsInWith: 'password' },
      changes: { passwordHash: 'x', emailVerified: true },
      follows: [
        'forget',
        'claims',
        'record identity.taken_over {"method":"link"}',
        'event taken_over',
        'record email.verified',
        'record password.reset {"method":"password"}',
        'mail account_taken_over',
        'announce email_verified',
      ],
    },
  ],
  reclaim_by_sign_in: [
    {
      cause: { by: 'reclaim_by_sign_in', method: 'link' },
      changes: { passwordHash: null, emailVerified: true },
      follows: [
        'forget',
        'claims',
        'record identity.taken_over {"method":"link"}',
        'event taken_over',
        'record email.verified',
        'mail account_taken_over',
        'announce email_verified',
      ],
    },
  ],
}

describe('a change of a user', () => {
  for (const [by, cases] of Object.entries(CASES)) {
    for (const { cause, before, changes, follows } of cases) {
      const given = before ? ` of ${JSON.stringify(before)}` : ''
      test(`by ${by}: ${JSON.stringify(changes)}${given}`, async () => {
        const { change, followed } = recordedChange(T0 + 5)
        const user = await added(before)
        const { after, disconnected } = await db.inTransaction((transaction) => {
          followed.length = 0
          return change(transaction, user.id, changes, cause)
        })
        assert.deepEqual(followed, follows)
        assert.deepEqual(await findUserById(db, user.id), after)
        assert.equal(disconnected.length, follows.filter((each) => each.startsWith('event ')).length)
      })
    }
  }

  test('to the same address in other letters keeps its verification, and tells nobody', async () => {
    const user = await added({ emailVerifiedAtMs: T0 })
    const { change, followed } = recordedChange(T0 + 5)
    const shown = user.email.toUpperCase()
    const changes = { email: { shown, lower: user.emailLower }, emailVerified: true }
    await db.inTransaction((transaction) => change(transaction, user.id, changes, { by: 'operator' }))
    assert.deepEqual(followed, ['forget', 'claims', 'record email.changed', 'announce email'])
    assert.deepEqual(await findUserById(db, user.id), { ...user, email: shown })
  })

  test('to the own address after a theft leaves it as verified as it was', async () => {
    const user = await added({ emailVerifiedAtMs: T0 })
    const { change } = recordedChange(T0 + 5)
    const changes = { email: { shown: user.email, lower: user.emailLower } }
    const { after } = await db.inTransaction((transaction) => change(transaction, user.id, changes, { by: 'theft' }))
    assert.deepEqual(after, user)
  })

  test('to an address that has been verified before: that time counts, unless it is the address now', async () => {
    const user = await added({ emailVerifiedAtMs: T0 })
    const { change } = recordedChange(T0 + 5)
    const undo = (email: string) =>
      db.inTransaction((transaction) => {
        const changes = { email: { shown: email, lower: email }, emailVerified: true, verifiedAtMs: T0 - 5 }
        return change(transaction, user.id, changes, { by: 'undo', sinceMs: T0 })
      })
    assert.equal((await undo(user.email)).after.emailVerifiedAtMs, T0)
    assert.equal((await undo(`former.${user.email}`)).after.emailVerifiedAtMs, T0 - 5)
  })

  test('is refused for a taken email or username, and for a user who does not exist', async () => {
    const [user, known] = [await added(), await added()]
    const { change } = recordedChange(T0 + 5)
    const apply = (id: string, changes: Changes) =>
      db.inTransaction((transaction) => change(transaction, id, changes, { by: 'operator' }))
    const email = { shown: known.email, lower: known.emailLower }
    await assert.rejects(apply(user.id, { email }), (error) => isUniqueViolation(error, 'users.email_lower'))
    await assert.rejects(apply(user.id, { username: known.username }), (error) =>
      isUniqueViolation(error, 'users.username'),
    )
    await assert.rejects(apply('nobody', { roles: [] }), { code: 'not_found' })
    assert.deepEqual(await findUserById(db, user.id), user)
  })
})
