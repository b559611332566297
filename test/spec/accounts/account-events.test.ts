// Runs on SQLite.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { describe, test } from 'node:test'
import { ACCOUNT_EVENTS } from '../../../src/lib/account-event.ts'
import { currentUser, loggedIn, logIn, logOut, newPerson, signedUp, signUp } from '../../support/client/accounts.ts'
import { type Answer, type UserAgent, createUserAgent } from '../../support/client/user-agent.ts'
import { startOpenIdProvider } from '../../support/provider/openid-provider.ts'
import { newOpenIdUser } from '../../support/provider/openid-provider-users.ts'
import { pendingOn, startServiceWith } from '../../support/provider/provider-service.ts'
import { signInBy, startAt } from '../../support/provider/provider-sign-in.ts'
import { createUser, disableUser, showUser } from '../../support/service/operator-commands.ts'
import { loggedLine } from '../../support/service/request-log.ts'
import type { LogLine } from '../../support/service/service.ts'

const corp = await startOpenIdProvider()
const service = await startServiceWith({ corp }, { env: { SVC_RATE_LIMIT: 'on' } })

/** The log line of an event that the request of this response caused. */
const eventOf = ({ headers }: Answer, event: string): Promise<LogLine> =>
  loggedLine(service, (line) => line.event === event && line.request_id === headers['x-request-id'])

/** The fields of a log line without those that every line has. */
const factsOf = ({ level, time: _time, message, request_id: _id, ...facts }: LogLine) => {
  assert.equal(level, 'info')
  assert.equal(message, 'account event')
  return facts
}

const sessionOf = ({ cookies }: UserAgent): string => cookies.get('svc_refresh')?.split('.')[0] ?? ''

/** An account with a signed-in agent, and the fields that its lines have. */
const signedUpWithFacts = async () => {
  const { agent, person } = await signedUp(service)
  const { id } = await currentUser(agent)
  const about = { outcome: 'succeeded', user_id: id, session_id: sessionOf(agent), client: '127.0.0.1' }
  return { agent, person, id, about }
}

const byCorp = (person = newOpenIdUser()) => [(url: string) => corp.visit(url, { person }), person] as const

describe('each event of an account is logged in one line', () => {
  test('signup, logout and login', async () => {
    const person = newPerson()
    const agent = createUserAgent(service)
    const signedUpNow = await signUp(agent, person)
    const { id } = await currentUser(agent)
    const about = { outcome: 'succeeded', user_id: id, client: '127.0.0.1' }
    const first = sessionOf(agent)
    const signup = factsOf(await eventOf(signedUpNow, 'signup'))
    assert.deepEqual(signup, { event: 'signup', method: 'password', session_id: first, ...about })
    const logout = factsOf(await eventOf(await logOut(agent), 'logout'))
    assert.deepEqual(logout, { event: 'logout', session_id: first, ...about })
    const login = factsOf(await eventOf(await logIn(agent, person), 'login'))
    assert.deepEqual(login, { event: 'login', method: 'password', session_id: sessionOf(agent), ...about })
  })

  test('the address is that of the client in front of trusted proxies', async () => {
    const answer = await createUserAgent(service).post(
      '/auth/login',
      { email: 'nobody@example.com', password: 'not the password' },
      { 'x-forwarded-for': '198.51.100.7' },
    )
    assert.equal((await eventOf(answer, 'login')).client, '198.51.100.7')
  })

  test('a change of password and of username', async () => {
    const { agent, person, about, id } = await signedUpWithFacts()
    const form = { current_password: person.password, new_password: newPerson().password }
    const refused = await agent.post('/auth/account/password', { ...form, current_password: 'not the password' })
    assert.deepEqual(factsOf(await eventOf(refused, 'password_change')), {
      event: 'password_change',
      ...about,
      outcome: 'failed',
      reason: 'password_wrong',
    })
    const changed = factsOf(await eventOf(await agent.post('/auth/account/password', form), 'password_change'))
    assert.deepEqual([changed.outcome, changed.user_id], ['succeeded', id])
    const { username } = newPerson()
    const renamed = await agent.post('/auth/account/username', { username })
    assert.equal((await eventOf(renamed, 'username_change')).user_id, id)
    const taken = await agent.post('/auth/account/username', { username: (await signedUp(service)).person.username })
    assert.equal((await eventOf(taken, 'username_change')).reason, 'username_taken')
  })

  test('sessions that the user ends: one with its id, all others with their number', async () => {
    const { agent, person, about } = await signedUpWithFacts()
    const other = await loggedIn(service, person)
    const one = await agent.post('/auth/account/sessions', { session_id: sessionOf(other) })
    assert.deepEqual(factsOf(await eventOf(one, 'session_end')), {
      event: 'session_end',
      ended_session_id: sessionOf(other),
      ...about,
    })
    await loggedIn(service, person)
    await loggedIn(service, person)
    const rest = await agent.post('/auth/account/sessions', { all_others: '1' })
    assert.deepEqual(factsOf(await eventOf(rest, 'session_end')), { event: 'session_end', count: 2, ...about })
  })

  test('a re-authentication and the deletion of the account', async () => {
    const { agent, person, about, id } = await signedUpWithFacts()
    const wrong = await agent.post('/auth/account/confirm', { password: 'not the password' })
    assert.deepEqual(factsOf(await eventOf(wrong, 'reauthentication')), {
      event: 'reauthentication',
      method: 'password',
      ...about,
      outcome: 'failed',
      reason: 'password_wrong',
    })
    const confirmed = await agent.post('/auth/account/confirm', { password: person.password })
    const session = sessionOf(agent)
    assert.equal((await eventOf(confirmed, 'reauthentication')).session_id, session)
    const deleted = await agent.post('/auth/account/delete', { password: person.password })
    assert.deepEqual(factsOf(await eventOf(deleted, 'account_delete')), {
      event: 'account_delete',
      ...about,
      user_id: id,
      session_id: session,
    })
  })

  test('a sign-in with a provider: signup, login, connecting and disconnecting', async () => {
    const [visit] = byCorp()
    const newcomer = createUserAgent(service)
    const signup = await eventOf(await signInBy(newcomer, 'corp', visit), 'signup')
    const { id } = await currentUser(newcomer)
    assert.deepEqual([signup.method, signup.user_id, signup.session_id], ['corp', id, sessionOf(newcomer)])
    const again = createUserAgent(service)
    const login = await eventOf(await signInBy(again, 'corp', visit), 'login')
    assert.deepEqual([login.method, login.user_id, login.session_id], ['corp', id, sessionOf(again)])

    const { agent, about } = await signedUpWithFacts()
    const [link] = byCorp()
    const connected = await signInBy(agent, 'corp', link, { intent: 'link' })
    assert.deepEqual(factsOf(await eventOf(connected, 'provider_connect')), {
      event: 'provider_connect',
      method: 'corp',
      ...about,
    })
    const page = await agent.get('/auth/account')
    const identity = /name="identity_id" value="([^"]+)"/.exec(page.text)?.[1] ?? ''
    const disconnected = await agent.post('/auth/account/identities', { identity_id: identity })
    assert.deepEqual(factsOf(await eventOf(disconnected, 'provider_disconnect')), {
      event: 'provider_disconnect',
      method: 'corp',
      ...about,
    })
  })

  test('an account with the email of the user at the provider: proof required, then connected or reclaimed', async () => {
    const { person, id } = await signedUpWithFacts()
    const [visit] = byCorp(newOpenIdUser({ email: person.email }))
    const agent = createUserAgent(service)
    const { url } = await visit(await startAt(agent, 'corp'))
    const callback = await agent.get(url.slice(new URL(url).origin.length))
    const login = await eventOf(callback, 'login')
    const asked = await agent.get(callback.location ?? '')
    assert.deepEqual([login.outcome, login.reason, login.user_id], ['failed', 'proof_required', id])
    const proved = await agent.post('/auth/oauth/corp/link', { pending: pendingOn(asked), password: person.password })
    const connect = await eventOf(proved, 'provider_connect')
    assert.deepEqual([connect.method, connect.user_id], ['corp', id])
    const entered = await eventOf(proved, 'login')
    assert.deepEqual([entered.method, entered.session_id], ['password', sessionOf(agent)])

    const victim = await signedUpWithFacts()
    const [owner] = byCorp(newOpenIdUser({ email: victim.person.email }))
    const ownersAgent = createUserAgent(service)
    const pending = pendingOn(await signInBy(ownersAgent, 'corp', owner))
    const reclaimed = await ownersAgent.post('/auth/oauth/corp/claim', { pending })
    const line = factsOf(await eventOf(reclaimed, 'account_reclaim'))
    assert.deepEqual([line.outcome, line.method, line.user_id], ['succeeded', 'corp', victim.id])
    assert.equal(line.session_id, sessionOf(ownersAgent))
    assert.equal((await eventOf(reclaimed, 'login')).session_id, sessionOf(ownersAgent))
  })
})

describe('a failure has a reason', () => {
  test('a wrong password names the user, an unknown email a keyed hash that is the same each time', async () => {
    const { person, id } = await signedUpWithFacts()
    const agent = createUserAgent(service)
    const wrong = await logIn(agent, { ...person, password: 'not the password' })
    assert.deepEqual(factsOf(await eventOf(wrong, 'login')), {
      event: 'login',
      outcome: 'failed',
      reason: 'password_wrong',
      user_id: id,
      method: 'password',
      client: '127.0.0.1',
    })
    const nobody = newPerson()
    const unknown = factsOf(await eventOf(await logIn(agent, nobody), 'login'))
    assert.deepEqual([unknown.reason, unknown.user_id], ['unknown_account', undefined])
    assert.match(String(unknown.account), /^[0-9a-f]{16}$/)
    const again = await logIn(agent, { ...nobody, email: ` ${nobody.email.toUpperCase()}` })
    assert.equal((await eventOf(again, 'login')).account, unknown.account)
    const other = await logIn(agent, newPerson())
    assert.notEqual((await eventOf(other, 'login')).account, unknown.account)
    assert.ok(!service.logs().includes(nobody.email))
  })

  test('a disabled account, too many tries, a taken email and a cancelled sign-in', async () => {
    const person = newPerson()
    await createUser(service, person)
    await disableUser(service, person.email)
    const agent = createUserAgent(service)
    const disabled = await eventOf(await logIn(agent, person), 'login')
    assert.deepEqual(
      [disabled.reason, disabled.user_id],
      ['account_disabled', (await showUser(service, person.email)).id],
    )
    const nobody = newPerson()
    const elsewhere = createUserAgent({ ...service, headers: { 'x-forwarded-for': '198.51.100.7' } })
    for (let tries = 0; tries < 10; tries += 1) await logIn(elsewhere, nobody)
    const limited = await eventOf(await logIn(elsewhere, nobody), 'login')
    assert.deepEqual([limited.outcome, limited.reason, limited.user_id], ['failed', 'rate_limited', undefined])
    assert.equal(
      (await eventOf(await signUp(agent, { ...newPerson(), email: person.email }), 'signup')).reason,
      'email_taken',
    )
    const cancelled = await signInBy(agent, 'corp', (url) => corp.visit(url, { answer: 'cancel' }))
    const line = await eventOf(cancelled, 'login')
    assert.deepEqual([line.outcome, line.reason, line.method], ['failed', 'cancelled', 'corp'])
  })

  test('an empty form is no event', async () => {
    const answer = await createUserAgent(service).post('/auth/login', { email: '', password: '' })
    await loggedLine(service, (line) => line.request_id === answer.headers['x-request-id'])
    assert.ok(!service.logLines().some((line) => line.event && line.request_id === answer.headers['x-request-id']))
  })
})

/** The fields of the lines that a command writes to its stderr. */
const eventsBy = async (args: string[], input = '') => {
  const { code, stderr } = await service.cli(args, { input })
  assert.equal(code, 0, stderr)
  const lines = stderr.split('\n').filter((line) => line.startsWith('{'))
  return lines.map((line) => {
    const { event, outcome, user_id, operator, command, count, method }: Record<string, unknown> = JSON.parse(line)
    assert.deepEqual([outcome, operator], ['succeeded', userInfo().username])
    return { event, user_id, command, count, method }
  })
}

describe('the actions of the command line leave a line on its stderr', () => {
  test('each command that changes an account logs the event, the user and the operator', async () => {
    const person = newPerson()
    const { email, password } = person
    const [created] = await eventsBy(['users', 'create', email], password)
    const { id } = await showUser(service, email)
    const about = { user_id: id, count: undefined, method: undefined }
    assert.deepEqual(created, { event: 'account_create', command: 'users create', ...about })
    await logIn(createUserAgent(service), person)
    for (const [args, event, count] of [
      [['users', 'set-roles', email, 'admin'], 'roles_change', undefined],
      [['sessions', 'revoke', email], 'session_end', 1],
      [['users', 'set-password', email], 'password_change', undefined],
      [['users', 'disable', email], 'account_disable', undefined],
      [['users', 'enable', email], 'account_enable', undefined],
      [['users', 'delete', email, '--yes'], 'account_delete', undefined],
    ] as const) {
      const command = args.slice(0, 2).join(' ')
      assert.deepEqual(await eventsBy([...args], newPerson().password), [{ event, command, ...about, count }])
    }
  })

  test('a disconnected provider is named; a command that only reads logs nothing', async () => {
    const [visit] = byCorp()
    const agent = createUserAgent(service)
    await signInBy(agent, 'corp', visit)
    const { id } = await currentUser(agent)
    assert.deepEqual(await eventsBy(['users', 'show', id]), [])
    assert.deepEqual(await eventsBy(['identities', 'unlink', id, 'corp']), [
      { event: 'provider_disconnect', user_id: id, command: 'identities unlink', count: undefined, method: 'corp' },
    ])
  })
})

test('docs/logs-and-metrics.md lists every event', () => {
  const document = readFileSync(new URL('../../../docs/logs-and-metrics.md', import.meta.url), 'utf8')
  const [, section = ''] = /### Account events(.+?)\n\n- `outcome`/s.exec(document) ?? []
  const listed = section.split('\n').flatMap((row) => /^\| (`.+?`) \|/.exec(row)?.[1]?.match(/\w+/g) ?? [])
  assert.deepEqual(listed.filter((name) => name !== 'event').toSorted(), [...ACCOUNT_EVENTS].toSorted())
})
