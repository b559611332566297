// Runs on SQLite.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { currentUser, newAgent, newPerson, signedUp } from '../../support/client/accounts.ts'
import { assertPage } from '../../support/client/assertions.ts'
import type { Answer, UserAgent } from '../../support/client/user-agent.ts'
import { turnedClock } from '../../support/clock/turned-clock.ts'
import { openDatabase } from '../../support/database/database.ts'
import { type Algorithm, createAuthenticator, type Ways } from '../../support/passkeys/authenticator.ts'
import {
  addPasskey,
  loginOptions,
  logInWithPasskey,
  postJson,
  registrationOptions,
} from '../../support/passkeys/passkeys.ts'
import { setUpApp } from '../../support/second-factor/guarded-account.ts'
import { claimsOf } from '../../support/service/access-tokens.ts'
import { at, openOperator, startReplicas } from '../../support/service/replicas.ts'
import { disableUser } from '../../support/service/operator-commands.ts'
import { startService } from '../../support/service/service.ts'

const clock = turnedClock()
const service = await startService({ clock })
const origin = service.url
const LOGIN = '/auth/passkeys/login'

/** A user with one passkey, signed in. */
const withPasskey = async (ways: Ways = {}) => {
  const { agent, person } = await signedUp(service)
  const authenticator = createAuthenticator({ origin, ...ways })
  const passkey = await addPasskey(agent, authenticator)
  return { agent, person, authenticator, passkey, id: (await currentUser(agent)).id }
}

const sortedStatuses = (answers: Answer[]): number[] => answers.map(({ status }) => status).toSorted((a, b) => a - b)

const sessionOf = (agent: UserAgent): string => String(claimsOf(agent.cookies.get('svc_access') ?? '').sid)

const rowOf = async (id: string) => {
  const database = await openDatabase(service)
  const [row] = await database.rows(`SELECT * FROM passkeys WHERE id = '${id}'`)
  return row ?? {}
}

describe('signing in with a passkey', () => {
  for (const algorithm of ['ES256', 'RS256', 'EdDSA'] satisfies Algorithm[]) {
    test(`a key of ${algorithm} is accepted, and return_to counts`, async () => {
      const { authenticator, id } = await withPasskey({ algorithm })
      const visitor = newAgent(service)
      const answer = await logInWithPasskey(visitor, authenticator, {}, '?return_to=%2Fstart%3Fa%3D1')
      assert.equal(answer.status, 200, answer.text)
      assert.deepEqual(answer.json(), { redirect_to: '/start?a=1' })
      assert.equal((await currentUser(visitor)).id, id)
    })
  }

  test('the access token says that it was a passkey, bound to a device or synced', async () => {
    for (const [ways, amr] of [
      [{}, ['hwk', 'mfa']],
      [{ backupEligible: true, backedUp: true }, ['swk', 'mfa']],
      [{ backupEligible: true, backedUp: false }, ['swk', 'mfa']],
    ] as const) {
      const { authenticator } = await withPasskey(ways)
      const visitor = newAgent(service)
      const beforeS = Math.floor(Date.now() / 1000)
      await logInWithPasskey(visitor, authenticator)
      const claims = claimsOf(visitor.cookies.get('svc_access') ?? '')
      assert.deepEqual(claims.amr, amr)
      const [atS, issuedS] = [Number(claims.auth_time), Number(claims.iat)]
      assert.ok(atS >= beforeS && atS <= issuedS, `${atS} is not from ${beforeS} to ${issuedS}`)
    }
  })

  test('the session that the browser had is replaced, and the CSRF token is new', async () => {
    const { agent, authenticator } = await withPasskey()
    const before = agent.copy()
    const csrf = agent.cookies.get('svc_csrf')
    assert.equal((await logInWithPasskey(agent, authenticator)).status, 200)
    assert.notEqual(agent.cookies.get('svc_csrf'), csrf)
    assert.equal((await before.get('/auth/api/v1/user')).status, 401)
  })

  test('last use, counter and backup state are noted', async () => {
    const { authenticator, passkey } = await withPasskey({ backupEligible: true, counter: 4 })
    const { last_used_at: before, sign_count: count } = await rowOf(passkey.id)
    assert.deepEqual([before, Number(count)], [null, 4])
    await logInWithPasskey(newAgent(service), authenticator, { counter: 5, backedUp: true })
    const row = await rowOf(passkey.id)
    assert.ok(Math.abs(Number(row.last_used_at) - clock.now()) < 60_000)
    assert.deepEqual([Number(row.sign_count), Number(row.backed_up)], [5, 1])
  })

  test('codes of the app are good again after a hundred wrong ones in a row', async () => {
    const { agent, person, authenticator, id } = await withPasskey()
    const app = await setUpApp(await openOperator(service), {
      userId: id,
      email: person.email,
      sessionId: sessionOf(agent),
    })
    const database = await openDatabase(service)
    await database.rows('UPDATE one_time_codes SET wrong_anywhere = 100 WHERE user_id = ?', id)
    const confirm = () => agent.post('/auth/account/confirm', { password: person.password, code: app.nextCode() })
    const refused = await confirm()
    assertPage(refused, 429)
    assert.match(refused.text, /first use a recovery code or passkey, or reset your password/)
    assert.equal((await logInWithPasskey(newAgent(service), authenticator)).status, 200)
    assert.equal((await confirm()).status, 303)
  })

  test('a counter that goes back is logged, and not refused', async () => {
    const { authenticator, passkey, id } = await withPasskey({ counter: 7 })
    const signIn = (counter: number) => logInWithPasskey(newAgent(service), authenticator, { counter })
    const noted = () => service.logLines().filter((line) => line.event === 'passkey_counter' && line.user_id === id)
    assert.equal((await signIn(8)).status, 200)
    assert.equal(noted().length, 0)
    assert.equal((await signIn(8)).status, 200)
    assert.equal((await signIn(3)).status, 200)
    assert.deepEqual(
      noted().map((line) => line.passkey_id),
      [passkey.id, passkey.id],
    )
    assert.equal((await signIn(4)).status, 200)
    assert.equal(noted().length, 2)
  })

  test('a backup eligibility that changes is refused, either way', async () => {
    const bound = await withPasskey()
    const synced = await withPasskey({ backupEligible: true })
    assert.equal((await logInWithPasskey(newAgent(service), bound.authenticator, { backupEligible: true })).status, 401)
    const changed = await logInWithPasskey(newAgent(service), synced.authenticator, { backupEligible: false })
    assert.equal(changed.status, 401)
  })

  test('a disabled account is 403, and a session does not start', async () => {
    const { authenticator, id } = await withPasskey()
    await disableUser(service, id)
    const visitor = newAgent(service)
    const answer = await logInWithPasskey(visitor, authenticator)
    assert.equal(answer.status, 403, answer.text)
    assert.equal(visitor.cookies.get('svc_access'), undefined)
  })

  test('a passkey that no account has is 401, and the browser may forget it', async () => {
    const { agent, authenticator, passkey } = await withPasskey()
    const stranger = createAuthenticator({ origin })
    const unknown = await logInWithPasskey(newAgent(service), stranger, { userHandle: authenticator.userHandle ?? '' })
    assert.deepEqual([unknown.status, unknown.headers['x-svc-passkey']], [401, 'unknown'])
    await logInWithPasskey(agent, authenticator)
    await agent.post('/auth/account/passkeys', { passkey_id: passkey.id, remove: '1' })
    const removed = await logInWithPasskey(newAgent(service), authenticator)
    assert.deepEqual([removed.status, removed.headers['x-svc-passkey']], [401, 'unknown'])
  })

  test('the answer names the reason, for which pages have a text, and the JSON stays as it is', async () => {
    const { authenticator } = await withPasskey()
    const visitor = newAgent(service)
    const response = authenticator.authenticate(await loginOptions(visitor))
    const foreign = await postJson(newAgent(service), LOGIN, response)
    assert.deepEqual([foreign.status, foreign.headers['x-svc-reason']], [400, 'passkey_challenge'])
    const json =
      /^\{"error":\{"code":"invalid_request","message":"This took too long[^"]*","field":"[a-z_]+","request_id":"[^"]+"\}\}$/
    assert.match(foreign.text, json)
    const unknown = await logInWithPasskey(visitor, createAuthenticator({ origin }))
    assert.deepEqual([unknown.status, unknown.headers['x-svc-reason']], [401, 'passkey_unknown'])
    assert.ok(unknown.headers['www-authenticate'])
    const forged = await postJson(visitor, LOGIN, response, { 'x-csrf-token': '' })
    assert.deepEqual([forged.status, forged.headers['x-svc-reason']], [403, undefined])
  })

  test('a passkey of another installation under the same name is 401, and the browser keeps it', async () => {
    const elsewhere = createAuthenticator({ origin })
    const visitor = newAgent(service)
    const named = await logInWithPasskey(visitor, elsewhere, { userHandle: randomBytes(32).toString('base64url') })
    assert.deepEqual([named.status, named.headers['x-svc-passkey']], [401, undefined])
    const unnamed = await logInWithPasskey(visitor, elsewhere)
    assert.deepEqual([unnamed.status, unnamed.headers['x-svc-passkey']], [401, undefined])
  })

  test('the user handle must be there, and that of the account', async () => {
    const { authenticator } = await withPasskey()
    const other = await withPasskey()
    const visitor = newAgent(service)
    const wrong = await logInWithPasskey(visitor, authenticator, { userHandle: other.authenticator.userHandle ?? '' })
    assert.deepEqual([wrong.status, wrong.headers['x-svc-passkey']], [401, undefined])
    const { response, ...rest } = authenticator.authenticate(await loginOptions(visitor))
    const { userHandle: _, ...without } = response
    assert.equal((await postJson(visitor, LOGIN, { ...rest, response: without })).status, 401)
    assert.equal((await postJson(visitor, LOGIN, { ...rest, response: { ...without, userHandle: null } })).status, 401)
  })
})

/** A passkey, a visitor who was given a challenge, and what the passkey says to it. */
const challenged = async () => {
  const { authenticator } = await withPasskey()
  const visitor = newAgent(service)
  const response = authenticator.authenticate(await loginOptions(visitor))
  return { authenticator, visitor, response }
}

describe('a challenge', () => {
  test('is good once', async () => {
    const { visitor, response } = await challenged()
    const thief = visitor.copy()
    assert.equal((await postJson(visitor, LOGIN, response)).status, 200)
    assert.equal((await postJson(visitor, LOGIN, response)).status, 400)
    assert.equal((await postJson(thief, LOGIN, response)).status, 400)
  })

  test('is good once when it comes ten times at the same moment', async () => {
    const { visitor, response } = await challenged()
    const agents = Array.from({ length: 10 }, () => visitor.copy())
    const answers = await Promise.all(agents.map((agent) => postJson(agent, LOGIN, response)))
    assert.deepEqual(sortedStatuses(answers), [200, ...Array.from({ length: 9 }, () => 400)])
  })

  test('is good for five minutes', async () => {
    const { visitor, response, authenticator } = await challenged()
    await clock.turnTo(5 * 60_000)
    assert.equal((await postJson(visitor, LOGIN, response)).status, 400)
    const later = authenticator.authenticate(await loginOptions(visitor))
    await clock.turnTo(10 * 60_000 - 5000)
    assert.equal((await postJson(visitor, LOGIN, later)).status, 200)
    await clock.turnTo(0)
  })

  test('is good in the browser that asked for it', async () => {
    const { response } = await challenged()
    const other = newAgent(service)
    assert.equal((await postJson(other, LOGIN, response)).status, 400)
    await loginOptions(other)
    assert.equal((await postJson(other, LOGIN, response)).status, 400)
  })

  test('is none of another origin, and no text of the sender', async () => {
    const { visitor, authenticator } = await challenged()
    for (const challenge of ['', 'AAAA', Buffer.alloc(200, 7).toString('base64url'), '%']) {
      const response = authenticator.authenticate({ challenge, rpId: 'localhost', allowCredentials: [] })
      assert.equal((await postJson(visitor, LOGIN, response)).status, 400, challenge)
    }
  })

  test('of a registration signs nobody in, and that of a sign-in registers nothing', async () => {
    const { agent, authenticator } = await withPasskey()
    await logInWithPasskey(agent, authenticator)
    const { challenge } = await registrationOptions(agent)
    const swapped = authenticator.authenticate({ challenge, rpId: 'localhost', allowCredentials: [] })
    assert.equal((await postJson(agent, LOGIN, swapped)).status, 400)
    const options = await registrationOptions(agent)
    const login = await loginOptions(agent)
    const registered = createAuthenticator({ origin }).register({ ...options, challenge: login.challenge })
    assert.equal((await postJson(agent, '/auth/passkeys/register', registered)).status, 400)
  })

  test('of a registration is good for the account that asked for it, in the same browser', async () => {
    const { agent } = await signedUp(service)
    const mine = createAuthenticator({ origin }).register(await registrationOptions(agent))
    const next = newPerson()
    const signup = await agent.post('/auth/logout').then(() => agent.post('/auth/signup', next))
    assert.equal(signup.status, 303)
    assert.equal((await postJson(agent, '/auth/passkeys/register', mine)).status, 400)
  })
})

describe('two requests at once', () => {
  test('add one passkey for one response, and two for two', async () => {
    const { agent, authenticator } = await withPasskey()
    await logInWithPasskey(agent, authenticator)
    const one = createAuthenticator({ origin }).register(await registrationOptions(agent))
    const two = createAuthenticator({ origin }).register(await registrationOptions(agent))
    const send = (body: object) => postJson(agent, '/auth/passkeys/register', body)
    const answers = await Promise.all([send(one), send(one), send(two)])
    assert.deepEqual(sortedStatuses(answers), [201, 201, 400])
  })

  test('options ask for the same user handle', async () => {
    const { agent } = await signedUp(service)
    const all = await Promise.all(Array.from({ length: 4 }, () => registrationOptions(agent)))
    assert.equal(new Set(all.map(({ user }) => user.id)).size, 1)
    assert.equal(Buffer.from(all[0]?.user.id ?? '', 'base64url').length, 32)
  })

  test('of two accounts, one gets a passkey that both register', async () => {
    const authenticator = createAuthenticator({ origin })
    const agents = await Promise.all([signedUp(service), signedUp(service)])
    const bodies = await Promise.all(
      agents.map(async ({ agent }) => authenticator.register(await registrationOptions(agent))),
    )
    const answers = await Promise.all(
      agents.map(({ agent }, index) => postJson(agent, '/auth/passkeys/register', bodies[index])),
    )
    assert.deepEqual(sortedStatuses(answers), [201, 409])
  })
})

describe('with two replicas', () => {
  test('one checks what the other has asked, and a challenge is still good once', async (t) => {
    const replicas = await startReplicas({ t, env: { SVC_BASE_URL: 'https://svc.example' } })
    const [one, other] = replicas
    const { agent } = await signedUp(one)
    const authenticator = createAuthenticator({ origin: 'https://svc.example' })
    const registered = authenticator.register(await registrationOptions(agent))
    const added = await postJson(at(other, agent), '/auth/passkeys/register', registered)
    assert.equal(added.status, 201, added.text)
    const visitor = newAgent(one)
    const response = authenticator.authenticate(await loginOptions(visitor))
    assert.equal(visitor.cookies.get('svc_link'), undefined)
    const agents = Array.from({ length: 6 }, (_, index) => at(index % 2 ? one : other, visitor.copy()))
    const answers = await Promise.all(agents.map((sender) => postJson(sender, LOGIN, response)))
    assert.deepEqual(sortedStatuses(answers), [200, 400, 400, 400, 400, 400])
  })
})
