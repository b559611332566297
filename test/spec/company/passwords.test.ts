// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { currentUser, newAgent, newPerson, type Person, signedUp, signUp } from '../../support/client/accounts.ts'
import { assertErrorPage, assertPage, assertRedirect, assertSignedIn } from '../../support/client/assertions.ts'
import type { UserAgent } from '../../support/client/user-agent.ts'
import { startGitHubServer } from '../../support/provider/github-server.ts'
import { startOpenIdProvider } from '../../support/provider/openid-provider.ts'
import { newOpenIdUser, type OpenIdUser } from '../../support/provider/openid-provider-users.ts'
import { githubPersonWith } from '../../support/provider/provider-accounts.ts'
import {
  assertNoSession,
  PATIENT,
  providerSettings,
  startServiceWith,
} from '../../support/provider/provider-service.ts'
import { signInBy } from '../../support/provider/provider-sign-in.ts'
import { openDatabase } from '../../support/database/database.ts'
import { listUsers, runCommandOf, showUser } from '../../support/service/operator-commands.ts'

const corp = await startOpenIdProvider()
const github = await startGitHubServer()
const service = await startServiceWith({ corp, github }, { env: PATIENT })
/** From before passwords were turned off. */
const { person: known, agent: knownAgent } = await signedUp(service)
const both = newOpenIdUser()
const byCorp = (person: OpenIdUser) => (url: string) => corp.visit(url, { person })
const bothAgent = newAgent(service)
await signInBy(bothAgent, 'corp', byCorp(both))
const bothPerson: Person = { ...newPerson(), email: both.email ?? '' }
assertRedirect(
  await bothAgent.post('/auth/account/password', { new_password: bothPerson.password }),
  '/auth/account?done=password_set',
)
await service.restart({ env: { SVC_PASSWORDS: 'off' } })
const database = await openDatabase(service)

const userOfCorp = async (person: OpenIdUser = newOpenIdUser()) => {
  const agent = newAgent(service)
  assertRedirect(await signInBy(agent, 'corp', byCorp(person)), '/')
  return { agent, person, user: await currentUser(agent) }
}

const ageSessions = (userId: string) =>
  database.rows('UPDATE sessions SET authenticated_at = authenticated_at - 660000 WHERE user_id = ?', userId)

const assertWithoutPassword = ({ text }: { text: string }) => {
  assert.doesNotMatch(text, /type="password"/)
  // That of the provider is another.
  const own = text.replaceAll('change the password of what you log in with', '')
  assert.doesNotMatch(own.replace(/<[^>]*>/g, ' '), /password/i)
}

test('`SVC_PASSWORDS=off`: login and signup offer the providers alone', async () => {
  for (const path of ['/auth/login', '/auth/signup', '/auth/login?done=signed_out', '/auth/login?done=deleted']) {
    const page = await newAgent(service).get(`${path}${path.includes('?') ? '&' : '?'}return_to=%2Fkept`)
    assertPage(page)
    assertWithoutPassword(page)
    assert.match(
      page.text,
      /action="\/auth\/oauth\/corp"[^]*name="return_to" value="\/kept"[^]*action="\/auth\/oauth\/gith/,
    )
  }
})

test('what takes a password is 404, signed in or not, with a CSRF token or without', async () => {
  const { agent } = await userOfCorp()
  const form = { ...known, current_password: known.password, new_password: newPerson().password, pending: 'x' }
  for (const one of [newAgent(service), agent]) {
    for (const path of ['/auth/login', '/auth/signup', '/auth/account/password', '/auth/account/confirm'])
      assertErrorPage(await one.post(path, form), 404)
    assertErrorPage(await one.post('/auth/login', { ...form, csrf_token: 'wrong' }), 404)
    assertErrorPage(await one.post('/auth/oauth/corp/link', form), 404)
    assertErrorPage(await one.get('/auth/account/password'), 404)
  }
  assert.equal((await listUsers(service)).filter(({ email }) => email === known.email).length, 1)
})

test('a user of a provider sees and needs no password: account, re-authentication, deletion', async () => {
  const { agent, person, user } = await userOfCorp()
  const account = await agent.get('/auth/account')
  assertPage(account)
  assertWithoutPassword(account)
  assert.match(account.text, /action="\/auth\/account\/delete"/)
  await ageSessions(user.id)
  const aged = await agent.get('/auth/account')
  assertWithoutPassword(aged)
  assert.match(aged.text, /href="\/auth\/account\/confirm[^"]*delete-account" aria-label="Delete account"/)
  assertRedirect(await agent.post('/auth/account/delete', { password: '' }), '/auth/account/confirm')
  const confirm = await agent.get('/auth/account/confirm')
  assertPage(confirm)
  assertWithoutPassword(confirm)
  assert.match(confirm.text, /action="\/auth\/oauth\/corp"[^]*name="intent" value="confirm"/)
  assertRedirect(await signInBy(agent, 'corp', byCorp(person), { intent: 'confirm' }), '/auth/account?done=confirmed')
  assertRedirect(await agent.post('/auth/account/delete'), '/auth/login?done=deleted')
})

/** What a password used to allow a user who is signed in. */
const assertHashOpensNothing = async (agent: UserAgent, userId: string, password: string) => {
  await ageSessions(userId)
  assertRedirect(await agent.post('/auth/account/delete', { password }), '/auth/account/confirm')
  await assertSignedIn(agent)
}

test('a password from before stays in the database, and opens nothing; the session goes on', async () => {
  const before = await currentUser(knownAgent)
  await assertHashOpensNothing(knownAgent, before.id, known.password)
  const { agent, user } = await userOfCorp(both)
  await assertHashOpensNothing(agent, user.id, bothPerson.password)
  const hashes = await database.rows('SELECT password_hash FROM users WHERE id = ?', before.id)
  assert.match(String(hashes[0]?.password_hash), /^\$argon2id\$/)
  const page = await agent.get('/auth/account')
  assert.match(page.text, /Your only way to log in/, 'the hash is no other way')
})

test('the only provider of an account cannot be disconnected, although there is a hash', async () => {
  const { agent, user } = await userOfCorp(both)
  assertRedirect(await signInBy(agent, 'corp', byCorp(both), { intent: 'confirm' }), '/auth/account?done=confirmed')
  const [identity] = await database.rows('SELECT id FROM identities WHERE user_id = ?', user.id)
  const form = { identity_id: String(identity?.id) }
  const answer = await agent.post('/auth/account/identities', form)
  assertPage(answer, 409)
  assertWithoutPassword(answer)
  const octo = githubPersonWith(user.email)
  const linked = await signInBy(agent, 'github', (url) => github.visit(url, { person: octo }), { intent: 'link' })
  assertRedirect(linked, '/auth/account?done=linked')
  assertRedirect(await agent.post('/auth/account/identities', form), '/auth/account?done=unlinked')
})

test('an account of the same email is connected by a provider or taken over, never by a password', async () => {
  const page = await signInBy(newAgent(service), 'corp', byCorp(newOpenIdUser({ email: known.email })))
  assertPage(page, 409)
  assert.match(page.text, /\/auth\/oauth\/corp\/claim/)
  assert.doesNotMatch(page.text, /action="\/auth\/oauth\/corp\/link|type="password"/)
})

test('the command line asks for no password, sets none, and says what to do instead', async () => {
  const { email, username } = newPerson()
  const created = await service.cli(['users', 'create', email, '--username', username], { input: '' })
  assert.equal(created.code, 0, created.stderr)
  assert.match(created.stderr, new RegExp(`svc users reset-link ${username}`))
  assert.equal((await showUser(service, email)).username, username)
  const refused = await service.cli(['users', 'set-password', email], { input: `${newPerson().password}\n` })
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /SVC_PASSWORDS=off[^]*svc users reset-link/)
  const hashes = await database.rows('SELECT password_hash FROM users WHERE email = ?', email)
  assert.deepEqual(
    hashes.map(({ password_hash }) => password_hash),
    [null],
  )
})

test('an account that the command line has made is entered by the provider that has verified its email, once', async () => {
  const { email, username } = newPerson()
  await runCommandOf(service, ['users', 'create', email, '--username', username, '--role', 'admin'])
  const stranger = await signInBy(newAgent(service), 'corp', byCorp(newOpenIdUser({ email, email_verified: false })))
  assertPage(stranger, 403)
  const agent = newAgent(service)
  assertRedirect(await signInBy(agent, 'corp', byCorp(newOpenIdUser({ email }))), '/')
  const { roles, username: kept } = await currentUser(agent)
  assert.deepEqual([roles, kept], [['admin'], username])
  const second = await signInBy(newAgent(service), 'corp', byCorp(newOpenIdUser({ email })))
  assertPage(second, 409)
})

test('`SVC_SIGNUP` holds: `off` gives new users of a provider no account', async () => {
  await service.restart({ env: { SVC_SIGNUP: 'off' } })
  const agent = newAgent(service)
  assertNoSession(agent, await signInBy(agent, 'corp', byCorp(newOpenIdUser())), 403)
  assertPage(await agent.get('/auth/signup'), 403)
  assertErrorPage(await signUp(agent, newPerson()), 404)
  await service.restart({ env: { SVC_SIGNUP: undefined } })
})

test('without a provider and without passkeys it is an error of the configuration', async () => {
  const none = Object.fromEntries(Object.keys(providerSettings({ corp, github })).map((name) => [name, undefined]))
  const { code, stderr } = await service.cli(['users', 'list'], { env: { ...none, SVC_PASSKEYS: 'off' } })
  assert.equal(code, 78)
  assert.match(stderr, /SVC_OAUTH_PROVIDERS is missing: with SVC_PASSWORDS=off/)
  assert.equal(
    (await service.cli(['users', 'list'], { env: { ...none, SVC_BASE_URL: 'http://localhost:8080' } })).code,
    0,
  )
})
