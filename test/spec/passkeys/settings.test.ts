// Runs on SQLite.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { currentUser, logIn, newAgent, signedUp } from '../../support/client/accounts.ts'
import { assertPage, assertRedirect } from '../../support/client/assertions.ts'
import { startSmtpServer } from '../../support/network/smtp-server.ts'
import { createAuthenticator } from '../../support/passkeys/authenticator.ts'
import {
  addPasskey,
  loginOptions,
  logInWithPasskey,
  postJson,
  registrationOptions,
} from '../../support/passkeys/passkeys.ts'
import type { Answer, UserAgent } from '../../support/client/user-agent.ts'
import { setUpApp } from '../../support/second-factor/guarded-account.ts'
import { openOperator } from '../../support/service/replicas.ts'
import { startService } from '../../support/service/service.ts'
import { eventually } from '../../support/wait.ts'

const ROUTES = ['login/options', 'login', 'register/options', 'register'].map((name) => `/auth/passkeys/${name}`)

describe('passkeys are switched off', () => {
  test('by SVC_PASSKEYS=off, and under an address that is no domain', async () => {
    for (const env of [
      { SVC_PASSKEYS: 'off' },
      { SVC_BASE_URL: 'http://127.0.0.1' },
      { SVC_BASE_URL: 'https://[::1]' },
      { SVC_BASE_URL: 'http://svc.example' },
    ]) {
      const service = await startService({ env })
      const agent = newAgent(service)
      for (const path of [...ROUTES, '/auth/account/passkeys'])
        assert.equal((await postJson(agent, path)).status, 404, `${JSON.stringify(env)} ${path}`)
      assert.equal((await agent.get('/auth/account/passkeys')).status, 404)
    }
  })

  test('and what there is counts again once they are on', async () => {
    const service = await startService()
    const { agent, person } = await signedUp(service)
    const authenticator = createAuthenticator({ origin: service.url })
    await addPasskey(agent, authenticator)
    await service.restart({ env: { SVC_PASSKEYS: 'off' } })
    const other = newAgent(service)
    const byPassword = await other.post('/auth/login', { email: person.email, password: person.password })
    assert.equal(byPassword.status, 303)
    assert.equal((await other.get('/auth/account')).status, 200)
    await service.restart({ env: { SVC_PASSKEYS: 'on' } })
    assert.equal((await logInWithPasskey(newAgent(service), authenticator)).status, 200)
  })
})

test('SVC_WEBAUTHN_RP_ID is a parent domain: its passkeys are of one origin all the same', async () => {
  const origin = 'https://login.app.example'
  const service = await startService({ env: { SVC_BASE_URL: origin, SVC_WEBAUTHN_RP_ID: 'app.example' } })
  const { agent } = await signedUp(service)
  const authenticator = createAuthenticator({ origin })
  assert.equal((await registrationOptions(agent)).rp.id, 'app.example')
  await addPasskey(agent, authenticator)
  const visitor = newAgent(service)
  assert.equal((await loginOptions(visitor)).rpId, 'app.example')
  assert.match(visitor.cookies.get('__Host-svc_link') ?? '', /^[\w-]{43}$/)
  assert.equal((await logInWithPasskey(visitor, authenticator, { relyingPartyId: 'login.app.example' })).status, 401)
  assert.equal((await logInWithPasskey(visitor, authenticator, { origin: 'https://app.example' })).status, 401)
  assert.equal((await logInWithPasskey(visitor, authenticator, { origin: 'https://evil.app.example' })).status, 401)
  assert.equal((await logInWithPasskey(visitor, authenticator)).status, 200)
})

describe('limits', () => {
  test('stop wrong signatures after a hundred in one network, but in known browsers; what is no signature counts nowhere', async () => {
    const service = {
      ...(await startService({ env: { SVC_RATE_LIMIT: 'on' } })),
      headers: { 'x-forwarded-for': '198.51.100.7' },
    }
    const { agent } = await signedUp(service)
    const authenticator = createAuthenticator({ origin: service.url })
    await addPasskey(agent, authenticator)
    const known = newAgent(service)
    assert.equal((await logInWithPasskey(known, authenticator)).status, 200)
    const stranger = createAuthenticator({ origin: service.url })
    const { agent: visitor } = await signedUp(service)
    await addPasskey(visitor, stranger)
    const tryAll = async (send: (agent: UserAgent) => Promise<Answer>, expected: number) => {
      for (let round = 0; round < 10; round += 1) {
        const tries = Array.from({ length: 10 }, () => send(newAgent(service)))
        for (const { status } of await Promise.all(tries)) assert.equal(status, expected)
      }
    }
    await tryAll((client) => postJson(client, '/auth/passkeys/login', {}), 400)
    const unknown = createAuthenticator({ origin: service.url })
    await tryAll((client) => logInWithPasskey(client, unknown, { userHandle: 'AAAA' }), 401)
    await tryAll((client) => logInWithPasskey(client, stranger, { origin: 'https://evil.example' }), 401)
    const refused = await logInWithPasskey(newAgent(service), authenticator)
    assert.equal(refused.status, 429)
    assert.ok(Number(refused.headers['retry-after']) > 0)
    assert.equal((await logInWithPasskey(known, authenticator)).status, 200)
    for (let tries = 0; tries < 20; tries += 1)
      assert.equal((await logInWithPasskey(known, authenticator, { origin: 'https://evil.example' })).status, 401)
    assert.equal((await logInWithPasskey(known, authenticator)).status, 429)
  })

  test('of logins that wait for a code keep no passkey of the user out', async () => {
    const service = {
      ...(await startService({ env: { SVC_RATE_LIMIT: 'on' } })),
      headers: { 'x-forwarded-for': '198.51.100.8' },
    }
    const { agent, person } = await signedUp(service)
    const authenticator = createAuthenticator({ origin: service.url })
    await addPasskey(agent, authenticator)
    await setUpApp(await openOperator(service), { userId: (await currentUser(agent)).id, email: person.email })
    for (let tries = 0; tries < 30; tries += 1)
      assertRedirect(await logIn(newAgent(service), person), '/auth/login/code')
    assertPage(await logIn(newAgent(service), person), 429)
    assert.equal((await logInWithPasskey(newAgent(service), authenticator)).status, 200)
  })

  test('stop registrations of one user after thirty in an hour', async () => {
    const service = await startService({ env: { SVC_RATE_LIMIT: 'on' } })
    const { agent } = await signedUp(service)
    const tries = Array.from({ length: 31 }, () => postJson(agent, '/auth/passkeys/register', {}))
    const statuses = (await Promise.all(tries)).map(({ status }) => status)
    assert.equal(statuses.filter((status) => status === 429).length, 1)
    const { agent: other } = await signedUp(service)
    await addPasskey(other, createAuthenticator({ origin: service.url }))
  })
})

test('an email that must be proved is proved before a session starts', async () => {
  const smtp = await startSmtpServer()
  const service = await startService({ env: { SVC_SMTP_URL: smtp.url, SVC_MAIL_FROM: 'svc@example.com' } })
  const { agent, person } = await signedUp(service)
  const authenticator = createAuthenticator({ origin: service.url })
  await addPasskey(agent, authenticator)
  const count = () =>
    smtp.mails.filter(
      ({ to, links }) => to === person.email && links.some((link) => link.includes('/auth/email/verify')),
    ).length
  await eventually('the message of the signup', () => count() === 1)
  await service.restart({ env: { SVC_EMAIL_VERIFICATION: 'required' } })
  const visitor = newAgent(service)
  const answer = await logInWithPasskey(visitor, authenticator, {}, '?return_to=%2Fstart')
  assert.deepEqual(answer.json(), { redirect_to: '/auth/login?done=check_mail&return_to=%2Fstart' })
  assert.equal(visitor.cookies.get('svc_access'), undefined)
  assert.match(
    (await visitor.get('/auth/login?done=check_mail')).text,
    /class="box note"[^>]*>Confirm your email address first/,
  )
  await eventually('the message of the login', () => count() === 2)
})
