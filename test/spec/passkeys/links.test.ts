// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { currentUser, newAgent, newPerson, signedUp } from '../../support/client/accounts.ts'
import type { Answer, UserAgent } from '../../support/client/user-agent.ts'
import { type Authenticator, createAuthenticator } from '../../support/passkeys/authenticator.ts'
import { loginOptions, logInWithPasskey, postJson, registrationOptions } from '../../support/passkeys/passkeys.ts'
import { invite } from '../../support/recovery/invitation.ts'
import { resetTokenOf } from '../../support/recovery/reset.ts'
import { claimsOf } from '../../support/service/access-tokens.ts'
import { startService } from '../../support/service/service.ts'

/** Users of this one have passkeys alone. */
const service = await startService({ env: { SVC_PASSWORDS: 'off' } })
const origin = service.url
const REGISTER = '/auth/passkeys/register'

const newEmail = (): string => `${randomUUID()}@example.com`

/** Follows a link and makes a passkey there. */
const enterBy = async (
  agent: UserAgent,
  link: { purpose: string; token: string },
  authenticator: Authenticator,
  more: object = {},
): Promise<Answer> => {
  const options = await registrationOptions(agent, link)
  return postJson(agent, REGISTER, { ...authenticator.register(options), ...link, ...more })
}

const withInvitation = async () => {
  const { user, token } = await invite(service, newEmail())
  return { user, link: { purpose: 'invite', token } }
}

/** A user who has entered by an invitation. */
const entered = async () => {
  const { user, link } = await withInvitation()
  const agent = newAgent(service)
  const authenticator = createAuthenticator({ origin })
  const answer = await enterBy(agent, link, authenticator)
  assert.equal(answer.status, 201, answer.text)
  return { user, agent, authenticator, answer, link }
}

describe('an invitation', () => {
  test('is accepted with a passkey: the email is verified, a session starts, and recovery codes come along', async () => {
    const { user, agent, authenticator, answer, link } = await entered()
    assert.match(answer.location ?? '', /^\/auth\/account\/second-factor\?return_to=/)
    const { id, email } = await currentUser(agent)
    assert.deepEqual([id, email], [user.id, user.email])
    const claims = claimsOf(agent.cookies.get('svc_access') ?? '')
    assert.deepEqual([claims.amr, claims.email_verified], [['pwd'], true])
    assert.equal((await logInWithPasskey(newAgent(service), authenticator)).status, 200)
    const again = await postJson(newAgent(service), `${REGISTER}/options`, link)
    assert.deepEqual([again.status, again.headers['content-type']], [410, 'application/json'])
  })

  test('is used by one of two who follow it at once', async () => {
    const { link } = await withInvitation()
    const prepare = async (agent: UserAgent) => {
      const response = createAuthenticator({ origin }).register(await registrationOptions(agent, link))
      return () => postJson(agent, REGISTER, { ...response, ...link })
    }
    const both = await Promise.all([prepare(newAgent(service)), prepare(newAgent(service))])
    const tries = both.map((send) => send())
    const statuses = (await Promise.all(tries)).map(({ status }) => status)
    assert.deepEqual(
      statuses.toSorted((a, b) => a - b),
      [201, 410],
    )
  })

  test('is still good after a response that is not', async () => {
    const { link } = await withInvitation()
    const agent = newAgent(service)
    const options = await registrationOptions(agent, link)
    const wrong = createAuthenticator({ origin }).register(options, { userVerified: false })
    assert.equal((await postJson(agent, REGISTER, { ...wrong, ...link })).status, 400)
    assert.equal((await enterBy(agent, link, createAuthenticator({ origin }))).status, 201)
  })

  test('does not take the challenge of another account', async () => {
    const one = await withInvitation()
    const other = await withInvitation()
    const agent = newAgent(service)
    const response = createAuthenticator({ origin }).register(await registrationOptions(agent, one.link))
    assert.equal((await postJson(agent, REGISTER, { ...response, ...other.link })).status, 400)
  })
})

describe('a link to a new password', () => {
  test('adds a passkey where there are no passwords, once a passkey or a code was shown that the account has', async () => {
    const { user, agent: before, authenticator } = await entered()
    const link = { purpose: 'reset', token: await resetTokenOf(service, user.id) }
    const agent = newAgent(service)
    const fresh = createAuthenticator({ origin })
    assert.equal((await enterBy(agent, link, fresh)).status, 422)
    const stranger = await entered()
    const foreign = stranger.authenticator.authenticate(await loginOptions(agent))
    assert.equal((await enterBy(agent, link, fresh, { passkey_response: foreign })).status, 401)
    assert.equal((await enterBy(agent, link, fresh, { code: '000000' })).status, 401)
    assert.equal((await before.get('/auth/api/v1/user')).status, 200)
    const own = authenticator.authenticate(await loginOptions(agent))
    const done = await enterBy(agent, link, fresh, { passkey_response: own })
    assert.equal(done.status, 201, done.text)
    assert.match(done.location ?? '', /^\/auth\/account\/ways-in/)
    assert.equal((await before.get('/auth/api/v1/user')).status, 401)
    assert.equal((await logInWithPasskey(newAgent(service), fresh)).status, 200)
  })

  test('takes a recovery code', async () => {
    const { user, agent: first, answer } = await entered()
    const page = await first.get(answer.location ?? '')
    const code = /<li><code>([^<]+)<\/code>/.exec(page.text)?.[1] ?? ''
    const link = { purpose: 'reset', token: await resetTokenOf(service, user.id) }
    const agent = newAgent(service)
    const done = await enterBy(agent, link, createAuthenticator({ origin }), { code })
    assert.equal(done.status, 201, done.text)
    assert.deepEqual(claimsOf(agent.cookies.get('svc_access') ?? '').amr, ['pwd', 'mfa'])
  })

  test('adds none where there are passwords', async () => {
    const usual = await startService()
    const { person } = await signedUp(usual, newPerson())
    const link = { purpose: 'reset', token: await resetTokenOf(usual, person.email) }
    const refused = await postJson(newAgent(usual), `${REGISTER}/options`, link)
    assert.deepEqual([refused.status, /"field":"purpose"/.test(refused.text)], [400, true])
  })
})

test('a link is named by text, and is one that adds a passkey', async () => {
  const agent = newAgent(service)
  const { link } = await withInvitation()
  for (const body of [
    { purpose: 'invite' },
    { token: link.token },
    { purpose: 'invite', token: 7 },
    { purpose: ['invite'], token: link.token },
    { purpose: 'verify', token: link.token },
    { purpose: '__proto__', token: link.token },
    { purpose: 'constructor', token: link.token },
  ]) {
    assert.equal((await postJson(agent, `${REGISTER}/options`, body)).status, 400, JSON.stringify(body))
  }
  const unknown = await postJson(agent, `${REGISTER}/options`, { purpose: 'invite', token: 'x'.repeat(43) })
  assert.equal(unknown.status, 410)
  assert.equal((await postJson(agent, `${REGISTER}/options`, { ...link, purpose: 'reset' })).status, 410)
})
