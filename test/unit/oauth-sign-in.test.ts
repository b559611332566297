// Runs once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { insertIdentity } from '../../src/oauth/identity-store.ts'
import { type ProviderProfile, newIdentity } from '../../src/oauth/providers/profile.ts'
import { createSignIn } from '../../src/oauth/sign-in.ts'
import type { Database } from '../../src/storage/database.ts'
import { createEmailDomains, createNames } from '../../src/accounts/fields.ts'
import { insertUser } from '../../src/accounts/user-store.ts'
import { freshDatabase } from '../storage/databases.ts'
import { newUser, T0 } from '../storage/rows.ts'

const { db } = await freshDatabase()

/** The database, in which something happens right after the first query for an identity. */
const withInterruption = (interrupt: () => Promise<void>): Database => {
  let isOver = false
  return {
    ...db,
    get: async (sql, ...values) => {
      const row = await db.get<never>(sql, ...values)
      if (isOver || !sql.includes('FROM identities')) return row
      isOver = true
      await interrupt()
      return row
    },
  }
}

test('a user whose account another tab creates between two queries is signed in, and need not link the account', async () => {
  const user = newUser({ passwordHash: null, emailVerifiedAtMs: T0 })
  const profile: ProviderProfile = {
    provider: 'corp',
    issuer: 'https://id.corp.example',
    subject: user.id,
    email: { shown: user.email, lower: user.emailLower },
    emailVerified: true,
    hostedDomain: undefined,
    signedInAtMs: undefined,
    name: user.username,
  }
  const otherTab = () =>
    db.inTransaction(async (transaction) => {
      await insertUser(transaction, user)
      await insertIdentity(transaction, newIdentity(profile, user.id, T0))
    })
  const { signIn } = createSignIn({
    db: withInterruption(otherTab),
    clock: { now: () => T0 },
    users: { createFromProfile: () => assert.fail('nobody is created') },
    enterInvited: () => assert.fail('nobody was invited'),
    signupOpen: true,
    emailDomains: createEmailDomains([]),
    names: createNames('off'),
    describeAccount: () => assert.fail('no account is to be linked'),
    markVerified: () => assert.fail('the email is verified already'),
    factorOf: () => 'asked',
    recordEvent: () => assert.fail('nothing has happened'),
  })
  const result = await signIn(profile, { limitSignup: () => assert.fail('it is no signup'), caller: {} })
  assert.ok('grant' in result, 'signed in')
  assert.equal(result.grant.userId, user.id)
})
