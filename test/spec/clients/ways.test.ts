// Runs on SQLite.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { decodeJwt } from 'jose'
import { loggedIn, logIn, newAgent, newPerson, type Person } from '../../support/client/accounts.ts'
import { assertPage } from '../../support/client/assertions.ts'
import type { Answer, UserAgent } from '../../support/client/user-agent.ts'
import {
  allow,
  answerToClient,
  authorizePath,
  CLIENT_SETTINGS,
  consentForm,
} from '../../support/clients/authorization.ts'
import { tokensIn, trade } from '../../support/clients/tokens.ts'
import { startSmtpServer } from '../../support/network/smtp-server.ts'
import { createAuthenticator } from '../../support/passkeys/authenticator.ts'
import { addPasskey, loginOptions, logInWithPasskey, postJson } from '../../support/passkeys/passkeys.ts'
import { startMisbehavingProvider } from '../../support/provider/misbehaving-provider.ts'
import { newOpenIdUser } from '../../support/provider/openid-provider-users.ts'
import { startServiceWith } from '../../support/provider/provider-service.ts'
import { signInBy } from '../../support/provider/provider-sign-in.ts'
import { askForLink, resetBy, resetMailFor, tokenOf } from '../../support/recovery/reset.ts'
import { verifyBy } from '../../support/recovery/verification.ts'
import { readOfferedSetUp, SECOND_FACTOR_PAGE } from '../../support/second-factor/app-set-up.ts'
import { codeAt } from '../../support/second-factor/authenticator-app.ts'
import { setUpApp } from '../../support/second-factor/guarded-account.ts'
import { openOperator } from '../../support/service/replicas.ts'

const corp = await startMisbehavingProvider()
const smtp = await startSmtpServer()
const env = {
  ...CLIENT_SETTINGS,
  ...smtp.env,
  SVC_EMAIL_VERIFICATION: 'required',
  SVC_CLIENT_HOSTS: 'agent.example',
  SVC_CLIENT_REGISTRATION: 'on',
}
const service = await startServiceWith({ corp }, { env })
const core = await openOperator(service)

const URI = 'http://127.0.0.1/callback'
const CONFIRM = '/auth/account/confirm'

/** A client that nobody has checked: each of its grants needs a proof that is made for its request. */
const registered = async (): Promise<string> => {
  const answer = await fetch(`${service.url}/auth/oauth2/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ redirect_uris: [URI] }),
  })
  return ((await answer.json()) as { client_id: string }).client_id
}
const stranger = await registered()

/** What nothing compresses, so that the request is as long as it may be. */
const LONG = randomBytes(1275).toString('base64url')

const pathWith = (changes: Record<string, string | undefined> = {}) =>
  authorizePath(stranger, { redirect_uri: URI, state: LONG, ...changes })

const returnToOf = (address = ''): string => new URL(address, service.url).searchParams.get('return_to') ?? ''

const newAccount = async (): Promise<Person & { id: string }> => {
  const person = newPerson()
  const { id } = await core.users.create({ ...person, emailVerified: true })
  return { ...person, id }
}

/** Follows redirects of svc to the first page. */
const follow = async (agent: UserAgent, answer: Answer): Promise<Answer> => {
  let last = answer
  for (let count = 0; last.status === 303 && last.location?.startsWith('/auth/') && count < 10; count += 1)
    last = await agent.get(last.location)
  return last
}

/**
 * The way has led to the question of this request, at once; the answer leads to the client. Resolves to what the ID token
 * says about the login.
 */
const assertAsked = async (agent: UserAgent, answer: Answer): Promise<Record<string, unknown>> => {
  const page = await follow(agent, answer)
  consentForm(page)
  const told = answerToClient(await allow(agent, page), URI)
  assert.equal(told.get('state'), LONG)
  const traded = await trade(service, { id: stranger }, told.get('code') ?? '', { redirect_uri: URI })
  const { acr, amr, auth_time } = decodeJwt(tokensIn(traded).id ?? '')
  assert.ok(Math.abs(Number(auth_time) - Date.now() / 1000) < 600, String(auth_time))
  return { acr, amr }
}

/** A browser whose request waits at the login page. */
const atLogin = async (agent = newAgent(service), changes: Record<string, string> = {}) => {
  const sent = await agent.get(pathWith(changes))
  assert.match(sent.location ?? '', /^\/auth\/login\?/)
  return { agent, returnTo: returnToOf(sent.location), page: await agent.get(sent.location ?? '') }
}

describe('a request comes back after', () => {
  test('a login by password, whose page leads every other way on', async () => {
    const person = await newAccount()
    const { agent, returnTo, page } = await atLogin()
    assertPage(page)
    assert.ok(returnTo.length > 2048, 'it is longer than other addresses may be')
    for (const way of ['/auth/signup', '/auth/password/forgot', '/auth/passkeys/login'])
      assert.ok(page.text.includes(`${way}?return_to=${encodeURIComponent(returnTo)}`), way)
    assert.ok(page.text.includes(`name="return_to" value="${returnTo}"`), 'the forms')
    const wrong = await logIn(agent, { ...person, password: 'wrong' }, { return_to: returnTo })
    assertPage(wrong, 401)
    assert.ok(wrong.text.includes(`name="return_to" value="${returnTo}"`))
    const proved = await assertAsked(agent, await logIn(agent, person, { return_to: returnTo }))
    assert.deepEqual(proved, { acr: undefined, amr: ['pwd'] })
  })

  test('a signup, by the link of its message', async () => {
    const person = newPerson()
    const { agent, returnTo } = await atLogin()
    assertPage(await agent.post('/auth/signup', { ...person, return_to: returnTo }))
    const { link } = await smtp.receivedFor(person.email)
    await assertAsked(agent, await verifyBy(agent, tokenOf(link)))
  })

  test('a login that has to prove the email first, by the link of its message', async () => {
    const person = newPerson()
    await core.users.create({ ...person, emailVerified: false })
    const { agent, returnTo } = await atLogin()
    assertPage(await logIn(agent, person, { return_to: returnTo }))
    const { link } = await smtp.receivedFor(person.email)
    const sent = await follow(agent, await verifyBy(agent, tokenOf(link)))
    assert.match(sent.text, /action="\/auth\/account\/confirm[^>]*>[^]*name="password"/)
    // The link proves no password, and so does not say when the user has logged in.
    await assertAsked(agent, await agent.post(CONFIRM, { password: person.password, return_to: returnTo }))
  })

  test('a reset, by the link of its message', async () => {
    const person = await newAccount()
    const { agent, returnTo } = await atLogin()
    assertPage(await askForLink(agent, person.email, { return_to: returnTo }))
    const { link } = await resetMailFor(smtp, person.email)
    await assertAsked(agent, await resetBy(agent, tokenOf(link), `new ${person.password}`))
  })

  test('a link that is opened in another browser leads to no request of this one', async () => {
    const person = await newAccount()
    const { agent, returnTo } = await atLogin()
    await askForLink(agent, person.email, { return_to: returnTo })
    const { link } = await resetMailFor(smtp, person.email)
    const answer = await resetBy(newAgent(service), tokenOf(link), `new ${person.password}`)
    assert.equal(answer.location, '/')
  })

  test('a signup and a login with a provider, within the second that the provider names', async () => {
    const person = newOpenIdUser()
    const visit = (url: string) => corp.visit(url, { person: { ...person, auth_time: Math.floor(Date.now() / 1000) } })
    for (let times = 0; times < 2; times += 1) {
      const { agent, returnTo } = await atLogin()
      await assertAsked(agent, await signInBy(agent, 'corp', visit, { return_to: returnTo }))
    }
  })

  test('a login with a provider that does not say when its user has logged in there: that proves nothing, and is asked for', async () => {
    const person = newOpenIdUser()
    const visit = (url: string) => corp.visit(url, { person })
    await signInBy(newAgent(service), 'corp', visit)
    for (const changes of [{}, { prompt: 'login' }, { max_age: '600' }]) {
      const { agent, returnTo } = await atLogin(newAgent(service), changes)
      const sent = await agent.get((await signInBy(agent, 'corp', visit, { return_to: returnTo })).location ?? '')
      assert.ok(sent.location?.startsWith(`${CONFIRM}?`), sent.location)
      assertPage(await agent.get(sent.location ?? ''))
      const form = { intent: 'confirm', return_to: returnToOf(sent.location) }
      await assertAsked(agent, await signInBy(agent, 'corp', visit, form))
    }
  })

  test('a code of an app, and a recovery code', async () => {
    const person = await newAccount()
    const app = await setUpApp(core, { userId: person.id, email: person.email })
    const [recovery_code = ''] = app.recoveryCodes
    for (const code of [{ code: app.nextCode() }, { recovery_code }]) {
      const { agent, returnTo } = await atLogin()
      const half = await logIn(agent, person, { return_to: returnTo })
      assert.match(half.location ?? '', /^\/auth\/login\/code\?/)
      const page = await agent.get(half.location ?? '')
      assert.equal(page.headers['cross-origin-opener-policy'], undefined)
      assert.ok(page.text.includes(`name="return_to" value="${returnTo}"`))
      const proved = await assertAsked(agent, await agent.post('/auth/login/code', { ...code, return_to: returnTo }))
      assert.deepEqual(proved, { acr: 'mfa', amr: 'code' in code ? ['pwd', 'otp', 'mfa'] : ['pwd', 'mfa'] })
    }
  })

  test('a passkey', async () => {
    const person = await newAccount()
    const authenticator = createAuthenticator({ origin: service.url })
    await addPasskey(await loggedIn(service, person), authenticator)
    const { agent, returnTo } = await atLogin()
    const answer = await logInWithPasskey(agent, authenticator, {}, `?return_to=${encodeURIComponent(returnTo)}`)
    await assertAsked(agent, await agent.get(answer.json<{ redirect_to: string }>().redirect_to))
  })

  test('"not you?", and a login to another account', async () => {
    const [person, other] = [await newAccount(), await newAccount()]
    const { agent, returnTo } = await atLogin()
    const page = await follow(agent, await logIn(agent, person, { return_to: returnTo }))
    const [, back = ''] = /action="\/auth\/logout">[^]*?name="return_to" value="([^"]+)"/.exec(page.text) ?? []
    const left = await agent.post('/auth/logout', { return_to: back })
    const login = await follow(agent, left)
    assertPage(login)
    const [, again = ''] = /name="return_to" value="([^"]+)"/.exec(login.text) ?? []
    const asked = await follow(agent, await logIn(agent, other, { return_to: again }))
    assert.ok(asked.text.includes(other.email))
    await assertAsked(agent, asked)
  })
})

/** A user whose session is older than the request; the request waits at the page of confirmation. */
const atConfirmation = async (person: Person, changes: Record<string, string> = {}) => {
  const agent = await loggedIn(service, person)
  const sent = await agent.get(pathWith(changes))
  assert.ok(sent.location?.startsWith(`${CONFIRM}?`), sent.location)
  const page = await agent.get(sent.location ?? '')
  assertPage(page)
  assert.match(page.text, /go on to the app that sent you here/)
  assert.equal(page.headers['cross-origin-opener-policy'], undefined)
  return { agent, returnTo: returnToOf(sent.location), page }
}

describe('a confirmation for a request leads back to it', () => {
  test('by password, after a wrong one too', async () => {
    const person = await newAccount()
    const { agent, returnTo } = await atConfirmation(person)
    assertPage(await agent.post(CONFIRM, { password: 'wrong', return_to: returnTo }), 401)
    await assertAsked(agent, await agent.post(CONFIRM, { password: person.password, return_to: returnTo }))
  })

  test('by a provider', async () => {
    const person = newOpenIdUser()
    const agent = newAgent(service)
    await signInBy(agent, 'corp', (url) => corp.visit(url, { person }))
    const sent = await agent.get(pathWith())
    const form = { intent: 'confirm', return_to: returnToOf(sent.location) }
    const auth_time = Math.floor(Date.now() / 1000)
    const answer = await signInBy(agent, 'corp', (url) => corp.visit(url, { person: { ...person, auth_time } }), form)
    await assertAsked(agent, answer)
  })

  test('by a passkey, with more than one factor', async () => {
    const person = await newAccount()
    const authenticator = createAuthenticator({ origin: service.url })
    await addPasskey(await loggedIn(service, person), authenticator)
    const { agent, page } = await atConfirmation(person, { acr_values: 'mfa' })
    const [, url = ''] = /"(\/auth\/passkeys\/login\?confirm=1[^"]*)"/.exec(page.text) ?? []
    const answer = await postJson(
      agent,
      url.replaceAll('&amp;', '&'),
      authenticator.authenticate(await loginOptions(agent)),
    )
    const proved = await assertAsked(agent, await agent.get(answer.json<{ redirect_to: string }>().redirect_to))
    assert.deepEqual(proved, { acr: 'mfa', amr: ['hwk', 'mfa'] })
  })

  test('by password and a code', async () => {
    const person = await newAccount()
    const trusting = await loggedIn(service, person)
    const app = await setUpApp(core, { userId: person.id, email: person.email })
    assert.equal((await trusting.get('/auth/api/v1/user')).status, 401, 'a set-up ends other sessions')
    await logIn(trusting, person)
    const form = { code: app.nextCode(), trust_browser: '1' }
    assert.equal((await trusting.post('/auth/login/code', form)).status, 303)
    await trusting.post('/auth/logout')
    assert.equal((await logIn(trusting, person)).location, '/')
    const sent = await trusting.get(pathWith({ acr_values: 'mfa' }))
    assert.match(sent.location ?? '', /acr=mfa/)
    const [recovery_code = ''] = app.recoveryCodes
    const confirmation = { password: person.password, recovery_code, acr: 'mfa', return_to: returnToOf(sent.location) }
    await assertAsked(trusting, await trusting.post(CONFIRM, confirmation))
  })

  test('after a second factor was set up on the way', async () => {
    const person = await newAccount()
    const agent = await loggedIn(service, person)
    const setUp = await agent.get((await agent.get(pathWith({ acr_values: 'mfa' }))).location ?? '')
    assert.ok(setUp.location?.startsWith(`${SECOND_FACTOR_PAGE}?return_to=`), setUp.location)
    const { secret, sealed } = readOfferedSetUp(await agent.get(setUp.location ?? ''))
    const code = codeAt(secret, Date.now())
    const form = { set_up: sealed, code, return_to: returnToOf(setUp.location) }
    const codes = await agent.get((await agent.post(SECOND_FACTOR_PAGE, form)).location ?? '')
    assertPage(codes)
    const [, on = ''] = /href="(\/auth\/account\/confirm\?[^"]*authorize[^"]*)"/.exec(codes.text) ?? []
    const passed = await agent.get(on.replaceAll('&amp;', '&'))
    const asked = await agent.get(passed.location ?? '')
    assert.match(asked.location ?? '', /^\/auth\/account\/confirm\?.*acr=mfa&since=/, 'the set-up proves no password')
    const proof = { password: person.password, code: codeAt(secret, Date.now() + 30_000), acr: 'mfa' }
    const confirmation = { ...proof, return_to: returnToOf(asked.location) }
    await assertAsked(agent, await agent.post(CONFIRM, confirmation))
  })
})

test('no other address to return to may have more than 2,048 characters', async () => {
  const agent = newAgent(service)
  const long = 'a'.repeat(2100)
  for (const path of [
    `/auth/oauth2/authorize?client_id=${stranger}&state=${long}`,
    `/auth/oauth2/authorize/?request=${long}`,
    `/auth/oauth2/logout?request=${long}`,
    `/auth/oauth2/authorize?request=${'a'.repeat(4100)}`,
  ])
    assertPage(await agent.get(`/auth/login?return_to=${encodeURIComponent(path)}`), 400)
  const longest = `/auth/oauth2/authorize?request=`.padEnd(4096, 'a')
  assertPage(await agent.get(`/auth/login?return_to=${encodeURIComponent(longest)}`), 200)
})
