// Runs on SQLite.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { currentUser, logOut } from '../../support/client/accounts.ts'
import { assertErrorPage, assertPage, assertRedirect } from '../../support/client/assertions.ts'
import { type Answer, createUserAgent, type UserAgent } from '../../support/client/user-agent.ts'
import { startGitHubServer } from '../../support/provider/github-server.ts'
import { startOpenIdProvider } from '../../support/provider/openid-provider.ts'
import { newOpenIdUser } from '../../support/provider/openid-provider-users.ts'
import { assertNoSession, startServiceWith } from '../../support/provider/provider-service.ts'
import { returnFromProvider, signInBy } from '../../support/provider/provider-sign-in.ts'
import { disableUser } from '../../support/service/operator-commands.ts'

const corp = await startOpenIdProvider()
/** The only way to log in. */
const ALONE = { SVC_PASSWORDS: 'off', SVC_PASSKEYS: 'off' }
const service = await startServiceWith({ corp }, { env: ALONE })

/** What a browser sends when a whole tab opens an address. */
const NAVIGATION = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document', 'sec-fetch-site': 'none' }

const newAgent = () => createUserAgent(service)
const open = (agent: UserAgent, path = '/auth/login', headers = {}) => agent.get(path, { ...NAVIGATION, ...headers })

const assertGoesOn = (answer: Answer): string => {
  assert.equal(answer.status, 303, answer.text)
  assert.ok(answer.location?.startsWith(`${corp.issuer}/`), answer.location)
  return answer.location ?? ''
}

const assertStays = (answer: Answer) => {
  assertPage(answer)
  assert.match(answer.text, /action="\/auth\/oauth\/corp"/)
}

const signedInBy = async (person = newOpenIdUser(), agent = newAgent()) => {
  const url = assertGoesOn(await open(agent))
  assertRedirect(await returnFromProvider(agent, await corp.visit(url, { person })), '/')
  return { agent, person, user: await currentUser(agent) }
}

describe('with passwords off and one provider, the login page goes straight on', () => {
  test('a navigation of a tab signs in without a press, and returns to `return_to`', async () => {
    const agent = newAgent()
    const url = assertGoesOn(await open(agent, '/auth/login?return_to=%2Fkept%3Fa%3Db'))
    const person = newOpenIdUser()
    assertRedirect(await returnFromProvider(agent, await corp.visit(url, { person })), '/kept?a=b')
    assert.equal((await currentUser(agent)).email, person.email)
    assertRedirect(await open(agent, '/auth/login?return_to=%2Fkept'), '/kept')
  })

  test('nothing but such a navigation does', async () => {
    for (const headers of [
      { 'sec-fetch-dest': 'iframe' },
      { 'sec-fetch-dest': 'empty', 'sec-fetch-mode': 'cors' },
      { 'sec-fetch-mode': 'no-cors' },
      { 'sec-purpose': 'prefetch' },
      { 'sec-purpose': 'prefetch;prerender' },
      { purpose: 'prefetch' },
      { 'x-moz': 'prefetch' },
      { 'x-purpose': 'preview' },
    ])
      assertStays(await open(newAgent(), '/auth/login', headers))
    assertStays(await newAgent().get('/auth/login'))
    assertStays(await newAgent().get('/auth/login', { 'sec-fetch-mode': 'navigate' }))
    const head = await newAgent().send({ method: 'HEAD', path: '/auth/login', headers: NAVIGATION })
    assert.equal(head.status, 200)
    assert.equal(head.cookie('svc_oauth'), undefined)
    assertPage(await open(newAgent(), '/auth/signup'))
  })

  test('an address to return to that is not accepted is 400 first', async () =>
    assertErrorPage(await open(newAgent(), '/auth/login?return_to=https%3A%2F%2Fevil.example'), 400))
})

describe('never after a logout or an error, until the button is pressed', () => {
  test('after a logout the page stays, in whichever way the user comes to it', async () => {
    const { agent, person } = await signedInBy()
    await logOut(agent)
    for (const path of ['/auth/login', '/auth/login?return_to=%2Fkept', '/auth/login?done=signed_out'])
      assertStays(await open(agent, path))
    assertRedirect(await signInBy(agent, 'corp', (url) => corp.visit(url, { person })), '/')
    agent.cookies.delete('svc_access')
    agent.cookies.delete('svc_refresh')
    assertGoesOn(await open(agent))
  })

  test('after a deletion too: the account would come back at once', async () => {
    const { agent } = await signedInBy()
    assertRedirect(await agent.post('/auth/account/delete'), '/auth/login?done=deleted')
    assertStays(await open(agent, '/auth/login?done=deleted'))
    assertStays(await open(agent))
  })

  test('after a refusal at the provider, or of the account', async () => {
    const cancelling = newAgent()
    const cancelled = await corp.visit(assertGoesOn(await open(cancelling)), { answer: 'cancel' })
    assertNoSession(cancelling, await returnFromProvider(cancelling, cancelled), 403)
    assertStays(await open(cancelling, '/auth/login?return_to=%2Fkept'))

    const { person, user } = await signedInBy()
    await disableUser(service, user.id)
    const agent = newAgent()
    const callback = await corp.visit(assertGoesOn(await open(agent)), { person })
    assertNoSession(agent, await returnFromProvider(agent, callback), 403)
    assertStays(await open(agent))
    assertGoesOn(await open(newAgent()))
  })

  test('while the provider is down: a page that says so, and a button', async (t) => {
    const away = await startOpenIdProvider({ t })
    const lonely = await startServiceWith({ away }, { t, env: ALONE })
    await away.stop()
    const agent = createUserAgent(lonely)
    const answer = await open(agent, '/auth/login?return_to=%2Fkept')
    assertPage(answer, 503)
    assert.match(answer.text, /action="\/auth\/oauth\/away"[^]*value="\/kept"/)
    assertPage(await open(agent))
  })
})

test('a browser that comes again and again is shown the page: no loop', async () => {
  const agent = newAgent()
  for (let time = 1; time <= 5; time += 1) assertGoesOn(await open(agent))
  const answer = await open(agent)
  assertStays(answer)
  agent.cookies.delete('svc_stay')
  assertGoesOn(await open(agent))
  const cookie = (await open(newAgent())).cookie('svc_stay')
  assert.equal(cookie?.line, 'svc_stay=1; Path=/auth/login; Max-Age=60; HttpOnly; SameSite=Lax')
})

test('each time counts as a start at a provider', async (t) => {
  const started = await startServiceWith({ corp }, { t, env: { ...ALONE, SVC_RATE_LIMIT: 'on' } })
  const limited = { ...started, headers: { 'x-forwarded-for': '198.51.100.7' } }
  for (let time = 1; time <= 300; time += 1) assertGoesOn(await open(createUserAgent(limited)))
  const agent = createUserAgent(limited)
  assertErrorPage(await open(agent), 429)
  assertStays(await open(agent))
  assertErrorPage(await agent.post('/auth/oauth/corp'), 429)
})

test('with passwords, with passkeys, or with two providers, the login page is shown', async (t) => {
  const github = await startGitHubServer({ t })
  for (const started of [
    await startServiceWith({ corp }, { t, env: { SVC_PASSKEYS: 'off' } }),
    await startServiceWith({ corp }, { t, env: { SVC_PASSWORDS: 'off' } }),
    await startServiceWith({ corp, github }, { t, env: ALONE }),
  ]) {
    const agent = createUserAgent(started)
    const answer = await open(agent)
    assertStays(answer)
    await logOut(agent)
    assert.equal(agent.cookies.get('svc_stay'), undefined)
  }
})
