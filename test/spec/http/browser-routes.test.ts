// Runs on SQLite.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { currentUser, logIn, logOut, newPerson, signedUp, signUp } from '../../support/client/accounts.ts'
import {
  assertCanLogIn,
  assertErrorPage,
  assertPage,
  assertRedirect,
  assertSignedIn,
  assertSignedOut,
} from '../../support/client/assertions.ts'
import { createUserAgent } from '../../support/client/user-agent.ts'
import { startService } from '../../support/service/service.ts'

const service = await startService()

/** The visible and hidden fields of a page, by name. */
const fieldNames = (html: string) => [...html.matchAll(/<(?:input|button)\b[^>]*\bname="([^"]+)"/g)].map((m) => m[1])
const formActions = (html: string) => [...html.matchAll(/<form\b[^>]*\baction="([^"]+)"/g)].map((m) => m[1])

const field = (name: string) => new RegExp(`name="${name}"[^>]*value="([^"]*)"|value="([^"]*)"[^>]*name="${name}"`)

test('§4.2 GET /auth/login shows the login page with email and password', async () => {
  const answer = await createUserAgent(service).get('/auth/login')
  assertPage(answer)
  for (const name of ['email', 'password', 'csrf_token']) assert.ok(fieldNames(answer.text).includes(name), name)
})

test('§4.2 OAuth providers are offered on the login page only when configured', async () => {
  const { text } = await createUserAgent(service).get('/auth/login')
  assert.deepEqual([...new Set(formActions(text))], ['/auth/login', '/auth/language'])
  assert.doesNotMatch(text, /href="[^"]*(oauth|google|github|microsoft|provider)/i)
})

test('§4.2 GET /auth/signup shows the signup page for creating an account', async () => {
  const answer = await createUserAgent(service).get('/auth/signup')
  assertPage(answer)
  for (const name of ['email', 'password', 'csrf_token']) assert.ok(fieldNames(answer.text).includes(name), name)
})

for (const page of ['/auth/login', '/auth/signup']) {
  test(`§5.2 the form of ${page} contains the token of the cookie and works with its fields alone`, async () => {
    const agent = createUserAgent(service)
    const { text } = await agent.get(`${page}?return_to=%2Fshop%3Fa%3D1%26b%3D2`)
    const csrf = field('csrf_token').exec(text)
    assert.equal(csrf?.[1] ?? csrf?.[2], agent.cookies.get('svc_csrf'))
    const returnTo = field('return_to').exec(text)
    assert.equal((returnTo?.[1] ?? returnTo?.[2])?.replaceAll('&amp;', '&'), '/shop?a=1&b=2')
  })

  test(`§4.2 ${page} links to the other page and keeps return_to`, async () => {
    const { text } = await createUserAgent(service).get(`${page}?return_to=%2Fshop`)
    const other = page === '/auth/login' ? '/auth/signup' : '/auth/login'
    assert.match(text, new RegExp(`href="${other}\\?return_to=%2Fshop"`))
  })
}

test('§4.5 return_to is the path to which the user is redirected after successful login', async () => {
  const { person } = await signedUp(service)
  assertRedirect(await logIn(createUserAgent(service), person, { return_to: '/shop?a=1#top' }), '/shop?a=1#top')
})

test('§4.5 return_to is the path to which the user is redirected after successful signup', async () => {
  const answer = await signUp(createUserAgent(service), { ...newPerson(), return_to: '/welcome' })
  assertRedirect(answer, '/welcome')
})

test('§4.5 return_to may be in the query of the form; the field takes precedence', async () => {
  const { person } = await signedUp(service)
  const post = (path: string, form = {}) =>
    createUserAgent(service).post(path, { email: person.email, password: person.password, ...form })
  assertRedirect(await post('/auth/login?return_to=%2Fquery'), '/query')
  assertRedirect(await post('/auth/login?return_to=%2Fquery', { return_to: '/field' }), '/field')
})

test('§4.5 when return_to is absent, the redirect target is /', async () => {
  const person = newPerson()
  assertRedirect(await signUp(createUserAgent(service), person), '/')
  assertRedirect(await logIn(createUserAgent(service), person), '/')
})

for (const path of ['/auth/login', '/auth/signup']) {
  test(`§4.5 external URLs are rejected by GET and POST ${path}`, async () => {
    const agent = createUserAgent(service)
    const person = newPerson()
    const external = 'https://evil.example/'
    assertErrorPage(await agent.get(`${path}?return_to=${encodeURIComponent(external)}`), 400)
    assertErrorPage(await agent.post(path, { ...person, return_to: external }), 400)
    assert.equal(agent.cookies.get('svc_access'), undefined)
    assert.equal((await logIn(agent, person)).status, 401, 'no account was made')
  })
}

test('§4.2 after successful signup, the service creates a session', async () => {
  const { agent, person } = await signedUp(service)
  assert.equal((await currentUser(agent)).email, person.email)
  await assertCanLogIn(service, person)
})

test('§4.2 POST /auth/logout logs out the current session, CSRF token in the hidden form field csrf_token', async () => {
  const { agent } = await signedUp(service)
  const before = agent.copy()
  assertRedirect(await logOut(agent), '/')
  await assertSignedOut(before)
})

test('§5.2 POST /auth/logout accepts the CSRF token in the header X-CSRF-Token, without a body', async () => {
  const { agent } = await signedUp(service)
  const before = agent.copy()
  const headers = { 'x-csrf-token': agent.cookies.get('svc_csrf') }
  assertRedirect(await agent.send({ method: 'POST', path: '/auth/logout', headers }), '/')
  await assertSignedOut(before)
})

test('§4.2 after logout, the service clears the authentication cookies and redirects the user to /', async () => {
  const { agent } = await signedUp(service)
  const answer = await logOut(agent)
  assertRedirect(answer, '/')
  assert.ok(answer.cleared.includes('svc_access') && answer.cleared.includes('svc_refresh'), String(answer.cleared))
  assert.deepEqual(
    agent.cookies.names(),
    agent.cookies.names().filter((name) => ['svc_csrf', 'svc_device', 'svc_last_way'].includes(name)),
  )
})

test('§4.2 logout ends this session and no other of the same user', async () => {
  const { agent, person } = await signedUp(service)
  const phone = createUserAgent(service)
  await logIn(phone, person)
  await logOut(agent)
  await assertSignedIn(phone)
})

test('§4.2 logout works with an expired access token: the refresh token names the session', async () => {
  const { agent } = await signedUp(service)
  const before = agent.copy()
  agent.cookies.delete('svc_access')
  assertRedirect(await logOut(agent), '/')
  await assertSignedOut(before)
})

test('§4.2 logout without a session is no error', async () => {
  assertRedirect(await logOut(createUserAgent(service)), '/')
})

for (const [what, token] of [
  ['no token', [] as string[]],
  ['a wrong token', 'x'.repeat(43)],
] as const) {
  test(`§5.2 the token must match the svc_csrf cookie: logout with ${what} is 403 and logs nobody out`, async () => {
    const { agent } = await signedUp(service)
    assertErrorPage(await agent.post('/auth/logout', { csrf_token: token }), 403)
    await assertSignedIn(agent)
  })
}

test('§4.2 GET /auth/logout is a page with a button that posts to /auth/logout, and logs nobody out', async () => {
  const { agent } = await signedUp(service)
  const answer = await agent.get('/auth/logout')
  assertPage(answer)
  assert.ok(formActions(answer.text).includes('/auth/logout'))
  await assertSignedIn(agent)
})

test('§4.2 GET /auth leads to the account when signed in, else to the login', async () => {
  const { agent } = await signedUp(service)
  assertRedirect(await agent.get('/auth'), '/auth/account')
  assertRedirect(await createUserAgent(service).get('/auth'), '/auth/login')
})

test('§4.7 the router of Next.js, which asks for parts of pages, gets an empty answer and has the browser load the page', async () => {
  const { agent } = await signedUp(service)
  for (const name of ['svc_access', 'svc_fresh']) agent.cookies.delete(name)
  for (const path of ['/auth/login?return_to=%2Fa', '/auth/account', '/auth/account/confirm?return_to=%2Fa']) {
    const answer = await agent.get(path, { rsc: '1' })
    assert.deepEqual([answer.status, answer.text, answer.setCookies], [204, '', []], path)
  }
  assert.equal((await agent.get('/auth/api/v1/user', { rsc: '1' })).status, 401)
  assertRedirect(await agent.get('/auth/login?return_to=%2Fa'), '/a')
})
