// Runs on SQLite.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { currentUser, logIn, newAgent, newPerson, signedUp, signUp } from '../../support/client/accounts.ts'
import { assertErrorPage, assertPage, assertRedirect } from '../../support/client/assertions.ts'
import { startSmtpServer } from '../../support/network/smtp-server.ts'
import { runCommandOf, runJsonCommandOf, setPassword } from '../../support/service/operator-commands.ts'
import { startService } from '../../support/service/service.ts'

const service = await startService({ env: { SVC_USERNAMES: 'off' } })

const wordsOf = (html: string): string => html.replace(/<[^>]*>/g, ' ')

test('`SVC_USERNAMES=off`: signup asks for none, and what a form says of one does not count', async () => {
  const page = await newAgent(service).get('/auth/signup')
  assertPage(page)
  assert.doesNotMatch(page.text, /name="username"|>Username/)
  assert.doesNotMatch(wordsOf(page.text), /username/i)
  for (const username of ['chosen', 'no valid username !', ['two', 'three']]) {
    const agent = newAgent(service)
    const { email, password } = newPerson()
    const answer = await signUp(agent, { email, password, username })
    assertRedirect(answer, '/')
    assert.equal((await currentUser(agent)).username, email.split('@')[0])
  }
})

test('a refused signup says nothing of usernames either', async () => {
  const { person } = await signedUp(service)
  const { email, password } = newPerson()
  for (const [form, status] of [
    [{ email: 'x', password, username: 'typed-name' }, 422],
    [{ email, password: `${email.split('@')[0]}1`, username: '' }, 422],
    [{ ...person, password }, 409],
  ] as const) {
    const answer = await signUp(newAgent(service), form)
    assertPage(answer, status)
    assert.doesNotMatch(wordsOf(answer.text), /username/i)
    assert.doesNotMatch(answer.text, /typed-name|name="username"/)
  }
})

test('two users whose emails begin alike get usernames of their own', async () => {
  const { email, password } = newPerson()
  const [name, domain] = email.split('@')
  const users = await Promise.all(
    [`${name}@${domain}`, `${name}@other.${domain}`].map(async (own) => {
      const agent = newAgent(service)
      assertRedirect(await signUp(agent, { email: own, password }), '/')
      return currentUser(agent)
    }),
  )
  assert.equal(new Set(users.map(({ username }) => username)).size, 2)
})

test('the account page shows and changes none, and its route is 404', async () => {
  const { agent } = await signedUp(service)
  const page = await agent.get('/auth/account')
  assertPage(page)
  const { username } = await currentUser(agent)
  // It begins the email.
  assert.ok(!wordsOf(page.text).replaceAll(`${username}@`, '').includes(username))
  assert.doesNotMatch(page.text, /account\/username|name="username"|>Username</)
  assertErrorPage(await agent.post('/auth/account/username', { username: 'another' }), 404)
  assertErrorPage(await agent.get('/auth/account/username'), 404)
  assert.equal((await currentUser(agent)).username, username)
})

test('the email alone logs in, in any case of its letters', async () => {
  const { agent, person } = await signedUp(service)
  for (const email of [person.email.toUpperCase(), ` ${person.email[0]?.toUpperCase()}${person.email.slice(1)} `]) {
    assertRedirect(await logIn(newAgent(service), { ...person, email }), '/')
  }
  const { username } = await currentUser(agent)
  assertPage(await logIn(newAgent(service), { ...person, email: username }), 401)
})

test('`svc users set-username` changes it, and tells the user only where users see their usernames', async (t) => {
  const smtp = await startSmtpServer({ t })
  const env = { ...smtp.env, SVC_EMAIL_VERIFICATION: 'off' }
  for (const [SVC_USERNAMES, told] of [
    ['on', ['password_changed', 'username_changed']],
    ['off', ['password_changed']],
  ] as const) {
    const operated = await startService({ t, env: { ...env, SVC_USERNAMES } })
    const { agent, person } = await signedUp(operated)
    const { username } = newPerson()
    await runCommandOf(operated, ['users', 'set-username', person.email, username])
    assert.equal((await currentUser(agent)).username, username)
    await setPassword(operated, person.email, newPerson().password)
    const messages = await runJsonCommandOf<{ to: string; purpose: string }[]>(operated, ['mail', 'list'])
    const purposes = messages.filter(({ to }) => to === person.email).map(({ purpose }) => purpose)
    assert.deepEqual(purposes.toSorted(), told)
  }
})
