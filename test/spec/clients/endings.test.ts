// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { decodeJwt } from 'jose'
import { loggedIn, logIn, logOut, newPerson, type Person, signedUp } from '../../support/client/accounts.ts'
import { createBackend } from '../../support/client/backend.ts'
import type { UserAgent } from '../../support/client/user-agent.ts'
import { CLIENT_SETTINGS, codeFor, madeClient } from '../../support/clients/authorization.ts'
import { startLogoutReceiver } from '../../support/clients/logout-receiver.ts'
import {
  assertEnded,
  assertLive,
  assertOAuthError,
  granted,
  type Made,
  newlyGranted,
  refresh,
  send,
  trade,
  type Tokens,
  userInfo,
} from '../../support/clients/tokens.ts'
import { turnedClock } from '../../support/clock/turned-clock.ts'
import { openDatabase } from '../../support/database/database.ts'
import {
  deleteUser,
  disableUser,
  enableUser,
  runCommandOf,
  setPassword,
} from '../../support/service/operator-commands.ts'
import { resetElsewhere, withNewPassword } from '../../support/recovery/reset.ts'
import { startService } from '../../support/service/service.ts'
import { eventually } from '../../support/wait.ts'

const clock = turnedClock()
const service = await startService({ env: CLIENT_SETTINGS, clock })
const web = await madeClient(service)
const page = await madeClient(service, { name: 'Page', options: ['--type', 'browser'] })
const backend = await createBackend(service, ['sessions:write', 'users:write', 'credentials:write'])

const FREE = 'openid offline_access notes:read'
const HANGING = 'openid notes:read'

const reasonsOf = async (userId: unknown): Promise<unknown[]> => {
  const rows = await (await openDatabase(service)).rows(
    "SELECT details FROM audit_events WHERE type = 'grant.ended' AND user_id = ? ORDER BY id",
    String(userId),
  )
  return rows.map(({ details }) => (JSON.parse(String(details)) as { reason: string }).reason)
}

/** A user with one grant that lives by itself, one that hangs on this session, and one on that of another browser. */
const withGrants = async () => {
  const { agent, person } = await signedUp(service)
  const elsewhere = await loggedIn(service, person)
  const free = await granted(service, agent, web, FREE)
  const own = await granted(service, agent, web, HANGING)
  const others = await granted(service, elsewhere, web, HANGING)
  const userId = String(decodeJwt(free.access).sub)
  return { agent, person, userId, free, own, others }
}

type Given = Awaited<ReturnType<typeof withGrants>>
type Act = (given: Given) => Promise<unknown>

const newPassword = ({ agent, person }: { agent: UserAgent; person: Person }) =>
  agent.post('/auth/account/password', { current_password: person.password, new_password: newPerson().password })

/** What becomes of the three grants, and the reason in the records. */
const ALL: (keyof Tokened)[] = ['free', 'own', 'others']
type Tokened = Pick<Given, 'free' | 'own' | 'others'>

const acts: [what: string, ended: (keyof Tokened)[], reason: string | undefined, act: Act][] = [
  ['a changed password', ['free', 'others'], 'password_changed', newPassword],
  [
    'a password set by an operator',
    ALL,
    'password_set',
    ({ person }) => setPassword(service, person.email, newPerson().password),
  ],
  [
    'the reset of second factors',
    ALL,
    'second_factor_reset',
    ({ person }) => runCommandOf(service, ['users', 'reset-second-factor', person.email]),
  ],
  [
    'an unverified account that a link takes over',
    ALL,
    'taken_over',
    ({ person }) => resetElsewhere(service, withNewPassword(person)),
  ],
  [
    'a password set by a link',
    ALL,
    'password_reset',
    async ({ person, userId }) => {
      await backend.call('PATCH', `/users/${userId}`, { email_verified: true })
      await resetElsewhere(service, withNewPassword(person))
    },
  ],
  ['a disabled account', ALL, 'disabled', ({ person }) => disableUser(service, person.email)],
  [
    'a changed email',
    [],
    undefined,
    ({ person }) => runCommandOf(service, ['users', 'set-email', person.email, newPerson().email]),
  ],
  [
    'an email set after a theft',
    ALL,
    'email_taken_back',
    ({ person }) => runCommandOf(service, ['users', 'set-email', person.email, newPerson().email, '--stolen']),
  ],
  // The records of a deleted user have lost their details.
  ['svc users delete', ALL, undefined, ({ person }) => deleteUser(service, person.email)],
  [
    'the deletion by the owner',
    ALL,
    // The records of a deleted user have lost their details.
    undefined,
    ({ agent, person }) => agent.post('/auth/account/delete', { password: person.password }),
  ],
  [
    'svc sessions revoke',
    ALL,
    'session_revoked',
    ({ person }) => runCommandOf(service, ['sessions', 'revoke', person.email]),
  ],
  [
    'DELETE /users/{id}/sessions',
    ALL,
    'session_revoked',
    ({ userId }) => backend.call('DELETE', `/users/${userId}/sessions`),
  ],
  [
    '"Log out everywhere"',
    ['others'],
    'session_revoked',
    ({ agent }) => agent.post('/auth/account/sessions', { all_others: '1' }),
  ],
  ['a logout', ['own'], 'logout', ({ agent }) => logOut(agent)],
  [
    'DELETE /sessions/{id} of a grant',
    ['free'],
    'session_revoked',
    ({ free }) => backend.call('DELETE', `/sessions/${String(decodeJwt(free.access).sid)}`),
  ],
  [
    'svc sessions revoke --session of a grant',
    ['free'],
    'session_revoked',
    ({ person, free }) =>
      runCommandOf(service, ['sessions', 'revoke', person.email, '--session', String(decodeJwt(free.access).sid)]),
  ],
]

describe('what ends grants', () => {
  for (const [what, ended, reason, act] of acts) {
    test(what, async () => {
      const given = await withGrants()
      await act(given)
      for (const name of ALL) {
        if (ended.includes(name)) await assertEnded(service, web, given[name])
        else await assertLive(service, given[name])
      }
      assert.deepEqual(
        await reasonsOf(given.userId),
        ended.map(() => reason),
      )
    })
  }

  test('svc sessions revoke --all', async () => {
    const given = await withGrants()
    await runCommandOf(service, ['sessions', 'revoke', '--all', '--yes'])
    for (const name of ALL) await assertEnded(service, web, given[name])
  })

  for (const args of [['disable'], ['delete', '--yes']]) {
    test(`svc clients ${args.join(' ')}`, async () => {
      const client = await madeClient(service, { name: 'Gone' })
      const { tokens, agent } = await newlyGranted(service, client)
      const code = await codeFor(agent, client.id)
      const [command = '', ...options] = args
      await runCommandOf(service, ['clients', command, client.id, ...options])
      assertOAuthError(await userInfo(service, tokens.access), 401, 'invalid_token')
      assertOAuthError(await trade(service, client, code), 401, 'invalid_client')
      if (command === 'disable') {
        await runCommandOf(service, ['clients', 'enable', client.id])
        await assertEnded(service, client, tokens)
        assertOAuthError(await trade(service, client, code), 400, 'invalid_grant')
      }
    })
  }

  test('an account that is enabled again has none back', async () => {
    const { tokens, person } = await newlyGranted(service, web, FREE)
    await disableUser(service, person.email)
    await enableUser(service, person.email)
    await assertEnded(service, web, tokens)
  })
})

describe('a grant that hangs on a session', () => {
  test('goes over to the session of the same user, and ends with that', async () => {
    const { agent, person, tokens } = await newlyGranted(service, web, HANGING)
    assert.equal((await logIn(agent, person)).status, 303)
    await assertLive(service, tokens)
    await logOut(agent)
    await assertEnded(service, web, tokens)
  })

  test("ends where another user's session replaces it", async () => {
    const { agent, tokens } = await newlyGranted(service, web, HANGING)
    const { person: another } = await signedUp(service)
    assert.equal((await logIn(agent, another)).status, 303)
    await assertEnded(service, web, tokens)
  })

  test('is every one of a browser client', async () => {
    const { agent, tokens } = await newlyGranted(service, page, FREE)
    await logOut(agent)
    await assertEnded(service, page, tokens)
  })

  test('ends as the session expires', async () => {
    const { tokens } = await newlyGranted(service, web, HANGING)
    await clock.turnTo(60 * 86_400_000)
    await assertEnded(service, web, tokens)
    await clock.turnTo(0)
  })

  test('lives on while the session is renewed', async () => {
    const { agent, tokens } = await newlyGranted(service, web, HANGING)
    for (const days of [5, 10, 15]) {
      await clock.turnTo(days * 86_400_000)
      assert.equal((await agent.refresh()).status, 200)
    }
    const answer = await send(service, 'token', {
      grant_type: 'refresh_token',
      refresh_token: tokens.refresh,
      client_id: web.id,
      client_secret: web.secret,
    })
    assert.equal(answer.status, 200, answer.text)
    await clock.turnTo(0)
  })
})

test('a user has 50 grants at most: the one unused for longest ends', async () => {
  const { agent } = await signedUp(service)
  const all: Tokens[] = []
  for (let count = 0; count < 51; count += 1) all.push(await granted(service, agent, web, FREE))
  const [first, second] = all
  assert.ok(first && second)
  await assertEnded(service, web, first)
  await assertLive(service, second)
  assert.equal((await agent.get('/auth/account')).status, 200)
})

test('grants end while the OAuth server is switched off, and switching it on revives none', async (t) => {
  const switched = await startService({ env: CLIENT_SETTINGS, t })
  const client: Made = await madeClient(switched)
  const { agent, person, tokens } = await newlyGranted(switched, client, FREE)
  const { tokens: kept } = await newlyGranted(switched, client, FREE)
  await switched.restart({ env: { SVC_CLIENTS: 'off' } })
  assert.equal((await userInfo(switched, kept.access)).status, 404)
  assert.equal((await newPassword({ agent, person })).status, 303)
  await switched.restart({ env: { SVC_CLIENTS: 'on' } })
  await assertEnded(switched, client, tokens)
  await assertLive(switched, kept)
})

describe('cleanup of a running service', () => {
  const MINUTE_MS = 60_000
  const ROWS = [
    'SELECT id FROM authorization_codes',
    "SELECT id FROM clients WHERE kind = 'registered'",
    "SELECT id FROM used_tokens WHERE id LIKE 'consent %'",
    'SELECT id FROM logout_tokens',
  ]

  test('deletes what is past its time, and nothing else', async (t) => {
    const time = turnedClock()
    const settings = { SVC_CLIENT_REGISTRATION: 'on', SVC_CLEANUP_INTERVAL: '50ms' }
    const cleaned = await startService({ env: { ...CLIENT_SETTINGS, ...settings }, clock: time, t })
    const database = await openDatabase(cleaned, t)
    const receiver = await startLogoutReceiver()
    receiver.answerWith((response) => void response.writeHead(500).end())
    const client = await madeClient(cleaned, { options: ['--backchannel-logout-uri', receiver.url] })
    const register = () =>
      fetch(`${cleaned.url}/auth/oauth2/register`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ redirect_uris: ['http://127.0.0.1/callback'] }),
      })
    const idsNow = async () => {
      const ids: string[][] = []
      for (const sql of ROWS) ids.push((await database.rows(sql)).map(({ id }) => String(id)).toSorted())
      return ids
    }
    /** Leaves a row of each kind: a code, a form of consent that was used, a client, and a logout token. */
    const leaveRows = async () => {
      const { agent } = await newlyGranted(cleaned, client, HANGING)
      await logOut(agent)
      assert.equal((await register()).status, 201)
      return idsNow()
    }

    const { tokens: idle } = await newlyGranted(cleaned, client, FREE)
    const { tokens: used } = await newlyGranted(cleaned, client, FREE)
    const first = await leaveRows()
    await time.turnTo(1430 * MINUTE_MS)
    const both = await leaveRows()
    await time.turnTo(1442 * MINUTE_MS)
    const second = both.map((ids, kind) => ids.filter((id) => !first[kind]?.includes(id)))
    assert.ok([...first, ...second].every((ids) => ids.length > 0))
    await eventually('the first are gone', async () => isDeepStrictEqual(await idsNow(), second))

    for (const days of [60, 95]) {
      await time.turnTo(days * 1440 * MINUTE_MS)
      assert.equal((await refresh(cleaned, client, used.refresh)).status, 200)
    }
    const left = [String(decodeJwt(used.access).sid)]
    assert.equal((await refresh(cleaned, client, idle.refresh)).status, 400)
    const grants = async () => (await database.rows('SELECT id FROM grants')).map(({ id }) => id)
    await eventually('the grant that nobody has used is gone', async () => isDeepStrictEqual(await grants(), left))
    assert.equal((await refresh(cleaned, client, used.refresh)).status, 200)
  })
})

describe('back-channel logout', () => {
  test('tells a client of the end, with the same jti in each attempt, and follows no redirect', async () => {
    const receiver = await startLogoutReceiver()
    const elsewhere = await startLogoutReceiver()
    const client = await madeClient(service, { options: ['--backchannel-logout-uri', receiver.url] })
    receiver.answerWith((response) => void response.writeHead(307, { location: elsewhere.url }).end())
    const { agent, tokens } = await newlyGranted(service, client, HANGING)
    await logOut(agent)
    await receiver.received(1)
    receiver.answerWith((response) => void response.writeHead(500).end())
    await receiver.received(2)
    receiver.answerWith((response) => void response.writeHead(200).end())
    const [first = '', second = '', third = ''] = await receiver.received(3)
    assert.deepEqual(elsewhere.tokens, [])
    const claims = decodeJwt(first)
    assert.equal(claims.sid, decodeJwt(tokens.access).sid)
    assert.equal(claims.aud, client.id)
    assert.equal(claims.nonce, undefined)
    assert.equal(Number(claims.exp) - Number(claims.iat), 120)
    for (const token of [second, third]) assert.equal(decodeJwt(token).jti, claims.jti)
  })
})
