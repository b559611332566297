// Runs on SQLite.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { logIn, newAgent, newPerson, signedUp, signUp } from '../../support/client/accounts.ts'
import { assertErrorPage, assertPage } from '../../support/client/assertions.ts'
import type { Answer } from '../../support/client/user-agent.ts'
import { startService } from '../../support/service/service.ts'

const service = await startService()

/** The links of a page to this path, as they would be opened. */
const linksTo = ({ text }: Answer, path: string): string[] =>
  [...text.matchAll(/ href="([^"]*)"/g)]
    .map(([, href = '']) => href.replaceAll('&amp;', '&'))
    .filter((href) => href.split('?')[0] === path)

const emailIn = ({ text }: Answer): string | undefined => / name="email"[^>]* value="([^"]*)"/.exec(text)?.[1]

test('a failed login carries its email and return_to to signup, and signup back to login', async () => {
  const person = { ...newPerson(), email: 'o+b/c?d=e&f@example.com' }
  const login = await logIn(newAgent(service), person, { return_to: '/kept?a=1' })
  assertPage(login, 401)
  const [toSignup = ''] = linksTo(login, '/auth/signup')
  assert.equal(toSignup, '/auth/signup?email=o%2Bb%2Fc%3Fd%3De%26f@example.com&return_to=%2Fkept%3Fa%3D1')
  const signup = await newAgent(service).get(toSignup)
  assert.equal(emailIn(signup), 'o+b/c?d=e&amp;f@example.com')
  const [toLogin = ''] = linksTo(signup, '/auth/login')
  assert.equal(emailIn(await newAgent(service).get(toLogin)), 'o+b/c?d=e&amp;f@example.com')
})

test('the page that says that an email is taken leads to the login with it', async () => {
  const { person } = await signedUp(service)
  const taken = await signUp(newAgent(service), { ...newPerson(), email: person.email, return_to: '/kept' })
  assertPage(taken, 409)
  const expected = `/auth/login?email=${person.email}&return_to=%2Fkept`
  assert.deepEqual(linksTo(taken, '/auth/login'), [expected, expected])
  assert.match(
    taken.text,
    /id="email-problem">This email address already has an account[^<]*<\/p><p class="hint"><a href="/,
  )
  const login = await newAgent(service).get(expected)
  assert.equal(emailIn(login), person.email)
  assert.match(login.text, /<input id="password"[^>]* autofocus>/)
})

test('what is no email stays out of addresses, and out of the forms that an address opens', async () => {
  for (const typed of ['no email', `${'x'.repeat(300)}@example.com`, '"><b>@example.com', '']) {
    const login = await newAgent(service).post('/auth/login', { email: typed, password: 'x' })
    assert.deepEqual(linksTo(login, '/auth/signup'), ['/auth/signup'])
    const page = await newAgent(service).get(`/auth/login?email=${encodeURIComponent(typed)}`)
    assertPage(page)
    assert.equal(emailIn(page) ?? '', '')
  }
  assertErrorPage(await newAgent(service).get('/auth/login?email=a%40b.example&email=c%40d.example'), 400)
})

test('a page that is opened with an email sends no Referer that repeats it, and its own forms keep their Origin', async () => {
  for (const path of ['/auth/login', '/auth/signup']) {
    const policyOf = async (query: string) =>
      (await newAgent(service).get(`${path}${query}`)).headers['referrer-policy']
    assert.equal(await policyOf('?email=a%40b.example'), 'strict-origin')
    assert.equal(await policyOf('?return_to=%2F&email=a%40b.example'), 'strict-origin')
    assert.equal(await policyOf('?email=a%40b.example&return_to=%2F%2Fx'), 'strict-origin', 'error pages too')
    assert.equal(await policyOf('?return_to=%2Femail'), 'same-origin')
    assert.equal(await policyOf(''), 'same-origin')
  }
})

test('the page for visitors who have entered nothing has no email in its links', async () => {
  const login = await newAgent(service).get('/auth/login')
  assert.deepEqual(linksTo(login, '/auth/signup'), ['/auth/signup'])
  assert.doesNotMatch(login.text, /[?&]email=/)
})
