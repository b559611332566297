// Runs on SQLite.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { type Person, loggedIn, logIn, logOut, newPerson, signedUp } from '../../support/client/accounts.ts'
import { assertJsonError, assertRedirect, assertSignedIn, assertSignedOut } from '../../support/client/assertions.ts'
import { type UserAgent, createUserAgent } from '../../support/client/user-agent.ts'
import { turnedClock } from '../../support/clock/turned-clock.ts'
import { openDatabase, rootSecret } from '../../support/database/database.ts'
import { accessToken, claimsOf, keyTap } from '../../support/service/access-tokens.ts'
import {
  deleteUser,
  disableUser,
  enableUser,
  runCommandOf,
  setPassword,
} from '../../support/service/operator-commands.ts'
import { startService } from '../../support/service/service.ts'
import { startServiceProcess } from '../../support/service/service-process.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const service = await startService()

const endings: [string, (agent: UserAgent, person: Person) => Promise<unknown>][] = [
  ['logout', (agent) => logOut(agent)],
  ['disable', (_, { email }) => disableUser(service, email)],
  ['delete by the command line', (_, { email }) => deleteUser(service, email)],
  ['delete by the owner', (agent, { password }) => agent.post('/auth/account/delete', { password })],
  ['password change by the command line', (_, { email }) => setPassword(service, email, newPerson().password)],
  ['svc sessions revoke', (_, { email }) => runCommandOf(service, ['sessions', 'revoke', email])],
]
for (const [what, end] of endings) {
  test(`${what} ends access at once`, async () => {
    const { agent, person } = await signedUp(service)
    const seen = agent.copy()
    await assertSignedIn(seen)
    await end(agent, person)
    await assertSignedOut(seen)
  })
}

test('password change in the account ends every other session at once and keeps this one', async () => {
  const { agent, person } = await signedUp(service)
  const others = await Promise.all([loggedIn(service, person), loggedIn(service, person)])
  const passwords = { current_password: person.password, new_password: newPerson().password }
  assertRedirect(await agent.post('/auth/account/password', passwords), '/auth/account?done=password')
  for (const other of others) await assertSignedOut(other)
  await assertSignedIn(agent)
  assert.equal((await agent.refresh()).status, 200)
})

test('enable does not restore ended sessions', async () => {
  const { agent, person } = await signedUp(service)
  await disableUser(service, person.email)
  await assertSignedOut(agent.copy())
  await enableUser(service, person.email)
  await assertSignedOut(agent)
  await assertSignedIn(await loggedIn(service, person))
})

test('logout, 100 times: 0 accepted afterwards', async () => {
  const { person } = await signedUp(service)
  for (let trial = 0; trial < 100; trial++) {
    const agent = await loggedIn(service, person)
    const seen = agent.copy()
    await assertSignedIn(seen)
    await logOut(agent)
    assertJsonError(await seen.get('/auth/api/v1/user'), 401, 'unauthorized')
  }
})

test('a logout that races with refreshes wins: no token that they issued is valid afterwards', async () => {
  for (let trial = 0; trial < 10; trial++) {
    const { agent } = await signedUp(service)
    const tabs = [agent.copy(), agent.copy(), agent.copy()]
    await Promise.all([...tabs.map((tab) => tab.refresh()), logOut(agent.copy())])
    for (const tab of [agent, ...tabs]) assert.equal((await tab.get('/auth/api/v1/user')).status, 401)
    for (const tab of tabs) assert.equal((await tab.refresh()).status, 401)
  }
})

test('a login that races with a password change gets no valid session', async () => {
  for (let trial = 0; trial < 10; trial++) {
    const { agent, person } = await signedUp(service)
    const rivals = [createUserAgent(service), createUserAgent(service)]
    for (const rival of rivals) await rival.get('/auth/login')
    const passwords = { current_password: person.password, new_password: newPerson().password }
    const [change] = await Promise.all([
      agent.post('/auth/account/password', passwords),
      ...rivals.map((rival) => logIn(rival, person)),
    ])
    assert.equal(change?.status, 303)
    for (const rival of rivals) assertJsonError(await rival.get('/auth/api/v1/user'), 401, 'unauthorized')
  }
})

test('a login that races with the deletion of the account gets no valid session', async () => {
  for (let trial = 0; trial < 10; trial++) {
    const { agent, person } = await signedUp(service)
    const rival = createUserAgent(service)
    await rival.get('/auth/login')
    const deletion = agent.post('/auth/account/delete', { password: person.password })
    const [{ status }] = await Promise.all([deletion, logIn(rival, person)])
    assert.equal(status, 303)
    assertJsonError(await rival.get('/auth/api/v1/user'), 401, 'unauthorized')
  }
})

describe('session lifetime', () => {
  const MINUTE = 60_000

  test('absolute: refreshes do not extend a session beyond it', async (t) => {
    const clock = turnedClock()
    const brief = await startService({ t, clock, env: { SVC_SESSION_TTL: '1h', SVC_SESSION_IDLE_TTL: '1h' } })
    const { agent } = await signedUp(brief)
    const start = agent.copy()
    for (const minute of [30, 58]) {
      await clock.turnTo(minute * MINUTE)
      assert.equal((await agent.refresh()).status, 200)
    }
    const [token, refresh] = [accessToken(agent), agent.cookies.get('svc_refresh')]
    await clock.turnTo(61 * MINUTE)
    for (const visitor of [agent, start]) {
      visitor.cookies.set('svc_refresh', refresh ?? '', '/auth')
      visitor.cookies.set('svc_access', token)
      assertJsonError(await visitor.get('/auth/api/v1/user'), 401, 'unauthorized')
    }
    agent.cookies.set('svc_refresh', refresh ?? '', '/auth')
    if (agent.cookies.get('svc_csrf') === undefined) await agent.get('/auth/login')
    assertJsonError(await agent.refresh(), 401, 'unauthorized')
  })

  test('idle: a session that is refreshed continues, one that is not ends', async (t) => {
    const clock = turnedClock()
    const brief = await startService({ t, clock, env: { SVC_SESSION_IDLE_TTL: '1h' } })
    const [busy, idle] = await Promise.all([signedUp(brief), signedUp(brief)])
    const [token, csrf] = [idle.agent.cookies.get('svc_refresh') ?? '', idle.agent.cookies.get('svc_csrf') ?? '']
    for (const minute of [20, 40, 61]) {
      await clock.turnTo(minute * MINUTE)
      assert.equal((await busy.agent.refresh()).status, 200)
    }
    idle.agent.cookies.set('svc_refresh', token, '/auth')
    idle.agent.cookies.set('svc_csrf', csrf)
    assertJsonError(await idle.agent.refresh(), 401, 'unauthorized')
  })
})

test('a copy of the database contains no usable refresh token, no private key and no password', async () => {
  const directory = temporaryDirectory()
  const tapped = await startServiceProcess({ cwd: directory, env: keyTap(directory) })
  const { agent, person } = await signedUp(tapped)
  const first = agent.cookies.get('svc_refresh')
  const database = await openDatabase(tapped)
  const before = await database.contents()
  await agent.refresh()
  const privateKey: { d: string } = JSON.parse(readFileSync(keyTap(directory).TEST_KEY_FILE, 'utf8'))
  const secrets = {
    password: person.password,
    firstRefreshToken: first,
    refreshToken: agent.cookies.get('svc_refresh'),
    accessToken: accessToken(agent),
    csrfToken: agent.cookies.get('svc_csrf'),
    privateKey: privateKey.d,
    rootSecret: rootSecret(tapped),
  }
  const stored = Buffer.concat([before, await database.contents()])
  assert.ok(stored.includes(person.email), 'the right bytes are looked at')
  for (const [what, secret] of Object.entries(secrets)) {
    assert.ok(secret, what)
    // The part before a dot may be the id of the session; the secret of a token is its last part.
    for (const part of [secret, secret.split('.').at(-1) ?? '']) {
      assert.ok(!stored.includes(part), `${what} stands in the database`)
      assert.ok(!stored.includes(Buffer.from(part, 'base64url')), `${what} stands in the database, decoded`)
    }
  }
})

/** The sessions that the account page lists, by the form that ends each. */
const listedSessions = (html: string) =>
  [...html.matchAll(/name="session_id"[^>]*value="([^"]+)"|value="([^"]+)"[^>]*name="session_id"/g)].map(
    (match) => match[1] ?? match[2] ?? '',
  )
const sessionId = (agent: UserAgent) => String(claimsOf(accessToken(agent)).sid)

test('the account page lists the sessions and ends the chosen one', async () => {
  const { agent, person } = await signedUp(service)
  const phone = await loggedIn(service, person)
  const tablet = await loggedIn(service, person)
  const listed = listedSessions((await agent.get('/auth/account')).text)
  assert.ok(listed.includes(sessionId(phone)) && listed.includes(sessionId(tablet)), String(listed))
  const answer = await agent.post('/auth/account/sessions', { session_id: sessionId(phone) })
  assertRedirect(answer, '/auth/account?done=session')
  await assertSignedOut(phone)
  await assertSignedIn(tablet)
  await assertSignedIn(agent)
})

test('the account page ends all other sessions and keeps this one', async () => {
  const { agent, person } = await signedUp(service)
  const others = await Promise.all([loggedIn(service, person), loggedIn(service, person)])
  const stranger = await signedUp(service)
  assertRedirect(await agent.post('/auth/account/sessions', { all_others: '1' }), '/auth/account?done=sessions')
  for (const other of others) await assertSignedOut(other)
  await assertSignedIn(agent)
  await assertSignedIn(stranger.agent)
})

test('nobody ends the session of another user, whatever ID is sent', async () => {
  const [one, other] = await Promise.all([signedUp(service), signedUp(service)])
  for (const id of [sessionId(other.agent), '', '%', "' OR 1=1 --", '0'.repeat(5000)]) {
    const answer = await one.agent.post('/auth/account/sessions', { session_id: id })
    assert.ok(answer.status < 500, `${id}: ${answer.status}`)
  }
  await assertSignedIn(other.agent)
  await assertSignedIn(one.agent)
})
