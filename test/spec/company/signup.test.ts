// Runs on SQLite.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { currentUser, newAgent, newPerson, signUp } from '../../support/client/accounts.ts'
import { assertCanLogIn, assertCannotLogIn, assertPage, assertRedirect } from '../../support/client/assertions.ts'
import { startOpenIdProvider } from '../../support/provider/openid-provider.ts'
import { newOpenIdUser } from '../../support/provider/openid-provider-users.ts'
import { assertNoSession, startServiceWith } from '../../support/provider/provider-service.ts'
import { signInBy } from '../../support/provider/provider-sign-in.ts'
import { createUser } from '../../support/service/operator-commands.ts'
import { startService } from '../../support/service/service.ts'

const corp = await startOpenIdProvider()
const service = await startServiceWith({ corp }, { env: { SVC_SIGNUP: 'providers' } })

test('`SVC_SIGNUP=providers`: the signup page offers the providers alone, with `return_to`', async () => {
  const page = await newAgent(service).get('/auth/signup?return_to=%2Fkept')
  assertPage(page)
  assert.doesNotMatch(page.text, /action="\/auth\/signup"|type="password"|name="email"/)
  assert.match(page.text, /action="\/auth\/oauth\/corp"[^]*name="return_to" value="\/kept"/)
  const login = await newAgent(service).get('/auth/login')
  assert.match(login.text, /href="\/auth\/signup"/)
})

test('the signup `POST` is 403, with the same page, and makes no account', async () => {
  const person = newPerson()
  const answer = await signUp(newAgent(service), { ...person, return_to: '/kept' })
  assertPage(answer, 403)
  assert.match(answer.text, /action="\/auth\/oauth\/corp"[^]*value="\/kept"/)
  assert.ok(!answer.text.includes(person.password))
  await assertCannotLogIn(service, person)
})

test('a new user of a provider gets an account; an operator makes others, who log in by password', async () => {
  const person = newOpenIdUser()
  const agent = newAgent(service)
  assertRedirect(await signInBy(agent, 'corp', (url) => corp.visit(url, { person })), '/')
  assert.equal((await currentUser(agent)).email, person.email)
  const made = newPerson()
  await createUser(service, made)
  await assertCanLogIn(service, made)
})

test('an email that is missing or not verified is corrected at the provider: no page offers a password', async () => {
  for (const person of [newOpenIdUser({ email_verified: false }), { sub: newOpenIdUser().sub }]) {
    const agent = newAgent(service)
    const answer = await signInBy(agent, 'corp', (url) => corp.visit(url, { person }), { return_to: '/kept' })
    assertNoSession(agent, answer, 403)
    assert.doesNotMatch(answer.text, /\/auth\/signup|with a password/)
    assert.match(answer.text, /action="\/auth\/oauth\/corp"[^]*value="\/kept"/)
  }
})

test('without a provider, nobody can create an account, and the start warns of it', async (t) => {
  const closed = await startService({ t, env: { SVC_SIGNUP: 'providers' } })
  assertPage(await newAgent(closed).get('/auth/signup'), 403)
  assertPage(await signUp(newAgent(closed), newPerson()), 403)
  assert.doesNotMatch((await newAgent(closed).get('/auth/login')).text, /\/auth\/signup/)
  const { stdout, stderr } = await closed.cli(['config'])
  assert.match(stdout + stderr, /SVC_SIGNUP="providers"[^\n]*SVC_OAUTH_PROVIDERS/)
})
