// Runs on SQLite.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { currentUser, newAgent, newPerson } from '../../support/client/accounts.ts'
import { assertPage, assertRedirect, assertSignedOut } from '../../support/client/assertions.ts'
import type { UserAgent } from '../../support/client/user-agent.ts'
import { openDatabase } from '../../support/database/database.ts'
import { createAuthenticator } from '../../support/passkeys/authenticator.ts'
import { loginOptions, postJson, registrationOptions } from '../../support/passkeys/passkeys.ts'
import { startOpenIdProvider } from '../../support/provider/openid-provider.ts'
import { newOpenIdUser, type OpenIdUser } from '../../support/provider/openid-provider-users.ts'
import { PATIENT, startServiceWith } from '../../support/provider/provider-service.ts'
import { returnFromProvider, signInBy, startAt } from '../../support/provider/provider-sign-in.ts'
import { invite } from '../../support/recovery/invitation.ts'
import { openReset, resetTokenOf } from '../../support/recovery/reset.ts'
import { setUpApp } from '../../support/second-factor/guarded-account.ts'
import { accessToken, claimsOf } from '../../support/service/access-tokens.ts'
import { openOperator } from '../../support/service/replicas.ts'

const corp = await startOpenIdProvider()
const service = await startServiceWith({ corp }, { env: { ...PATIENT, SVC_PASSWORDS: 'off' } })
const database = await openDatabase(service)
const core = await openOperator(service)

const byCorp = (person: OpenIdUser) => (url: string) => corp.visit(url, { person })

/** A verified account with an app, and a link into it. */
const withApp = async () => {
  const person = newPerson()
  const { id } = await core.users.create({ ...person, emailVerified: true })
  const app = await setUpApp(core, { userId: id, email: person.email })
  return { id, person, app, token: await resetTokenOf(service, person.email) }
}

const start = (agent: UserAgent, token: string, code?: string) =>
  agent.post('/auth/oauth/corp', { intent: 'reset', token, ...(code !== undefined && { code }) })

const isConnected = async (userId: string): Promise<boolean> =>
  (await database.rows('SELECT id FROM identities WHERE user_id = ?', userId)).length > 0

test('§4.16 without passwords, the code is asked for before the provider, in the same form', async () => {
  const { id, token, app } = await withApp()
  const agent = newAgent(service)
  const shown = await openReset(agent, token)
  assertPage(shown)
  assert.match(shown.text, /name="code"[^]*formaction="\/auth\/oauth\/corp"/)
  assertPage(await start(agent, token), 422)
  const wrong = await start(agent, token, '000000')
  assertPage(wrong, 401)
  assert.match(wrong.text, /That code is wrong[^]*formaction="\/auth\/oauth\/corp"/)
  assert.equal(await isConnected(id), false)

  const employee = newOpenIdUser()
  const form = { intent: 'reset', token, code: app.nextCode() }
  assertRedirect(await signInBy(agent, 'corp', byCorp(employee), form), '/')
  assert.equal((await currentUser(agent)).id, id)
  assert.deepEqual(claimsOf(accessToken(agent)).amr, ['fed', 'otp', 'mfa'])
})

test('§4.16 a recovery code is used up on the way, and counts for that sign-in alone', async () => {
  const { id, token, app } = await withApp()
  const code = app.recoveryCodes[0] ?? ''
  const agent = newAgent(service)
  const url = await startAt(agent, 'corp', { intent: 'reset', token, code })
  assert.equal((await database.rows('SELECT id FROM recovery_codes WHERE user_id = ?', id)).length, 9)
  assertPage(await start(newAgent(service), token, code), 401)

  const visit = await corp.visit(url, { person: newOpenIdUser() })
  const stranger = newAgent(service)
  assert.equal((await returnFromProvider(stranger, visit)).status, 400)
  await assertSignedOut(stranger)
  assertRedirect(await returnFromProvider(agent, visit), '/')
  assert.deepEqual(claimsOf(accessToken(agent)).amr, ['fed', 'mfa'])
})

test('§4.16 a passkey counts before the provider too, and the session says when the user has signed in', async () => {
  const { user, token: invitation } = await invite(service, newPerson().email)
  const invited = newAgent(service)
  const authenticator = createAuthenticator({ origin: service.url })
  const link = { purpose: 'invite', token: invitation }
  const passkey = authenticator.register(await registrationOptions(invited, link))
  assert.equal((await postJson(invited, '/auth/passkeys/register', { ...passkey, ...link })).status, 201)

  const agent = newAgent(service)
  const response = authenticator.authenticate(await loginOptions(agent))
  const token = await resetTokenOf(service, user.id)
  const form = { intent: 'reset', token, passkey_response: JSON.stringify(response) }
  const atSeconds = Math.floor(Date.now() / 1000)
  assertRedirect(await signInBy(agent, 'corp', byCorp(newOpenIdUser()), form), '/auth/account/ways-in?return_to=%2F')
  const { amr, auth_time: authTime } = claimsOf(accessToken(agent))
  assert.deepEqual(amr, ['hwk', 'mfa'])
  assert.ok(Number(authTime) >= atSeconds, String(authTime))
})

test('§4.16 a second factor that was set up while the user was at the provider is asked for', async () => {
  const person = newPerson()
  const { id } = await core.users.create({ ...person, emailVerified: true })
  const token = await resetTokenOf(service, person.email)
  const agent = newAgent(service)
  const url = await startAt(agent, 'corp', { intent: 'reset', token })
  const app = await setUpApp(core, { userId: id, email: person.email })
  const answer = await returnFromProvider(agent, await corp.visit(url, { person: newOpenIdUser() }))
  assert.equal(answer.status, 422)
  assert.equal(await isConnected(id), false)
  await assertSignedOut(agent)
  const form = { intent: 'reset', token, code: app.nextCode() }
  assertRedirect(await signInBy(agent, 'corp', byCorp(newOpenIdUser()), form), '/')
})

test('§4.16 so does a link that undoes a change of address', async () => {
  const { id, person, app } = await withApp()
  const atMs = String(Date.now() + 1)
  const { email } = person
  const details = { email, verifiedAt: atMs, askedAt: atMs, newEmail: 'new@example.org' }
  const { token } = await core.db.inTransaction((transaction) =>
    core.links.issued.create(transaction, {
      purpose: 'undo',
      userId: id,
      emailLower: email,
      details,
      lifetimeMs: 3_600_000,
    }),
  )
  const agent = newAgent(service)
  const wrong = await agent.post('/auth/oauth/corp', { intent: 'undo', token, code: '000000' })
  assertPage(wrong, 401)
  assert.match(wrong.text, /Keep your email address/)
  const form = { intent: 'undo', token, code: app.nextCode() }
  assertRedirect(await signInBy(agent, 'corp', byCorp(newOpenIdUser()), form), '/')
  assert.equal((await currentUser(agent)).id, id)
})
