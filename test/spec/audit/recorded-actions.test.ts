// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { AUDIT_TYPES, type AuditType } from '../../../src/audit/audit-event.ts'
import { openMachineAdmin } from '../../support/admin/machine-admin.ts'
import { loggedIn, logIn, logOut, newAgent, newPerson, type Person } from '../../support/client/accounts.ts'
import { createBackend } from '../../support/client/backend.ts'
import { type Answer, createUserAgent, type UserAgent } from '../../support/client/user-agent.ts'
import { codeFor, madeClient, REDIRECT_URI } from '../../support/clients/authorization.ts'
import { VERIFIER } from '../../support/clients/tokens.ts'
import { turnedClock } from '../../support/clock/turned-clock.ts'
import { openDatabase } from '../../support/database/database.ts'
import { asked, askFor, confirm, startMailedService, undo, VERIFY } from '../../support/email/email-change.ts'
import { startWebhookReceiver, status } from '../../support/network/webhook-receiver.ts'
import { createAuthenticator } from '../../support/passkeys/authenticator.ts'
import { addPasskey, logInWithPasskey, tryToAddPasskey } from '../../support/passkeys/passkeys.ts'
import { startOpenIdProvider } from '../../support/provider/openid-provider.ts'
import { newOpenIdUser } from '../../support/provider/openid-provider-users.ts'
import { pendingOn } from '../../support/provider/provider-service.ts'
import { signInBy } from '../../support/provider/provider-sign-in.ts'
import { acceptBy, invite } from '../../support/recovery/invitation.ts'
import { askForLink, resetBy, resetMailFor, resetTokenOf, tokenOf } from '../../support/recovery/reset.ts'
import { codeOf, pressLink, typeCode, WRONG } from '../../support/recovery/sign-in-by-mail.ts'
import { codeAt } from '../../support/second-factor/authenticator-app.ts'
import { readOfferedSetUp, readRecoveryCodes, SECOND_FACTOR_PAGE } from '../../support/second-factor/app-set-up.ts'
import { runCommandOf } from '../../support/service/operator-commands.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { eventually } from '../../support/wait.ts'

const STEP_MS = 30_000

const corp = await startOpenIdProvider()
const receiver = await startWebhookReceiver()
receiver.answerWith(status(500))
const clock = turnedClock()
const mailed = await startMailedService({
  clock,
  providers: { corp },
  env: {
    SVC_EMAIL_VERIFICATION: 'optional',
    SVC_EMAIL_SIGN_IN: 'on',
    SVC_RATE_LIMIT: 'on',
    SVC_NAMES: 'optional',
    SVC_CLIENTS: 'on',
    SVC_TRUSTED_BROWSER_TTL: '720h',
    SVC_WEBHOOK_URL: receiver.url,
    SVC_WEBHOOK_SECRET: 'a secret of enough bytes',
    SVC_WEBHOOK_ENABLED_EVENTS: 'user.deleted',
  },
})
const { service, operator } = mailed
const database = await openDatabase(service)

const CLIENT = { address: '203.0.113.9', user_agent: 'Table/1.0' }
/** The service, as this client of all users reaches it. */
const site = {
  url: service.url,
  headers: { 'user-agent': CLIENT.user_agent, 'x-forwarded-for': CLIENT.address },
}

/** What must be in no row: passwords, tokens, codes and cookies, and whatever tells one person from another. */
const unspeakable = new Set<string>()
const unspoken = <Text extends string>(text: Text): Text => {
  unspeakable.add(text)
  return text
}
const noteCookies = ({ cookies }: UserAgent): void => {
  for (const name of ['svc_access', 'svc_refresh', 'svc_csrf', 'svc_device', 'svc_link', 'svc_oauth', 'svc_pending'])
    for (const part of cookies.get(name)?.split('.').slice(-1) ?? []) if (part !== '') unspoken(part)
}

const anyone = (): Person => {
  const person = newPerson()
  for (const text of Object.values(person)) unspoken(text)
  return person
}

/** An account with a proved address. */
const newAccount = async (person = anyone()) => {
  const { id } = await operator.users.create({ ...person, emailVerified: true })
  return { id, person }
}

/** The same, and an agent that is signed in to it. */
const newUser = async (person = anyone()) => {
  const { id } = await newAccount(person)
  const agent = await loggedIn(site, person)
  noteCookies(agent)
  return { id, person, agent, session: sessionOf(agent) }
}

/** An account that anybody may have made, with an address that nobody has proved. */
const newStranger = async (person = anyone()) => {
  const agent = newAgent(site)
  assert.equal((await agent.post('/auth/signup', person)).status, 303)
  return { person, agent, id: await idOf(person) }
}

const idOf = async ({ email }: Pick<Person, 'email'>): Promise<string> => {
  const [row] = await database.rows('SELECT id FROM users WHERE email = ?', email)
  return String(row?.id)
}

const sessionOf = ({ cookies }: UserAgent): string => cookies.get('svc_refresh')?.split('.')[0] ?? ''

const backend = await createBackend(service, ['users:write', 'credentials:write', 'sessions:write', 'clients:write'])
unspoken(backend.key)
const call = (method: string, way: string, body?: unknown) => backend.call(method, way, body, site.headers)
const [{ name: keyName = '' } = {}] = await database.rows('SELECT name FROM api_keys WHERE id = ?', backend.id)

/** Who has done something, and what the record must say of it. */
type Done = { user?: string | undefined; session?: string; details?: Record<string, unknown> } & (
  | { by: 'user' | 'api'; answer: Answer }
  | { by: 'cli' | 'system' }
)

const cli = (args: string[], input = ''): Promise<string> => {
  if (input) unspoken(input)
  return runCommandOf(service, args, input)
}

const identityOf = async (user: string): Promise<string> => {
  const [row] = await database.rows('SELECT id FROM identities WHERE user_id = ?', user)
  return String(row?.id)
}

/** An account that came by the provider. */
const byProvider = async () => {
  const openIdUser = newOpenIdUser()
  const agent = createUserAgent(site)
  const visit = (url: string) => corp.visit(url, { person: openIdUser })
  const answer = await signInBy(agent, 'corp', visit)
  noteCookies(agent)
  const id = await idOf({ email: String(openIdUser.email) })
  return { id, agent, answer, visit, session: sessionOf(agent) }
}

/** A user sets up an app, and has a code half a minute later. */
const withApp = async () => {
  const user = await newUser()
  const { secret, sealed } = readOfferedSetUp(await user.agent.get(SECOND_FACTOR_PAGE))
  const code = codeAt(unspoken(secret), clock.now())
  const answer = await user.agent.post(SECOND_FACTOR_PAGE, { set_up: sealed, code })
  const recoveryCodes = readRecoveryCodes(await user.agent.get(answer.location ?? '')).map(unspoken)
  const nextCode = async () => {
    await clock.turnTo(clock.aheadMs() + STEP_MS)
    return codeAt(secret, clock.now())
  }
  return { ...user, answer, recoveryCodes, nextCode }
}

const withPasskey = async () => {
  const user = await newUser()
  const authenticator = createAuthenticator({ origin: service.url })
  const passkey = await addPasskey(user.agent, authenticator)
  return { ...user, authenticator, passkey }
}

const newClient = async (...options: string[]) => {
  const { id, secret } = await madeClient(service, { name: 'Recorded', options })
  if (secret !== undefined) unspoken(secret)
  return { id, secret, details: { client_id: id, client_name: 'Recorded' } }
}

const token = (form: Record<string, string>): Promise<Answer> => createUserAgent(site).post('/auth/oauth2/token', form)

/** A user who has a code for a public client, and what the client sends with it. */
const withCode = async () => {
  const [client, user] = [await newClient('--type', 'native'), await newUser()]
  const code = unspoken(await codeFor(user.agent, client.id))
  const fields = { client_id: client.id, grant_type: 'authorization_code', code, code_verifier: VERIFIER }
  const trade = () => token({ ...fields, redirect_uri: REDIRECT_URI })
  const grantOf = async () => {
    const [row] = await database.rows('SELECT id FROM grants WHERE user_id = ?', user.id)
    return String(row?.id)
  }
  return { ...user, client, trade, grantOf }
}

/** A browser that has asked for a code, and what the message brought. */
const withMail = async () => {
  const { id, person } = await newAccount()
  const agent = createUserAgent(site)
  const answer = await agent.post('/auth/login/email', { email: person.email })
  const mail = await mailed.smtp.receivedFor(person.email)
  return { id, agent, answer, code: unspoken(codeOf(mail)), token: unspoken(tokenOf(mail.link)) }
}

const emailTo = () => unspoken(anyone().email)

/**
 * The owner of an address takes over what a stranger has made with it. The stranger is signed in, and has a role that an
 * operator meant for the owner.
 */
const strangersAccount = async () => {
  const { id, person } = await newStranger()
  await operator.users.change(id, { roles: ['admin'] })
  return { id, email: person.email }
}

const takeOverByProvider = async () => {
  const { id, email } = await strangersAccount()
  const agent = createUserAgent(site)
  const owner = newOpenIdUser({ email })
  const pending = pendingOn(await signInBy(agent, 'corp', (url) => corp.visit(url, { person: owner })))
  return { id, answer: await agent.post('/auth/oauth/corp/claim', { pending: unspoken(pending) }) }
}

const takeOverByVerification = async () => {
  const { id, email } = await strangersAccount()
  const token = unspoken(await mailed.tokenTo(email))
  return { id, answer: await createUserAgent(site).post(VERIFY, { token, new_password: unspoken(randomUUID()) }) }
}

const takeOverByReset = async () => {
  const { id, email } = await strangersAccount()
  const agent = createUserAgent(site)
  await askForLink(agent, email)
  const token = unspoken(tokenOf((await resetMailFor(mailed.smtp, email)).link))
  return { id, answer: await resetBy(agent, token, unspoken(randomUUID())) }
}

/** Of an account of the command line. */
const byCommand = async (...args: string[]): Promise<Done> => {
  const { id } = await newAccount()
  await cli(args.map((arg) => (arg === 'USER' ? id : arg)))
  return { by: 'cli', user: id }
}

const byApi = async (method: string, way: string, body?: unknown): Promise<Done> => {
  const { id } = await newAccount()
  const answer = await call(method, way.replace('USER', id), body)
  assert.ok(answer.status < 300, answer.text)
  return { by: 'api', user: id, answer }
}

/** THE table: each type, and the actions that are recorded as it. */
const ACTIONS: Partial<Record<AuditType, Record<string, (t: TestContext) => Promise<Done>>>> = {
  'login.succeeded': {
    async 'by password'() {
      const { id, person } = await newAccount()
      const agent = newAgent(site)
      const answer = await logIn(agent, person)
      return { by: 'user', answer, user: id, session: sessionOf(agent), details: { method: 'password' } }
    },
    async 'by a provider'() {
      const { id, visit } = await byProvider()
      const agent = createUserAgent(site)
      const answer = await signInBy(agent, 'corp', visit)
      return { by: 'user', answer, user: id, session: sessionOf(agent), details: { method: 'corp' } }
    },
    async 'by passkey'() {
      const { id, authenticator } = await withPasskey()
      const agent = newAgent(site)
      const answer = await logInWithPasskey(agent, authenticator)
      return { by: 'user', answer, user: id, session: sessionOf(agent), details: { method: 'passkey' } }
    },
    async 'with a code, at its end'() {
      const { id, person, nextCode } = await withApp()
      const agent = newAgent(site)
      await logIn(agent, person)
      const answer = await agent.post('/auth/login/code', { code: await nextCode() })
      return { by: 'user', answer, user: id, session: sessionOf(agent), details: { method: 'password' } }
    },
    async 'by a link'() {
      const { id, person } = await newAccount()
      const agent = createUserAgent(site)
      const answer = await resetBy(agent, await resetTokenOf(service, person.email), unspoken(randomUUID()))
      return { by: 'user', answer, user: id, session: sessionOf(agent), details: { method: 'link' } }
    },
    async 'by a code of a message'() {
      const { id, agent, code } = await withMail()
      const answer = await typeCode(agent, code)
      return { by: 'user', answer, user: id, session: sessionOf(agent), details: { method: 'email_code' } }
    },
    async 'by a link of a message'() {
      const { id, agent, token } = await withMail()
      const answer = await pressLink(agent, token)
      return { by: 'user', answer, user: id, session: sessionOf(agent), details: { method: 'email_link' } }
    },
    async 'at a signup'() {
      const person = anyone()
      const agent = newAgent(site)
      const answer = await agent.post('/auth/signup', person)
      return {
        by: 'user',
        answer,
        user: await idOf(person),
        session: sessionOf(agent),
        details: { method: 'password' },
      }
    },
    async 'at a signup by a provider'() {
      const { id, answer, session } = await byProvider()
      return { by: 'user', answer, user: id, session, details: { method: 'corp' } }
    },
    async 'by an invitation'() {
      const { email, password } = anyone()
      const { user, token } = await invite(service, email)
      const agent = createUserAgent(site)
      const answer = await acceptBy(agent, unspoken(token), password)
      return { by: 'user', answer, user: user.id, session: sessionOf(agent), details: { method: 'password' } }
    },
    async 'in place of the session that has changed the password'() {
      const { id, person, agent } = await newUser()
      const form = { current_password: person.password, new_password: unspoken(randomUUID()) }
      const answer = await agent.post('/auth/account/password', form)
      return { by: 'user', answer, user: id, session: sessionOf(agent), details: { method: 'password' } }
    },
    async 'in place of the session that has set up an app'() {
      const { id, agent, answer } = await withApp()
      return { by: 'user', answer, user: id, session: sessionOf(agent), details: { method: 'code' } }
    },
    async 'again, to confirm who it is'() {
      const { id, person, agent } = await newUser()
      const answer = await agent.post('/auth/account/confirm', { password: person.password })
      return { by: 'user', answer, user: id, session: sessionOf(agent), details: { method: 'password' } }
    },
  },
  'login.failed': {
    async 'a wrong password'() {
      const { id, person } = await newAccount()
      const answer = await logIn(newAgent(site), { ...person, password: unspoken(randomUUID()) })
      return { by: 'user', answer, user: id, details: { method: 'password', reason: 'password_wrong', count: 1 } }
    },
    async 'several, in one record'() {
      const { id, person } = await newAccount()
      const wrong = { ...person, password: unspoken(randomUUID()) }
      const answer = await logIn(newAgent(site), wrong)
      for (let tries = 0; tries < 3; tries += 1) await logIn(newAgent(site), wrong)
      return { by: 'user', answer, user: id, details: { method: 'password', reason: 'password_wrong', count: 4 } }
    },
    async 'an email that nobody has'() {
      const answer = await logIn(newAgent(site), anyone())
      const details = { method: 'password', reason: 'unknown_account', account: /^[0-9a-f]{16}$/, count: 1 }
      return { by: 'user', answer, details }
    },
    async 'a wrong code'() {
      const { id, person } = await withApp()
      const agent = newAgent(site)
      await logIn(agent, person)
      const answer = await agent.post('/auth/login/code', { code: '000000' })
      return { by: 'user', answer, user: id, details: { method: 'code', reason: 'code_wrong', count: 1 } }
    },
    async 'a wrong code of a message'() {
      const { id, agent } = await withMail()
      const answer = await typeCode(agent, WRONG)
      return { by: 'user', answer, user: id, details: { method: 'email_code', reason: 'mail_code_wrong', count: 1 } }
    },
    async 'a wrong password on the account page'() {
      const { id, agent, session } = await newUser()
      const answer = await agent.post('/auth/account/delete', { password: unspoken(randomUUID()) })
      const details = { method: 'password', reason: 'password_wrong', count: 1 }
      return { by: 'user', answer, user: id, session, details }
    },
    async 'a disabled account'() {
      const { id, person } = await newAccount()
      await cli(['users', 'disable', id])
      const answer = await logIn(newAgent(site), person)
      return { by: 'user', answer, user: id, details: { method: 'password', reason: 'account_disabled', count: 1 } }
    },
  },
  'login.email_requested': {
    async 'by anyone'() {
      const { id, answer } = await withMail()
      return { by: 'user', answer, user: id, details: { count: 1 } }
    },
    async 'for an email that nobody has'() {
      const answer = await newAgent(site).post('/auth/login/email', { email: emailTo() })
      return { by: 'user', answer, details: { account: /^[0-9a-f]{16}$/, count: 1 } }
    },
    async 'to confirm who it is'() {
      const { id, agent, session } = await byProvider()
      const answer = await agent.post('/auth/login/email', { intent: 'confirm' })
      return { by: 'user', answer, user: id, session }
    },
  },
  'login.link_created': {
    'by a command': () => byCommand('users', 'sign-in-link', 'USER'),
  },
  'login.limited': {
    async 'the eleventh wrong password'() {
      const { id, person } = await newAccount()
      const wrong = { ...person, password: unspoken(randomUUID()) }
      for (let tries = 0; tries < 10; tries += 1) await logIn(newAgent(site), wrong)
      const answer = await logIn(newAgent(site), wrong)
      assert.equal(answer.status, 429)
      return { by: 'user', answer, user: id, details: { method: 'password', limit: 'login', count: 1 } }
    },
    async 'the twenty-first wrong password in a browser that the account knows'() {
      const { id, person, agent } = await newUser()
      const wrong = { ...person, password: unspoken(randomUUID()) }
      await logOut(agent)
      for (let tries = 0; tries < 20; tries += 1) await logIn(agent, wrong)
      const answer = await logIn(agent, wrong)
      assert.equal(answer.status, 429)
      const details = { method: 'password', limit: 'login_in_known_browser', count: 1 }
      return { by: 'user', answer, user: id, details }
    },
  },
  logout: {
    async 'by the form'() {
      const { id, agent, session } = await newUser()
      return { by: 'user', answer: await logOut(agent), user: id, session }
    },
  },
  signup: {
    async 'with a password'() {
      const person = anyone()
      const answer = await newAgent(site).post('/auth/signup', person)
      return { by: 'user', answer, user: await idOf(person), details: { method: 'password' } }
    },
    async 'by a provider'() {
      const { id, answer } = await byProvider()
      return { by: 'user', answer, user: id, details: { method: 'corp' } }
    },
    async 'by an invitation'() {
      const { email, password } = anyone()
      const { user, token } = await invite(service, email)
      const answer = await acceptBy(createUserAgent(site), unspoken(token), password)
      return { by: 'user', answer, user: user.id, details: { method: 'invitation' } }
    },
  },
  'session.refreshed_reuse': {
    async 'a replaced refresh token comes again'() {
      const { id, agent, session } = await newUser()
      const thief = agent.copy()
      await agent.refresh()
      await clock.turnTo(clock.aheadMs() + 60_000)
      return { by: 'user', answer: await thief.refresh(), user: id, session }
    },
  },
  'session.ended': {
    async 'one, on the account page'() {
      const { id, person, agent, session } = await newUser()
      const other = sessionOf(await loggedIn(site, person))
      const answer = await agent.post('/auth/account/sessions', { session_id: other })
      return { by: 'user', answer, user: id, session, details: { ended_session_id: other } }
    },
    async 'all others, on the account page'() {
      const { id, person, agent, session } = await newUser()
      await loggedIn(site, person)
      const answer = await agent.post('/auth/account/sessions', { all_others: '1' })
      return { by: 'user', answer, user: id, session, details: { count: 1 } }
    },
    async 'others, by a new password'() {
      const { id, person, agent, session } = await newUser()
      await loggedIn(site, person)
      const form = { current_password: person.password, new_password: unspoken(randomUUID()) }
      const answer = await agent.post('/auth/account/password', form)
      return { by: 'user', answer, user: id, session, details: { count: 1, reason: 'password_changed' } }
    },
    async 'one, by the server API'() {
      const { id, session } = await newUser()
      const answer = await call('DELETE', `/sessions/${session}`)
      return { by: 'api', answer, user: id, details: { ended_session_id: session } }
    },
    async 'all, by the server API'() {
      const { id } = await newUser()
      return { by: 'api', answer: await call('DELETE', `/users/${id}/sessions`), user: id, details: { count: 1 } }
    },
    async 'by a command'() {
      const { id } = await newUser()
      await cli(['sessions', 'revoke', id])
      return { by: 'cli', user: id, details: { count: 1 } }
    },
  },
  'password.changed': {
    async 'by its user'() {
      const { id, person, agent, session } = await newUser()
      const form = { current_password: person.password, new_password: unspoken(randomUUID()) }
      return { by: 'user', answer: await agent.post('/auth/account/password', form), user: id, session }
    },
  },
  'password.set': {
    async 'the first one'() {
      const { id, agent, session } = await byProvider()
      const answer = await agent.post('/auth/account/password', { new_password: unspoken(randomUUID()) })
      return { by: 'user', answer, user: id, session }
    },
    async 'by a command'() {
      const { id } = await newAccount()
      await cli(['users', 'set-password', id], randomUUID())
      return { by: 'cli', user: id }
    },
  },
  'password.reset': {
    async 'by a link'() {
      const { id, person } = await newAccount()
      const token = unspoken(await resetTokenOf(service, person.email))
      const answer = await resetBy(createUserAgent(site), token, unspoken(randomUUID()))
      return { by: 'user', answer, user: id, details: { method: 'password' } }
    },
    async 'by a link that takes the account over'() {
      const { id, answer } = await takeOverByReset()
      return { by: 'user', answer, user: id, details: { method: 'password' } }
    },
    async 'by a link that verifies, and takes the account over'() {
      const { id, answer } = await takeOverByVerification()
      return { by: 'user', answer, user: id, details: { method: 'password' } }
    },
  },
  'password.reset_link_created': {
    'by a command': () => byCommand('users', 'reset-link', 'USER'),
    'by the server API': () => byApi('POST', '/users/USER/links', { purpose: 'reset' }),
  },
  'email.verified': {
    async 'by a link'() {
      const { id, person, agent } = await newStranger()
      const token = unspoken(await mailed.tokenTo(person.email))
      return { by: 'user', answer: await agent.post(VERIFY, { token }), user: id }
    },
    async 'by a reset that takes the account over'() {
      const { id, answer } = await takeOverByReset()
      return { by: 'user', answer, user: id }
    },
    async 'by a provider that takes the account over'() {
      const { id, answer } = await takeOverByProvider()
      return { by: 'user', answer, user: id }
    },
    async 'by a command'() {
      const { id } = await newStranger()
      await cli(['users', 'verify-email', id])
      return { by: 'cli', user: id }
    },
    async 'by the server API'() {
      const { id } = await newStranger()
      return { by: 'api', answer: await call('PATCH', `/users/${id}`, { email_verified: true }), user: id }
    },
  },
  'email.unverified': {
    'by the server API': () => byApi('PATCH', '/users/USER', { email_verified: false }),
  },
  'email.change_requested': {
    async 'by its user'() {
      const { id, agent, session } = await newUser()
      return { by: 'user', answer: await askFor(agent, emailTo()), user: id, session }
    },
  },
  'email.change_cancelled': {
    async 'by its user'() {
      const { id, agent, session } = await newUser()
      await askFor(agent, emailTo())
      return { by: 'user', answer: await agent.post('/auth/account/email', { cancel: '1' }), user: id, session }
    },
  },
  'email.changed': {
    async 'by a link'() {
      const { id, agent } = await newUser()
      const token = unspoken(await asked(mailed, agent, emailTo()))
      return { by: 'user', answer: await confirm(agent, token), user: id }
    },
    'by a command': () => byCommand('users', 'set-email', 'USER', emailTo()),
    'by the server API': () => byApi('PATCH', '/users/USER', { email: emailTo() }),
  },
  'email.change_undone': {
    async 'by a link'() {
      const { id, agent, person } = await newUser()
      await confirm(agent, await asked(mailed, agent, emailTo()))
      const token = unspoken(await mailed.tokenTo(person.email, 2))
      return { by: 'user', answer: await undo(createUserAgent(site), token, unspoken(randomUUID())), user: id }
    },
  },
  'username.changed': {
    async 'by its user'() {
      const { id, agent, session } = await newUser()
      const { username } = anyone()
      return { by: 'user', answer: await agent.post('/auth/account/username', { username }), user: id, session }
    },
    'by a command': () => byCommand('users', 'set-username', 'USER', anyone().username),
    'by the server API': () => byApi('PATCH', '/users/USER', { username: anyone().username }),
  },
  'account.exported': {
    async 'by its user'() {
      const { id, agent, session } = await newUser()
      return { by: 'user', answer: await agent.post('/auth/account/data'), user: id, session }
    },
  },
  'name.changed': {
    async 'by its user'() {
      const { id, agent, session } = await newUser()
      return {
        by: 'user',
        answer: await agent.post('/auth/account/name', { name: unspoken('Unspoken Ada') }),
        user: id,
        session,
      }
    },
    'by a command': () => byCommand('users', 'set-name', 'USER', unspoken('Unspoken Lovelace')),
    'by the server API': () => byApi('PATCH', '/users/USER', { name: unspoken('Unspoken A. L.') }),
  },
  'language.changed': {
    async 'by its user'() {
      const { id, agent, session } = await newUser()
      return { by: 'user', answer: await agent.post('/auth/language', { language: 'de' }), user: id, session }
    },
    'by the server API': () => byApi('PATCH', '/users/USER', { language: 'pt-BR' }),
  },
  'identity.linked': {
    async 'on the account page'() {
      const { id, agent, session } = await newUser()
      const answer = await signInBy(agent, 'corp', (url) => corp.visit(url, { person: newOpenIdUser() }), {
        intent: 'link',
      })
      return { by: 'user', answer, user: id, session, details: { provider: 'corp', identity_id: await identityOf(id) } }
    },
    async 'at a sign-in'() {
      const { id, answer } = await byProvider()
      return { by: 'user', answer, user: id, details: { provider: 'corp', identity_id: await identityOf(id) } }
    },
  },
  'identity.unlinked': {
    async 'on the account page'() {
      const { id, agent } = await byProvider()
      await agent.post('/auth/account/password', { new_password: unspoken(randomUUID()) })
      const identity = await identityOf(id)
      const session = sessionOf(agent)
      const answer = await agent.post('/auth/account/identities', { identity_id: identity })
      return { by: 'user', answer, user: id, session, details: { provider: 'corp', identity_id: identity } }
    },
    async 'by a command'() {
      const { id } = await byProvider()
      const identity = await identityOf(id)
      await cli(['identities', 'unlink', id, 'corp'])
      return { by: 'cli', user: id, details: { provider: 'corp', identity_id: identity } }
    },
  },
  'identity.taken_over': {
    async 'by a provider that has verified the address'() {
      const { id, answer } = await takeOverByProvider()
      return { by: 'user', answer, user: id, details: { method: 'corp' } }
    },
    async 'by a link'() {
      const { id, answer } = await takeOverByVerification()
      return { by: 'user', answer, user: id, details: { method: 'link' } }
    },
    async 'by an invitation'() {
      const { id, person } = await newStranger()
      await cli(['users', 'invite', person.email])
      return { by: 'cli', user: id, details: { method: 'invitation' } }
    },
  },
  'passkey.added': {
    async 'by its user'() {
      const { id, agent, session } = await newUser()
      const answer = await tryToAddPasskey(agent, createAuthenticator({ origin: service.url }))
      const { id: passkey } = answer.json<{ id: string }>()
      return { by: 'user', answer, user: id, session, details: { passkey_id: passkey } }
    },
  },
  'passkey.renamed': {
    async 'by its user'() {
      const { id, agent, session, passkey } = await withPasskey()
      const form = { passkey_id: passkey.id, name: unspoken(`Blue ${randomUUID()}`) }
      const answer = await agent.post('/auth/account/passkeys', form)
      return { by: 'user', answer, user: id, session, details: { passkey_id: passkey.id } }
    },
  },
  'passkey.removed': {
    async 'by its user'() {
      const { id, agent, session, passkey } = await withPasskey()
      const answer = await agent.post('/auth/account/passkeys', { passkey_id: passkey.id, remove: '1' })
      return { by: 'user', answer, user: id, session, details: { passkey_id: passkey.id } }
    },
    async 'by a command'() {
      const { id } = await withPasskey()
      await cli(['users', 'reset-second-factor', id, '--passkeys'])
      return { by: 'cli', user: id, details: { count: 1, reason: 'second_factor_reset' } }
    },
  },
  'passkey.counter_went_back': {
    async 'at a sign-in'() {
      const { id, authenticator, passkey } = await withPasskey()
      assert.equal((await logInWithPasskey(newAgent(site), authenticator, { counter: 7 })).status, 200)
      const answer = await logInWithPasskey(newAgent(site), authenticator, { counter: 3 })
      return { by: 'user', answer, user: id, details: { passkey_id: passkey.id } }
    },
  },
  'second_factor.added': {
    async 'by its user'() {
      const { id, session, answer } = await withApp()
      return { by: 'user', answer, user: id, session }
    },
  },
  'second_factor.removed': {
    async 'by its user'() {
      const { id, agent } = await withApp()
      const session = sessionOf(agent)
      return { by: 'user', answer: await agent.post(SECOND_FACTOR_PAGE, { remove: '1' }), user: id, session }
    },
  },
  'second_factor.reset': {
    'by a command': () => byCommand('users', 'reset-second-factor', 'USER'),
    'by the server API': () => byApi('DELETE', '/users/USER/second-factors'),
  },
  'second_factor.recovery_code_used': {
    async 'at a sign-in'() {
      const { id, person, recoveryCodes } = await withApp()
      const agent = newAgent(site)
      await logIn(agent, person)
      return { by: 'user', answer: await agent.post('/auth/login/code', { code: recoveryCodes[0] ?? '' }), user: id }
    },
  },
  'second_factor.recovery_codes_renewed': {
    async 'by its user'() {
      const { id, agent } = await withApp()
      const session = sessionOf(agent)
      const answer = await agent.post(SECOND_FACTOR_PAGE, { recovery_codes: 'new' })
      return { by: 'user', answer, user: id, session }
    },
  },
  'second_factor.trust_ended': {
    async 'by its user'() {
      const { id, person, nextCode } = await withApp()
      const agent = newAgent(site)
      await logIn(agent, person)
      await agent.post('/auth/login/code', { code: await nextCode(), trust_browser: '1' })
      const answer = await agent.post('/auth/account/browsers', { forget_trusted: '1' })
      return { by: 'user', answer, user: id, session: sessionOf(agent), details: { count: 1 } }
    },
  },
  'user.created': {
    async 'by a command'() {
      const person = anyone()
      await cli(['users', 'create', person.email], person.password)
      return { by: 'cli', user: await idOf(person), details: { method: 'password' } }
    },
    async 'by the server API'() {
      const { email } = anyone()
      const answer = await call('POST', '/users', { email })
      return { by: 'api', answer, user: await idOf({ email }) }
    },
  },
  'user.invited': {
    async 'by a command'() {
      const { user } = await invite(service, anyone().email)
      return { by: 'cli', user: user.id }
    },
    async 'by the server API'() {
      const { email } = anyone()
      const answer = await call('POST', '/users', { email, invite: true })
      return { by: 'api', answer, user: await idOf({ email }) }
    },
  },
  'user.disabled': {
    'by a command': () => byCommand('users', 'disable', 'USER'),
    'by the server API': () => byApi('PATCH', '/users/USER', { disabled: true }),
  },
  'user.enabled': {
    async 'by a command'() {
      const { id } = await newAccount()
      await cli(['users', 'disable', id])
      await cli(['users', 'enable', id])
      return { by: 'cli', user: id }
    },
    async 'by the server API'() {
      const { id } = await newAccount()
      await call('PATCH', `/users/${id}`, { disabled: true })
      return { by: 'api', answer: await call('PATCH', `/users/${id}`, { disabled: false }), user: id }
    },
  },
  'user.unlocked': { 'by a command': () => byCommand('users', 'unlock', 'USER') },
  'user.roles_changed': {
    async 'by a command'() {
      return { ...(await byCommand('users', 'set-roles', 'USER', 'admin')), details: { roles: ['admin'] } }
    },
    async 'by the server API'() {
      return { ...(await byApi('PATCH', '/users/USER', { roles: ['admin'] })), details: { roles: ['admin'] } }
    },
    async 'by a take-over, which takes what was meant for the owner'() {
      const { id, answer } = await takeOverByVerification()
      return { by: 'user', answer, user: id, details: { roles: [] } }
    },
  },
  'user.deleted': {
    'by a command': () => byCommand('users', 'delete', 'USER', '--yes'),
    async 'by its user'() {
      const { id, person, agent } = await newUser()
      return { by: 'user', answer: await agent.post('/auth/account/delete', { password: person.password }), user: id }
    },
    async 'by the server API'() {
      const { id } = await newUser()
      return { by: 'api', answer: await call('DELETE', `/users/${id}`), user: id }
    },
  },
  'key.rotated': {
    async 'by a command'() {
      const { id } = JSON.parse(await cli(['keys', 'rotate', '--json'])) as { id: string }
      return { by: 'cli', details: { key_id: id } }
    },
  },
  'api_key.created': {
    async 'by a command'() {
      const { id } = await createBackend(service, ['users:read'])
      const [key] = await database.rows('SELECT name FROM api_keys WHERE id = ?', id)
      return { by: 'cli', details: { api_key_id: id, api_key_name: key?.name, scopes: ['users:read'] } }
    },
  },
  'api_key.revoked': {
    async 'by a command'() {
      const { id } = await createBackend(service, ['users:read'])
      const [key] = await database.rows('SELECT name FROM api_keys WHERE id = ?', id)
      await cli(['api-keys', 'revoke', id])
      return { by: 'cli', details: { api_key_id: id, api_key_name: key?.name, scopes: ['users:read'] } }
    },
  },
  'client.created': {
    async 'by a command'() {
      return { by: 'cli', details: (await newClient()).details }
    },
    async 'by a key of the server API'() {
      const answer = await call('POST', '/clients', { name: 'By key', redirect_uris: [REDIRECT_URI] })
      const { id, secret } = answer.json<{ id: string; secret: string }>()
      unspoken(secret)
      return { by: 'api', answer, details: { client_id: id, client_name: 'By key' } }
    },
  },
  'client.changed': {
    async 'by a command'() {
      const { id, details } = await newClient()
      await cli(['clients', 'change', id, '--name', 'Changed'])
      return { by: 'cli', details: { ...details, client_name: 'Changed' } }
    },
    async 'disabled by a key of the server API'() {
      const { id, details } = await newClient()
      const answer = await call('PATCH', `/clients/${id}`, { disabled: true })
      return { by: 'api', answer, details: { ...details, reason: 'disabled' } }
    },
  },
  'client.secret_rotated': {
    async 'by a command'() {
      const { id, details } = await newClient()
      await cli(['clients', 'rotate-secret', id])
      return { by: 'cli', details }
    },
  },
  'client.deleted': {
    async 'by a command'() {
      const { id, details } = await newClient()
      await cli(['clients', 'delete', id])
      return { by: 'cli', details }
    },
    async 'by a key of the server API'() {
      const { id, details } = await newClient()
      return { by: 'api', answer: await call('DELETE', `/clients/${id}`), details }
    },
  },
  'grant.created': {
    async 'by a client, with the code of a user'() {
      const { id: user, session, client, trade, grantOf } = await withCode()
      const answer = await trade()
      const scopes = ['openid']
      return { by: 'user', user, session, answer, details: { grant_id: await grantOf(), ...client.details, scopes } }
    },
  },
  'grant.ended': {
    async 'by a command'() {
      const { id: user, client, trade, grantOf } = await withCode()
      await trade()
      const details = { grant_id: await grantOf(), ...client.details, reason: 'operator' }
      await cli(['grants', 'revoke', '--user', user])
      return { by: 'cli', user, details }
    },
  },
  'grant.refresh_reused': {
    async 'by whoever has the old token'() {
      const { id: user, client, trade, grantOf } = await withCode()
      const { refresh_token: old = '' } = (await trade()).json<{ refresh_token?: string }>()
      const form = { client_id: client.id, grant_type: 'refresh_token', refresh_token: unspoken(old) }
      await token(form)
      await clock.turnTo(clock.aheadMs() + 3_600_000)
      const details = { grant_id: await grantOf(), client_id: client.id, reason: 'refresh_reused' }
      const answer = await token(form)
      return { by: 'user', user, answer, details }
    },
  },
  'code.reused': {
    async 'by whoever has the code'() {
      const { id: user, client, trade, grantOf } = await withCode()
      await trade()
      const details = { grant_id: await grantOf(), client_id: client.id }
      return { by: 'user', user, answer: await trade(), details }
    },
  },
  'webhook.given_up': {
    async 'after the last attempt'() {
      const { id } = await newAccount()
      await cli(['users', 'delete', id, '--yes'])
      const rows = () =>
        database.rows("SELECT id FROM audit_events WHERE type = 'webhook.given_up' AND user_id = ?", id)
      await eventually('the event is given up', async () => (await rows()).length > 0)
      const [event] = await database.rows('SELECT id FROM webhook_events WHERE user_id = ?', id)
      return { by: 'system', user: id, details: { webhook_id: event?.id, reason: 'answered 500' } }
    },
  },
  'webhook.redelivered': {
    async 'by a command'() {
      const { id } = await newAccount()
      await cli(['users', 'delete', id, '--yes'])
      const events = () => database.rows('SELECT id, closed_at FROM webhook_events WHERE user_id = ?', id)
      await eventually('the event is given up', async () => (await events())[0]?.closed_at !== null)
      const [event] = await events()
      await cli(['webhooks', 'redeliver', String(event?.id)])
      return { by: 'cli', user: id, details: { webhook_id: event?.id } }
    },
  },
  'mail.resent': {
    async 'by a command'() {
      const { id, person } = await newUser()
      await cli(['users', 'set-username', id, anyone().username])
      const messages = () => database.rows('SELECT id, closed_at FROM mail_messages WHERE user_id = ?', id)
      await eventually('the message is sent', async () => (await messages()).at(-1)?.closed_at !== null)
      const message = (await messages()).at(-1)
      unspoken(person.email)
      await cli(['mail', 'resend', String(message?.id)])
      return { by: 'cli', user: id, details: { message_id: message?.id } }
    },
  },
  'user.viewed': {
    async 'by an operator on the machine, once an hour'(t) {
      const { id } = await newAccount()
      const admin = await openMachineAdmin(service, { clock, t })
      for (const _ of [1, 2]) await admin.open(`/users/${id}`)
      return { by: 'cli', user: id }
    },
  },
  'audit.exported': {
    async 'by an operator on the machine'(t) {
      const admin = await openMachineAdmin(service, { clock, t })
      await admin.submit('/events/export', { format: 'jsonl', reason: 'for the yearly report' })
      return { by: 'cli', details: { reason: 'for the yearly report' } }
    },
  },
  'import.taken_back': {
    async 'by a command'() {
      const userImport = await operator.userImport()
      const read = await userImport.read({ email: emailTo() }, { withoutHashes: false })
      const options = { isWanted: () => false, announces: false }
      const [outcome] = await userImport.write([read], options)
      assert.ok(outcome?.kind === 'imported')
      await userImport.takeBack([outcome.id], options)
      return { by: 'system', details: { count: 1 } }
    },
  },
  'import.added': {
    async 'by a command'() {
      const file = path.join(temporaryDirectory(), 'users.jsonl')
      writeFileSync(file, [emailTo(), emailTo()].map((email) => `${JSON.stringify({ email })}\n`).join(''))
      await cli(['users', 'import', file])
      return { by: 'cli', details: { count: 2 } }
    },
  },
}

/** Of a deleted user, nothing is kept that says where they were: neither a client nor the request. */
const saysWhere = (type: string, done: Done): done is Extract<Done, { answer: Answer }> =>
  type !== 'user.deleted' && 'answer' in done

/** The rows of an action: that of its request, or else the last of the user. */
const findRows = (type: string, done: Done) => {
  const columns = 'user_id, actor, address, user_agent, request_id, session_id, details, count'
  const select = `SELECT ${columns} FROM audit_events WHERE type = ? AND`
  return saysWhere(type, done)
    ? database.rows(`${select} request_id = ?`, type, String(done.answer.headers['x-request-id']))
    : database.rows(`${select} COALESCE(user_id, '') = ? ORDER BY id DESC LIMIT 1`, type, done.user ?? '')
}

/** Those that are counted are written a moment later. */
const isCounted = (type: string, { details }: Done): boolean =>
  ['login.failed', 'login.limited', 'login.email_requested'].includes(type) && details?.count !== undefined

const rowOf = async (type: string, done: Done): Promise<Record<string, unknown>> => {
  let rows = await findRows(type, done)
  if (isCounted(type, done))
    await eventually(`the record of ${type}`, async () => {
      rows = await findRows(type, done)
      return Number(rows[0]?.count) === done.details?.count
    })
  assert.equal(rows.length, 1, `one ${type}`)
  const [row] = rows
  return { ...row, count: Number(row?.count), details: JSON.parse(String(row?.details)) }
}

/** What is expected, with values in place of the patterns that they fit. */
const fitted = (found: unknown, expected: Record<string, unknown>): Record<string, unknown> => {
  const values = found as Record<string, unknown>
  return Object.fromEntries(
    Object.entries(expected).map(([name, value]) => [
      name,
      value instanceof RegExp && value.test(String(values[name])) ? values[name] : value,
    ]),
  )
}

const ACTORS = { user: 'user', api: `api:${String(keyName)}`, cli: 'cli', system: 'system' }

describe('each action is recorded with its actor, origin, request and session', () => {
  for (const [type, actions] of Object.entries(ACTIONS)) {
    for (const [title, act] of Object.entries(actions)) {
      test(`${type}: ${title}`, async (t) => {
        const done = await act(t)
        const row = await rowOf(type, done)
        const origin = saysWhere(type, done) ? { ...CLIENT, request_id: done.answer.headers['x-request-id'] } : {}
        assert.deepEqual(row, {
          user_id: done.user ?? null,
          actor: ACTORS[done.by],
          address: null,
          user_agent: null,
          request_id: null,
          ...origin,
          session_id: done.session ?? null,
          details: fitted(row.details, done.details ?? {}),
          count: isCounted(type, done) ? done.details?.count : 1,
        })
      })
    }
  }

  test('no type is left out, but for those of administrators, who are no users', () =>
    assert.deepEqual(
      Object.keys(ACTIONS).toSorted(),
      AUDIT_TYPES.filter((type) => !type.startsWith('administrator.')).toSorted(),
    ))
})

/** What is recorded of a request, in its order. */
const typesOf = async ({ headers }: Answer): Promise<unknown[]> => {
  const select = 'SELECT type FROM audit_events WHERE request_id = ? ORDER BY id'
  return (await database.rows(select, String(headers['x-request-id']))).map(({ type }) => type)
}

describe('a take-over begins what is recorded of the new owner', () => {
  const BEGIN = ['identity.taken_over', 'session.ended', 'email.verified', 'user.roles_changed']
  const ways: Record<string, [() => Promise<{ answer: Answer }>, string[]]> = {
    'by a reset': [takeOverByReset, ['password.reset', 'login.succeeded']],
    'by the link that verifies': [takeOverByVerification, ['password.reset', 'login.succeeded']],
    'by a provider': [takeOverByProvider, ['identity.linked', 'login.succeeded']],
  }
  for (const [title, [takeOver, then]] of Object.entries(ways))
    test(title, async () => assert.deepEqual(await typesOf((await takeOver()).answer), [...BEGIN, ...then]))

  test('by an invitation, and the entry of its user', async () => {
    const { id, email } = await strangersAccount()
    const { token } = await invite(service, email)
    const entered = await acceptBy(createUserAgent(site), unspoken(token), unspoken(randomUUID()))
    assert.deepEqual(await typesOf(entered), ['signup', 'email.verified', 'login.succeeded'])
    const before = await database.rows('SELECT type FROM audit_events WHERE user_id = ? ORDER BY id', id)
    assert.deepEqual(before.map(({ type }) => type).slice(3, -3), [
      'identity.taken_over',
      'session.ended',
      'language.changed',
      'user.roles_changed',
      'user.invited',
    ])
  })
})

describe('of a deleted user, records keep the id, and what tells where they were goes', () => {
  const ways: Record<string, (user: Awaited<ReturnType<typeof newUser>>) => Promise<unknown>> = {
    'account page': ({ agent, person }) => agent.post('/auth/account/delete', { password: person.password }),
    'server API': ({ id }) => call('DELETE', `/users/${id}`),
    command: ({ id }) => cli(['users', 'delete', id, '--yes']),
  }
  const actors: Record<string, string> = { 'account page': 'user', 'server API': ACTORS.api, command: 'cli' }
  for (const [title, remove] of Object.entries(ways))
    test(title, async () => {
      const user = await newUser()
      const { id, person, agent } = user
      await agent.post('/auth/account/username', { username: anyone().username })
      await call('DELETE', `/sessions/${sessionOf(await loggedIn(site, person))}`)
      await logIn(newAgent(site), { ...person, password: unspoken(randomUUID()) })
      // The webhook about the deletion is given up at some time after it.
      const select = "SELECT * FROM audit_events WHERE user_id = ? AND type <> 'webhook.given_up' ORDER BY type"
      const rows = () => database.rows(select, id)
      await eventually('the failed login is recorded', async () =>
        (await rows()).some(({ type }) => type === 'login.failed'),
      )
      await remove(user)
      const found = await rows()
      assert.deepEqual(
        found.map(({ type }) => type),
        [
          'login.failed',
          'login.succeeded',
          'login.succeeded',
          'session.ended',
          'user.created',
          'user.deleted',
          'username.changed',
        ],
      )
      for (const { id: _id, at: _at, type, actor, tally, ...row } of found) {
        const kept = { user_id: id, count: 1, address: null, user_agent: null, request_id: null, session_id: null }
        assert.deepEqual({ ...row, count: Number(row.count) }, { ...kept, details: '{}' }, String(type))
        if (type === 'user.deleted') assert.equal(actor, actors[title])
        else assert.equal(tally, null)
      }
    })
})

test('each session has one row that tells of its beginning', async () => {
  await newUser()
  const sessions = await database.rows('SELECT id, user_id FROM sessions ORDER BY id')
  assert.ok(sessions.length > 0)
  const select = "SELECT session_id, user_id FROM audit_events WHERE type = 'login.succeeded'"
  const begun = Map.groupBy(await database.rows(select), ({ session_id: id }) => id)
  for (const { id, user_id: user } of sessions)
    assert.deepEqual(
      begun.get(id)?.map((row) => row.user_id),
      [user],
      String(id),
    )
})

test('no record holds a password, a token, a code, a cookie, an email or a name', async () => {
  await newUser()
  const rows = await database.rows('SELECT * FROM audit_events')
  assert.ok(rows.length > 0)
  const text = JSON.stringify(rows)
  assert.ok(unspeakable.size > 0)
  for (const secret of unspeakable) assert.ok(!text.includes(secret), secret)
})

test('an action that comes to nothing leaves no record', async () => {
  const { id, person, agent } = await newUser()
  const count = async () => (await database.rows('SELECT id FROM audit_events WHERE user_id = ?', id)).length
  const before = await count()
  // What comes after the record in its transaction fails.
  await database.rows('ALTER TABLE known_browsers RENAME TO lost_browsers')
  const form = { current_password: person.password, new_password: randomUUID() }
  const failed = await agent.post('/auth/account/password', form)
  await database.rows('ALTER TABLE lost_browsers RENAME TO known_browsers')
  assert.ok(failed.status >= 500, `${failed.status}`)
  assert.equal(await count(), before)
  assert.equal((await agent.post('/auth/account/password', form)).status, 303)
  assert.ok((await count()) > before)
})
