// Runs on SQLite.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { logIn, loggedIn, logOut, newAgent, newPerson, signedUp } from '../../support/client/accounts.ts'
import { assertPage, assertRedirect } from '../../support/client/assertions.ts'
import type { UserAgent } from '../../support/client/user-agent.ts'
import { turnedClock } from '../../support/clock/turned-clock.ts'
import { createAuthenticator } from '../../support/passkeys/authenticator.ts'
import { addPasskey, logInWithPasskey } from '../../support/passkeys/passkeys.ts'
import { startOpenIdProvider } from '../../support/provider/openid-provider.ts'
import { newOpenIdUser } from '../../support/provider/openid-provider-users.ts'
import { startServiceWith } from '../../support/provider/provider-service.ts'
import { signInBy } from '../../support/provider/provider-sign-in.ts'
import { resetBy, resetTokenOf } from '../../support/recovery/reset.ts'
import { newAccountWithCodes } from '../../support/second-factor/account-with-codes.ts'
import { openOperator } from '../../support/service/replicas.ts'
import { startService } from '../../support/service/service.ts'

const corp = await startOpenIdProvider()
const clock = turnedClock()
const service = await startServiceWith({ corp }, { clock })
const core = await openOperator(service)
const passwordless = await startServiceWith({ corp }, { env: { SVC_PASSWORDS: 'off', SVC_PASSKEYS: 'off' } })
const alone = await startService({ env: { SVC_PASSKEYS: 'off' } })

const wayOf = (agent: UserAgent) => agent.cookies.get('svc_last_way')

const withoutToken = (text: string) => text.replaceAll(/[\w-]{43}/g, 'TOKEN')

/** The button of the login page that is marked, by its text. */
const markedOn = async (agent: UserAgent): Promise<string[]> => {
  const { text } = await agent.get('/auth/login')
  return [...text.matchAll(/<button[^>]*>((?:(?!<\/button>)[^])*)<span class="last">Last used<\/span><\/button>/g)].map(
    ([, content = '']) => content.replaceAll(/<svg[^]*<\/svg>|<span[^]*<\/span>|<[^>]*>/g, '').trim(),
  )
}

test('§5.1 the way of the last sign-in is remembered past a logout, and its button is marked', async () => {
  const { agent, person } = await signedUp(service)
  const authenticator = createAuthenticator({ origin: service.url })
  await addPasskey(agent, authenticator)
  assert.equal(wayOf(agent), 'password')
  await logOut(agent)
  assert.equal(wayOf(agent), 'password')
  assert.deepEqual(await markedOn(agent), ['Log in'])

  assert.equal((await logInWithPasskey(agent, authenticator)).status, 200)
  assert.equal(wayOf(agent), 'passkey')
  await logOut(agent)
  assert.deepEqual(await markedOn(agent), ['Log in with a passkey'])

  await signInBy(agent, 'corp', (url) => corp.visit(url, { person: newOpenIdUser() }))
  assert.equal(wayOf(agent), 'corp')
  await logOut(agent)
  assert.deepEqual(await markedOn(agent), ['Continue with Corp'])

  const answer = await logIn(agent, person)
  assert.equal(
    answer.cookie('svc_last_way')?.line,
    'svc_last_way=password; Path=/auth; Max-Age=34560000; HttpOnly; SameSite=Lax',
  )
})

test('a browser that has not signed in has no mark, and neither has a page with one way alone', async () => {
  assert.deepEqual(await markedOn(newAgent(service)), [])
  for (const [site, way] of [
    [alone, 'password'],
    [passwordless, 'corp'],
  ] as const) {
    const agent = newAgent(site)
    agent.cookies.set('svc_last_way', way, '/auth')
    assert.deepEqual(await markedOn(agent), [])
  }
})

test('a value that names no way of the page is ignored, and is never shown', async () => {
  const usual = (await newAgent(service).get('/auth/login')).text
  for (const value of [
    '',
    'google',
    'PASSWORD',
    'password,corp',
    'corp"><b>',
    'constructor',
    '%70assword',
    '\xe9',
    'x'.repeat(3000),
  ]) {
    const agent = newAgent(service)
    agent.cookies.set('svc_last_way', value, '/auth')
    const answer = await agent.get('/auth/login')
    assertPage(answer)
    assert.equal(withoutToken(answer.text), withoutToken(usual), value)
  }
})

test('a refused sign-in, one that still waits for a second factor, and a confirmation leave it as it is', async () => {
  const account = await newAccountWithCodes({ service, core, clock })
  const browser = newAgent(service)
  browser.cookies.set('svc_last_way', 'corp', '/auth')
  await logIn(browser, { ...account.person, password: 'a wrong pass phrase' })
  assert.equal(wayOf(browser), 'corp')
  assertRedirect(await logIn(browser, account.person), '/auth/login/code')
  assert.equal(wayOf(browser), 'corp')
  assertRedirect(await browser.post('/auth/login/code', { code: await account.nextCode() }), '/')
  assert.equal(wayOf(browser), 'password')

  const { person } = await signedUp(service)
  const agent = await loggedIn(service, person)
  agent.cookies.set('svc_last_way', 'corp', '/auth')
  assert.equal((await agent.post('/auth/account/confirm', { password: person.password })).status, 303)
  assert.equal(wayOf(agent), 'corp')
})

test('a link to a new password is no way to come back by', async () => {
  const { person } = await signedUp(service)
  const agent = newAgent(service)
  assert.equal((await resetBy(agent, await resetTokenOf(service, person.email), newPerson().password)).status, 303)
  assert.equal(wayOf(agent), undefined)
})
