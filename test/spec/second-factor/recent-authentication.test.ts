// Runs on SQLite.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { currentUser, newPerson, signedUp } from '../../support/client/accounts.ts'
import { assertPage, assertRedirect, assertSignedIn } from '../../support/client/assertions.ts'
import type { Form, UserAgent } from '../../support/client/user-agent.ts'
import { openDatabase } from '../../support/database/database.ts'
import { startOpenIdProvider } from '../../support/provider/openid-provider.ts'
import { newOpenIdUser } from '../../support/provider/openid-provider-users.ts'
import { startServiceWith } from '../../support/provider/provider-service.ts'
import { signInBy } from '../../support/provider/provider-sign-in.ts'

const corp = await startOpenIdProvider()
const vouch = await startOpenIdProvider()
const service = await startServiceWith({ corp, vouch }, { env: { SVC_OAUTH_VOUCH_SECOND_FACTOR: 'trusted' } })
const database = await openDatabase(service)

const CONFIRM = '/auth/account/confirm'
const CONFIRM_MFA = `${CONFIRM}?acr=mfa`

/** The account has a passkey from now on. */
const addPasskey = (userId: string) =>
  database.rows(
    `INSERT INTO passkeys (id, user_id, credential_id, public_key, name, aaguid, transports, sign_count,
       backup_eligible, backed_up, created_at) VALUES (?, ?, ?, 'key', 'Key', 'none', '[]', 0, 0, 0, 0)`,
    randomUUID(),
    userId,
    randomUUID(),
  )

/** When and how the user of every session last authenticated. */
const setAuthentication = (userId: string, amr: string, minutesAgo = 1) =>
  database.rows(
    'UPDATE sessions SET amr = ?, authenticated_at = ? WHERE user_id = ?',
    amr,
    Date.now() - minutesAgo * 60_000,
    userId,
  )

const withPasskey = async () => {
  const { agent, person } = await signedUp(service)
  const { id } = await currentUser(agent)
  await addPasskey(id)
  return { agent, person, id }
}

/** The changes that need recent authentication, as forms of a user with this password. */
const changes = (password: string): [path: string, form: Form][] => [
  ['/auth/oauth/corp', { intent: 'link' }],
  ['/auth/account/identities', { identity_id: 'x' }],
  ['/auth/account/delete', { password }],
]

const assertMfaMissing = async (agent: UserAgent, password: string) => {
  for (const [path, form] of changes(password)) assertRedirect(await agent.post(path, form), CONFIRM_MFA)
  await assertSignedIn(agent)
}

/** Where a provider's sign-in begins, the change was permitted. */
const assertPermitted = async (agent: UserAgent) => {
  const answer = await agent.post('/auth/oauth/corp', { intent: 'link' })
  assert.equal(answer.status, 303)
  assert.match(answer.location ?? '', /^http/)
}

describe('with a passkey or a second factor, changes need mfa within ten minutes', () => {
  test('a password alone, however fresh, permits none of them, and nothing is changed', async () => {
    const { agent, person } = await withPasskey()
    await assertMfaMissing(agent, person.password)
    assert.equal((await currentUser(agent)).email, person.email)
  })

  test('the account page leads to confirmation in place of the forms', async () => {
    const { agent } = await withPasskey()
    const { text } = await agent.get('/auth/account')
    assert.match(text, /href="\/auth\/account\/confirm\?/)
    assert.doesNotMatch(text, /action="\/auth\/account\/delete"|name="intent"/)
  })

  test('mfa does, for ten minutes', async () => {
    const { agent, person, id } = await withPasskey()
    for (const amr of ['pwd otp mfa', 'pwd mfa', 'fed mfa', 'hwk mfa', 'swk mfa']) {
      await setAuthentication(id, amr, 9)
      await assertPermitted(agent)
      await setAuthentication(id, amr, 11)
      await assertMfaMissing(agent, person.password)
    }
  })

  test('one factor alone never does, not even a code', async () => {
    const { agent, person, id } = await withPasskey()
    for (const amr of ['pwd', 'fed', 'otp', '']) {
      await setAuthentication(id, amr)
      await assertMfaMissing(agent, person.password)
    }
  })

  test('a provider does that is trusted with the second factor, and no other', async () => {
    for (const [name, provider] of Object.entries({ corp, vouch })) {
      const person = newOpenIdUser()
      const { agent } = await signedUp(service)
      const visit = (url: string) => provider.visit(url, { person })
      assertRedirect(await signInBy(agent, name, visit, { intent: 'link' }), '/auth/account?done=linked')
      await addPasskey((await currentUser(agent)).id)
      const back = await signInBy(agent, name, visit, { intent: 'confirm' })
      assertRedirect(back, '/auth/account?done=confirmed')
      const answer = await agent.post('/auth/oauth/corp', { intent: 'link' })
      if (name === 'vouch') assert.match(answer.location ?? '', /^http/)
      else assertRedirect(answer, CONFIRM_MFA)
    }
  })

  test('an account with neither deletes itself with the password alone, as before', async () => {
    const { agent, person } = await signedUp(service)
    await setAuthentication((await currentUser(agent)).id, 'pwd', 600)
    assertPage(await agent.post('/auth/account/delete', { password: 'wrong' }), 401)
    assertRedirect(await agent.post('/auth/account/delete', { password: person.password }), '/auth/login?done=deleted')
  })

  test('with mfa, the deletion still asks for the password', async () => {
    const { agent, person, id } = await withPasskey()
    await setAuthentication(id, 'hwk mfa')
    assertPage(await agent.post('/auth/account/delete', { password: 'wrong' }), 401)
    assertRedirect(await agent.post('/auth/account/delete', { password: person.password }), '/auth/login?done=deleted')
  })
})

const authenticationOf = async (userId: string) => {
  const rows = await database.rows('SELECT amr, authenticated_at FROM sessions WHERE user_id = ?', userId)
  assert.equal(rows.length, 1)
  return { amr: rows[0]?.amr, minutesAgo: Math.round((Date.now() - Number(rows[0]?.authenticated_at)) / 60_000) }
}

describe('a changed password', () => {
  for (const [before, after] of [
    [
      { amr: 'pwd otp mfa', minutesAgo: 60 },
      { amr: 'pwd otp mfa', minutesAgo: 60 },
    ],
    [
      { amr: 'swk mfa', minutesAgo: 2 },
      { amr: 'swk mfa', minutesAgo: 2 },
    ],
    [
      { amr: 'pwd', minutesAgo: 60 },
      { amr: 'pwd', minutesAgo: 0 },
    ],
    [
      { amr: 'fed', minutesAgo: 5 },
      { amr: 'pwd', minutesAgo: 0 },
    ],
  ] as const) {
    test(`in a session of ${before.amr}, ${before.minutesAgo} minutes old, leaves ${after.amr}`, async () => {
      const { agent, person } = await signedUp(service)
      const { id } = await currentUser(agent)
      await setAuthentication(id, before.amr, before.minutesAgo)
      const form = { current_password: person.password, new_password: newPerson().password }
      assertRedirect(await agent.post('/auth/account/password', form), '/auth/account?done=password')
      assert.deepEqual(await authenticationOf(id), after)
    })
  }
})
