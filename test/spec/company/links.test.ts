// Runs on SQLite.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { currentUser, newAgent, newPerson, signedUp } from '../../support/client/accounts.ts'
import {
  assertCanLogIn,
  assertCannotLogIn,
  assertErrorPage,
  assertPage,
  assertRedirect,
  assertSignedIn,
  assertSignedOut,
} from '../../support/client/assertions.ts'
import type { UserAgent } from '../../support/client/user-agent.ts'
import { startGitHubServer } from '../../support/provider/github-server.ts'
import { startOpenIdProvider } from '../../support/provider/openid-provider.ts'
import { newOpenIdUser, type OpenIdUser } from '../../support/provider/openid-provider-users.ts'
import { githubPersonWith } from '../../support/provider/provider-accounts.ts'
import { assertNoSession, PATIENT, startServiceWith, statusesOf } from '../../support/provider/provider-service.ts'
import { returnFromProvider, signInBy, startAt } from '../../support/provider/provider-sign-in.ts'
import { openReset, RESET, resetTokenOf } from '../../support/recovery/reset.ts'
import {
  createUser,
  disableUser,
  enableUser,
  runCommandOf,
  runJsonCommandOf,
} from '../../support/service/operator-commands.ts'

const corp = await startOpenIdProvider()
const github = await startGitHubServer()
const service = await startServiceWith({ corp, github }, { env: PATIENT })
/** From before passwords were turned off. */
const old = await signedUp(service)
await service.restart({ env: { SVC_PASSWORDS: 'off' } })

const byCorp = (person: OpenIdUser) => (url: string) => corp.visit(url, { person })

/** An account that an operator has made: nobody can sign in to it. */
const made = async () => {
  const person = newPerson()
  await createUser(service, person)
  return { person, token: await resetTokenOf(service, person.email) }
}

const enterBy = (agent: UserAgent, token: string, person: OpenIdUser) =>
  signInBy(agent, 'corp', byCorp(person), { intent: 'reset', token })

test('a reset link offers the providers, and no password, and says whose account it is', async () => {
  const { person, token } = await made()
  const page = await openReset(newAgent(service), token)
  assertPage(page)
  assert.equal(page.headers['referrer-policy'], 'strict-origin')
  assert.ok(page.text.indexOf(person.email) < page.text.indexOf('<button class="svc-button second"'))
  assert.match(
    page.text,
    new RegExp(`/auth/oauth/corp"[^]*name="intent" value="reset"[^]*name="token" value="${token}"`),
  )
  assert.doesNotMatch(page.text, /type="password"/)
  const agent = newAgent(service)
  assertErrorPage(await agent.post(RESET, { token, password: newPerson().password }), 404)
})

test('the link connects the provider, whatever its email, and signs in; then it is used up', async () => {
  const { person, token } = await made()
  const [agent, employee] = [newAgent(service), newOpenIdUser()]
  assertRedirect(await enterBy(agent, token, employee), '/')
  assert.equal((await currentUser(agent)).email, person.email)
  const again = newAgent(service)
  assertRedirect(await signInBy(again, 'corp', byCorp(employee)), '/')
  assert.equal((await currentUser(again)).email, person.email)
  assertPage(await newAgent(service).post('/auth/oauth/corp', { intent: 'reset', token }), 410)
  assertPage(await openReset(newAgent(service), token), 410)
})

test('a link is not used up at the start, nor by what fails at the provider or after it', async () => {
  const { token } = await made()
  const [agent, taken, employee] = [newAgent(service), newOpenIdUser(), newOpenIdUser()]
  await startAt(newAgent(service), 'corp', { intent: 'reset', token })
  const url = await startAt(agent, 'corp', { intent: 'reset', token })
  const cancelled = await returnFromProvider(agent, await corp.visit(url, { answer: 'cancel' }))
  assertNoSession(agent, cancelled, 403)
  assert.match(cancelled.text, new RegExp(`/auth/oauth/corp"[^]*value="reset"[^]*name="token" value="${token}"`))
  assert.equal(cancelled.headers['referrer-policy'], 'strict-origin')

  assertRedirect(await signInBy(newAgent(service), 'corp', byCorp(taken)), '/')
  const refused = await enterBy(agent, token, taken)
  assertNoSession(agent, refused, 409)
  assert.match(refused.text, /Connected to another account/)

  assertRedirect(await enterBy(agent, token, employee), '/')
})

test('two browsers with one link at once: one gets in', async () => {
  const { token } = await made()
  const agents = [newAgent(service), newAgent(service)] as const
  const people = [newOpenIdUser(), newOpenIdUser()] as const
  // Both are at the provider before one of them is back: the link of a browser that begins later is dead at once.
  const urls = await Promise.all(agents.map((agent) => startAt(agent, 'corp', { intent: 'reset', token })))
  const visits = await Promise.all(urls.map((url, nth) => corp.visit(url, { person: people[nth] ?? assert.fail() })))
  const answers = await Promise.all(visits.map((visit, nth) => returnFromProvider(agents[nth] ?? assert.fail(), visit)))
  assert.deepEqual(statusesOf(answers), [303, 410])
  const out = answers[0]?.status === 410 ? 0 : 1
  await assertSignedOut(agents[out])
  const { text } = await signInBy(newAgent(service), 'corp', byCorp(people[out]))
  assert.doesNotMatch(text, /Connected/, 'the other provider account is connected to nothing')
})

test('the state of a link counts when the user is back: a newer event has ended it', async () => {
  const { person, token } = await made()
  const agent = newAgent(service)
  const url = await startAt(agent, 'corp', { intent: 'reset', token })
  await disableUser(service, person.email)
  await enableUser(service, person.email)
  const employee = newOpenIdUser()
  assertPage(await returnFromProvider(agent, await corp.visit(url, { person: employee })), 410)
  await assertSignedOut(agent)
})

test('an account from before: everything else of it ends, and its password for good', async () => {
  const token = await resetTokenOf(service, old.person.email)
  const agent = newAgent(service)
  assertRedirect(await enterBy(agent, token, newOpenIdUser()), '/')
  assert.equal((await currentUser(agent)).email, old.person.email)
  await assertSignedOut(old.agent)
  const list = ['audit', 'list', '--user', old.person.email]
  const records = await runJsonCommandOf<{ type: string; details: object }[]>(service, list)
  const told = records.toReversed().map(({ type, details }) => [type, details] as const)
  assert.deepEqual(
    told.slice(2).map(([type]) => type),
    [
      'password.reset_link_created',
      'identity.taken_over',
      'session.ended',
      'email.verified',
      'password.reset',
      'identity.linked',
      'login.succeeded',
    ],
  )
  assert.deepEqual(told.find(([type]) => type === 'password.reset')?.[1], { method: 'corp' })
  await service.restart({ env: { SVC_PASSWORDS: 'on' } })
  await assertCannotLogIn(service, old.person)
  await service.restart({ env: { SVC_PASSWORDS: 'off' } })
})

test('where another provider is connected, the page after it lists both', async () => {
  const [agent, employee] = [newAgent(service), newOpenIdUser()]
  assertRedirect(await signInBy(agent, 'corp', byCorp(employee)), '/')
  const { email } = await currentUser(agent)
  const token = await resetTokenOf(service, email)
  const octo = githubPersonWith(email)
  const other = newAgent(service)
  const answer = await signInBy(other, 'github', (url) => github.visit(url, { person: octo }), {
    intent: 'reset',
    token,
  })
  assertRedirect(answer, '/auth/account/ways-in?return_to=%2F')
  await assertSignedOut(agent)
  const page = await other.get(answer.location ?? '')
  assertPage(page)
  assert.equal(page.text.match(/name="identity_id"/g)?.length, 2)
  assert.doesNotMatch(page.text.replace(/<[^>]*>/g, ' '), /password/i)
})

test('a link of another purpose, none, or with passwords on: nothing is begun', async () => {
  const { token } = await made()
  const agent = newAgent(service)
  assertPage(await agent.post('/auth/oauth/corp', { intent: 'undo', token }), 410)
  assertPage(await agent.post('/auth/oauth/corp', { intent: 'reset', token: 'x' }), 410)
  assertErrorPage(await agent.post('/auth/oauth/corp', { intent: 'reset' }), 400)
  assertErrorPage(await agent.post('/auth/oauth/corp', { intent: 'reset', token: [token, token] }), 400)
  assertErrorPage(await agent.post('/auth/oauth/corp', { intent: 'verify', token }), 400)
  await service.restart({ env: { SVC_PASSWORDS: 'on' } })
  assertPage(await newAgent(service).post('/auth/oauth/corp', { intent: 'reset', token }), 400)
  const { person } = await signedUp(service)
  await assertCanLogIn(service, person)
  await service.restart({ env: { SVC_PASSWORDS: 'off' } })
})

test('`reset-link` and `create` say what their link is for', async () => {
  const { email } = newPerson()
  await runCommandOf(service, ['users', 'create', email])
  const agent = newAgent(service)
  const token = await resetTokenOf(service, email)
  assertRedirect(await enterBy(agent, token, newOpenIdUser()), '/')
  await assertSignedIn(agent)
})
