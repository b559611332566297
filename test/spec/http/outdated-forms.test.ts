// Runs on SQLite.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Person, loggedIn, newAgent, newPerson, signedUp } from '../../support/client/accounts.ts'
import {
  assertCanLogIn,
  assertCannotLogIn,
  assertErrorPage,
  assertRedirect,
  assertSignedIn,
} from '../../support/client/assertions.ts'
import type { Answer, Form, UserAgent } from '../../support/client/user-agent.ts'
import { loggedLine } from '../../support/service/request-log.ts'
import { startService } from '../../support/service/service.ts'

const service = await startService()
const own = { origin: service.url, 'sec-fetch-site': 'same-origin' }
const TYPED_PASSWORD = 'sEcReT that was typed'

const tokenOf = (agent: UserAgent): string => agent.cookies.get('svc_csrf') ?? 'none'

/** Sends a form with the token of another page. */
const sendOutdated = (agent: UserAgent, path: string, form: Form, headers: Record<string, string> = own) =>
  agent.post(path, { ...form, csrf_token: 'A'.repeat(43) }, headers)

/** The values of all fields of the form with this action that a browser would send. */
const fieldsOf = (html: string, action: string): Record<string, string> => {
  const [, inside = ''] = new RegExp(`<form[^>]* action="${action}"[^>]*>([^]*?)</form>`).exec(html) ?? []
  const inputs = [...inside.matchAll(/<input\b[^>]*>/g)].map(([input]) => [
    / name="([^"]*)"/.exec(input)?.[1],
    / value="([^"]*)"/.exec(input)?.[1] ?? '',
  ])
  return Object.fromEntries(inputs.filter(([name]) => name !== undefined))
}

const assertShownAgain = (answer: Answer, agent: UserAgent, action: string, typed: Form): Record<string, string> => {
  assertErrorPage(answer, 403)
  assert.match(answer.text, /role="alert"[^>]*>This page expired, so nothing was changed\./)
  assert.match(answer.text, /<summary[^>]*>Technical details<\/summary>\s*<div[^>]*>\s*<p>The CSRF token [^<]*svc_csrf/)
  assert.ok(!answer.text.includes(TYPED_PASSWORD))
  const { csrf_token: token, ...fields } = fieldsOf(answer.text, action)
  assert.equal(token, tokenOf(agent), 'a good token is in the form')
  for (const [name, value] of Object.entries(typed)) assert.equal(fields[name], value, name)
  return { csrf_token: token ?? '', ...fields }
}

describe('§5.2 a form that is refused for its token alone is shown again', () => {
  test('login: with the email, return_to and a link for a user who is signed in by now', async () => {
    const { person } = await signedUp(service)
    const agent = newAgent(service)
    const typed = { email: person.email, return_to: '/kept?a=1' }
    const answer = await sendOutdated(agent, '/auth/login', { ...typed, password: TYPED_PASSWORD })
    const fields = assertShownAgain(answer, agent, '/auth/login', typed)
    assert.match(answer.text, /href="\/auth\/login\?return_to=%2Fkept%3Fa%3D1"/)
    const again = await agent.post('/auth/login', { ...fields, password: person.password }, own)
    assertRedirect(again, '/kept?a=1')
  })

  test('signup: with email and username, and no account is made before it is sent again', async () => {
    const person = newPerson()
    const agent = newAgent(service)
    const { password, ...typed } = person
    const answer = await sendOutdated(agent, '/auth/signup', { ...typed, password: TYPED_PASSWORD })
    const fields = assertShownAgain(answer, agent, '/auth/signup', typed)
    await assertCannotLogIn(service, { ...person, password: TYPED_PASSWORD })
    assertRedirect(await agent.post('/auth/signup', { ...fields, password }, own), '/')
  })

  const accountForms: [string, (person: Person) => { typed: Form; secret: Form }][] = [
    ['username', () => ({ typed: { username: 'typed-name' }, secret: {} })],
    ['password', () => ({ typed: {}, secret: { current_password: TYPED_PASSWORD, new_password: TYPED_PASSWORD } })],
    ['delete', ({ password }) => ({ typed: {}, secret: { password } })],
    ['sessions', () => ({ typed: {}, secret: { all_others: '1' } })],
    ['confirm', () => ({ typed: {}, secret: { password: TYPED_PASSWORD } })],
  ]
  for (const [name, formFor] of accountForms) {
    test(`account: ${name}, and nothing is changed`, async () => {
      const { agent, person } = await signedUp(service)
      const other = await loggedIn(service, person)
      const { typed, secret } = formFor(person)
      const path = `/auth/account/${name}`
      const answer = await sendOutdated(agent, path, { ...typed, ...secret })
      assertShownAgain(answer, agent, path, typed)
      assert.ok(!answer.text.includes(person.password))
      for (const visitor of [agent, other]) await assertSignedIn(visitor)
      await assertCanLogIn(service, person)
      assert.match(
        (await agent.get('/auth/account')).text,
        new RegExp(`name="username"[^>]* value="${person.username}"`),
      )
    })
  }

  test('the form for deletion is open', async () => {
    const { agent } = await signedUp(service)
    const { text } = await sendOutdated(agent, '/auth/account/delete', {})
    assert.match(text, /<details open>\s*<summary(?:(?!<\/summary>)[^])*<b>Delete account</)
  })

  test('logout: with return_to, and nobody is logged out', async () => {
    const { agent } = await signedUp(service)
    const answer = await sendOutdated(agent, '/auth/logout', { return_to: '/bye' })
    const fields = assertShownAgain(answer, agent, '/auth/logout', { return_to: '/bye' })
    await assertSignedIn(agent)
    assertRedirect(await agent.post('/auth/logout', fields, own), '/bye')
  })

  test('with the header Origin alone, or without both: some browsers send neither', async () => {
    for (const headers of [{ origin: service.url }, { 'sec-fetch-site': 'same-origin' }, {}]) {
      const agent = newAgent(service)
      assertShownAgain(await sendOutdated(agent, '/auth/login', { email: 'typed' }, headers), agent, '/auth/login', {
        email: 'typed',
      })
    }
  })

  test('what was typed is text', async () => {
    const agent = newAgent(service)
    const { text } = await sendOutdated(agent, '/auth/login', { email: '"><script>alert(1)</script>' })
    assert.ok(!text.includes('<script>') && text.includes('value="&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;"'))
  })

  test('a browser that sends no cookies is told to allow them', async () => {
    const agent = newAgent(service)
    const body = new URLSearchParams({ email: 'typed', csrf_token: 'A'.repeat(43) }).toString()
    const headers = { ...own, cookie: [], 'content-type': 'application/x-www-form-urlencoded' }
    const answer = await agent.send({ method: 'POST', path: '/auth/login', headers, body })
    assertErrorPage(answer, 403)
    assert.match(answer.text, /Allow cookies for this site and try again\./)
    assert.match(answer.text, / value="typed"/)
  })

  test('the log says why it was refused', async () => {
    const answer = await sendOutdated(newAgent(service), '/auth/login', {})
    const line = await loggedLine(service, ({ request_id }) => request_id === answer.headers['x-request-id'])
    assert.deepEqual([line.status, line.code, line.route], [403, 'forbidden', '/auth/login'])
    assert.match(String(line.problem), /^The CSRF token does not match the cookie svc_csrf\./)
  })
})

const assertBareError = (answer: Answer): void => {
  assertErrorPage(answer, 403)
  assert.doesNotMatch(answer.text, /<form|typed-name|typed@example\.com/)
}

describe('§5.2 a form is not shown again', () => {
  test('when it may come from another site', async () => {
    for (const headers of [
      { origin: 'https://evil.example' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site', origin: service.url },
    ]) {
      const { agent } = await signedUp(service)
      assertBareError(await sendOutdated(agent, '/auth/login', { email: 'typed@example.com' }, headers))
      assertBareError(await sendOutdated(agent, '/auth/account/username', { username: 'typed-name' }, headers))
    }
  })

  test('when its fields are no form of the page either: a repeated field, a return_to that is not accepted', async () => {
    const agent = newAgent(service)
    assertBareError(await sendOutdated(agent, '/auth/login', { email: ['typed@example.com', 'b'] }))
    assertBareError(
      await sendOutdated(agent, '/auth/login', { email: 'typed@example.com', return_to: '//evil.example' }),
    )
  })

  test('when its user was logged out in another tab: the page says so, and its button comes back', async () => {
    const forms: [string, Form, string][] = [
      ['/auth/account/username', { username: 'typed-name' }, '%2Fauth%2Faccount'],
      ['/auth/account/sessions', { all_others: '1' }, '%2Fauth%2Faccount'],
      [
        '/auth/account/confirm',
        { return_to: '/kept', password: TYPED_PASSWORD },
        '%2Fauth%2Faccount%2Fconfirm%3Freturn_to%3D%252Fkept',
      ],
    ]
    for (const [path, form, returnTo] of forms) {
      const { agent, person } = await signedUp(service)
      const tab = { ...form, csrf_token: tokenOf(agent) }
      await agent.post('/auth/logout')
      const answer = await agent.post(path, tab, own)
      assertBareError(answer)
      assert.match(answer.text, /<h1>You were logged out<\/h1>/)
      assert.doesNotMatch(answer.text, /Error 403/)
      const [, href = ''] = /<a class="svc-button first" href="([^"]*)">Log in/.exec(answer.text) ?? []
      assert.equal(href, `/auth/login?return_to=${returnTo}`)
      const login = { ...fieldsOf((await agent.get(href)).text, '/auth/login'), ...person }
      assertRedirect(await agent.post('/auth/login', login, own), decodeURIComponent(returnTo))
    }
  })

  test('for a logout after a logout: the page says so', async () => {
    const { agent } = await signedUp(service)
    const tab = { csrf_token: tokenOf(agent) }
    await agent.post('/auth/logout')
    const answer = await agent.post('/auth/logout', tab, own)
    assert.match(answer.text, /<h1>You’re logged out<\/h1>/)
    assert.doesNotMatch(answer.text, /<form|<title>Error/)
  })
})
