// Runs on SQLite and PostgreSQL, alone.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, test, type TestContext } from 'node:test'
import { decodeJwt } from 'jose'
import {
  currentUser,
  loggedIn,
  logIn,
  logOut,
  newAgent,
  newPerson,
  type Person,
  signedUp,
} from '../../support/client/accounts.ts'
import { createBackend } from '../../support/client/backend.ts'
import type { UserAgent } from '../../support/client/user-agent.ts'
import { CLIENT_SETTINGS, madeClient } from '../../support/clients/authorization.ts'
import { granted, type Made, refresh, send, trade } from '../../support/clients/tokens.ts'
import { codeFor } from '../../support/clients/authorization.ts'
import { type TurnedClock, turnedClock } from '../../support/clock/turned-clock.ts'
import { openDatabase } from '../../support/database/database.ts'
import { resetElsewhere, withNewPassword } from '../../support/recovery/reset.ts'
import { readAll, type Revocation } from '../../support/revocations/feed.ts'
import { watchEndings } from '../../support/revocations/watched-endings.ts'
import { accessToken } from '../../support/service/access-tokens.ts'
import {
  deleteUser,
  disableUser,
  enableUser,
  runCommandOf,
  setPassword,
  setRoles,
} from '../../support/service/operator-commands.ts'
import { openOperator } from '../../support/service/replicas.ts'
import { startService } from '../../support/service/service.ts'
import { eventually } from '../../support/wait.ts'

const clock = turnedClock()
const service = await startService({ env: { ...CLIENT_SETTINGS, SVC_CLEANUP_INTERVAL: '500h' }, clock })
const web = await madeClient(service)
const scopes = ['sessions:write', 'users:write', 'credentials:write', 'clients:write', 'revocations:read']
const backend = await createBackend(service, scopes)
const database = await openDatabase(service)
const watched = await watchEndings(database)

const FREE = 'openid offline_access notes:read'
const HANGING = 'openid notes:read'

const sidOf = (token: string): string => String(decodeJwt(token).sid)
const sessionOf = (agent: UserAgent): string => sidOf(accessToken(agent))

/** What a user has that can end, by a name, with the claim `sid` of each. */
type Name = 'own' | 'other' | 'free' | 'hanging' | 'hangingOnOther'

interface Given {
  agent: UserAgent
  elsewhere: UserAgent
  person: Person
  userId: string
  ids: Record<Name, string>
  tokens: Record<'free' | 'hanging', { access: string; refresh: string }>
  cursor: string
}

const withEverything = async (): Promise<Given> => {
  const { agent, person } = await signedUp(service)
  const elsewhere = await loggedIn(service, person)
  const { id: userId } = await currentUser(agent)
  const free = await granted(service, agent, web, FREE)
  const hanging = await granted(service, agent, web, HANGING)
  const onOther = await granted(service, elsewhere, web, HANGING)
  const ids = {
    own: sessionOf(agent),
    other: sessionOf(elsewhere),
    free: sidOf(free.access),
    hanging: sidOf(hanging.access),
    hangingOnOther: sidOf(onOther.access),
  }
  return { agent, elsewhere, person, userId, ids, tokens: { free, hanging }, cursor: (await readAll(backend)).cursor }
}

const ALL: Name[] = ['free', 'hanging', 'hangingOnOther', 'other', 'own']
const OTHERS: Name[] = ['hangingOnOther', 'other']

const newPassword = ({ agent, person }: Given) =>
  agent.post('/auth/account/password', { current_password: person.password, new_password: newPerson().password })

const sendAsClient = (route: string, fields: Record<string, string>) =>
  send(service, route, { client_id: web.id, client_secret: web.secret, ...fields })

interface Ending {
  reason: string
  ended: Name[]
  act: (given: Given) => Promise<unknown>
  /** The claims of the user have changed too. */
  claims?: true
}

/** Each path that ends something, in the order of the documents: users, operators, the server API, clients. */
const endings: Record<string, Ending> = {
  'a logout': { reason: 'logout', ended: ['hanging', 'own'], act: ({ agent }) => logOut(agent) },
  'the end of another session on the account page': {
    reason: 'ended',
    ended: OTHERS,
    act: ({ agent, ids }) => agent.post('/auth/account/sessions', { session_id: ids.other }),
  },
  '"Log out everywhere else"': {
    reason: 'ended',
    ended: OTHERS,
    act: ({ agent }) => agent.post('/auth/account/sessions', { all_others: '1' }),
  },
  'the deletion of an account by its user': {
    reason: 'deleted',
    ended: ALL,
    act: ({ agent, person }) => agent.post('/auth/account/delete', { password: person.password }),
  },
  'a password set by a link': {
    reason: 'security',
    ended: ALL,
    act: async ({ person, userId }) => {
      await backend.call('PATCH', `/users/${userId}`, { email_verified: true })
      await resetElsewhere(service, withNewPassword(person))
    },
    claims: true,
  },
  'an unverified account that its owner reclaims': {
    reason: 'security',
    ended: ALL,
    act: ({ person }) => resetElsewhere(service, withNewPassword(person)),
    claims: true,
  },
  'svc users set-password': {
    reason: 'security',
    ended: ALL,
    act: ({ person }) => setPassword(service, person.email, newPerson().password),
  },
  'svc users reset-second-factor': {
    reason: 'security',
    ended: ALL,
    act: ({ person }) => runCommandOf(service, ['users', 'reset-second-factor', person.email]),
  },
  'svc users set-email --stolen': {
    reason: 'security',
    ended: ALL,
    act: ({ person }) => runCommandOf(service, ['users', 'set-email', person.email, newPerson().email, '--stolen']),
    claims: true,
  },
  'svc users disable': { reason: 'disabled', ended: ALL, act: ({ person }) => disableUser(service, person.email) },
  'svc users delete': { reason: 'deleted', ended: ALL, act: ({ person }) => deleteUser(service, person.email) },
  'svc sessions revoke': {
    reason: 'ended',
    ended: ALL,
    act: ({ person }) => runCommandOf(service, ['sessions', 'revoke', person.email]),
  },
  'svc sessions revoke --session': {
    reason: 'ended',
    ended: ['hanging', 'own'],
    act: ({ person, ids }) => runCommandOf(service, ['sessions', 'revoke', person.email, '--session', ids.own]),
  },
  'svc sessions revoke --session of a grant': {
    reason: 'ended',
    ended: ['free'],
    act: ({ person, ids }) => runCommandOf(service, ['sessions', 'revoke', person.email, '--session', ids.free]),
  },
  'svc grants revoke': {
    reason: 'ended',
    ended: ['free', 'hanging', 'hangingOnOther'],
    act: ({ person }) => runCommandOf(service, ['grants', 'revoke', '--user', person.email]),
  },
  'PATCH /users/{id} with disabled': {
    reason: 'disabled',
    ended: ALL,
    act: ({ userId }) => backend.call('PATCH', `/users/${userId}`, { disabled: true }),
  },
  'DELETE /users/{id}': {
    reason: 'deleted',
    ended: ALL,
    act: ({ userId }) => backend.call('DELETE', `/users/${userId}`),
  },
  'DELETE /users/{id}/second-factors': {
    reason: 'security',
    ended: ALL,
    act: ({ userId }) => backend.call('DELETE', `/users/${userId}/second-factors`),
  },
  'DELETE /users/{id}/sessions': {
    reason: 'ended',
    ended: ALL,
    act: ({ userId }) => backend.call('DELETE', `/users/${userId}/sessions`),
  },
  'DELETE /sessions/{id}': {
    reason: 'ended',
    ended: ['hanging', 'own'],
    act: ({ ids }) => backend.call('DELETE', `/sessions/${ids.own}`),
  },
  'DELETE /sessions/{id} of a grant': {
    reason: 'ended',
    ended: ['free'],
    act: ({ ids }) => backend.call('DELETE', `/sessions/${ids.free}`),
  },
  'DELETE /users/{id}/grants/{grant}': {
    reason: 'ended',
    ended: ['hanging'],
    act: ({ userId, ids }) => backend.call('DELETE', `/users/${userId}/grants/${ids.hanging}`),
  },
  'a connected application that its user disconnects': {
    reason: 'ended',
    ended: ['free', 'hanging', 'hangingOnOther'],
    act: ({ agent }) => agent.post('/auth/account/applications', { client_id: web.id }),
  },
  'a token that its client revokes': {
    reason: 'client',
    ended: ['free'],
    act: ({ tokens }) => sendAsClient('revoke', { token: tokens.free.refresh }),
  },
  'a refresh token that another client uses': {
    reason: 'reused',
    ended: ['free'],
    act: async ({ tokens }) => refresh(service, await madeClient(service), tokens.free.refresh),
  },
}

/** What entries say about a user, each id once, in the order of the names. */
const toldOf = ({ ids, userId }: Given, events: readonly Revocation[]) => {
  const ofUser = events.filter((event) => event.user_id === userId)
  const told = ofUser.flatMap(({ session_ids: sessionIds = [] }) => sessionIds)
  const names = Object.entries(ids).filter(([, id]) => told.includes(id))
  return {
    ended: names.map(([name]) => name).toSorted(),
    ids: told.length,
    reasons: [...new Set(ofUser.flatMap(({ reason = [] }) => reason))],
    claims: ofUser.some(({ type }) => type === 'token-claims-change'),
  }
}

describe('each path that ends sessions or grants writes their ids into the feed', () => {
  for (const [what, { reason, ended, act, claims = false }] of Object.entries(endings)) {
    test(what, async () => {
      const given = await withEverything()
      await act(given)
      const { events } = await readAll(backend, given.cursor)
      const expected = { ended, ids: ended.length, reasons: [reason], claims }
      assert.deepEqual(toldOf(given, events), expected)
      assert.deepEqual(await watched.untold(), [])
    })
  }

  test('a changed password: the others end, and a fresh session replaces that of the request', async () => {
    const given = await withEverything()
    await newPassword(given)
    const { events } = await readAll(backend, given.cursor)
    const [others, grants, replaced, ...more] = events.toSorted((one, other) =>
      String(one.reason).localeCompare(String(other.reason)) === 0
        ? one.seq - other.seq
        : String(other.reason).localeCompare(String(one.reason)),
    )
    assert.deepEqual(more, [])
    assert.deepEqual([others?.reason, grants?.reason, replaced?.reason], ['security', 'security', 'replaced'])
    const ended = [others, grants].flatMap((each) => each?.session_ids ?? [])
    const { ids } = given
    assert.deepEqual(ended.toSorted(), [ids.free, ids.hangingOnOther, ids.other].toSorted())
    assert.deepEqual(replaced?.session_ids, [ids.own])
    assert.equal(replaced?.replaced_by, sessionOf(given.agent))
  })
})

const replacedBy = async (login: (agent: UserAgent, person: Person) => Promise<unknown>) => {
  const { agent, person } = await signedUp(service)
  const { id: userId } = await currentUser(agent)
  const former = sessionOf(agent)
  const { cursor } = await readAll(backend)
  await login(agent, person)
  const { events } = await readAll(backend, cursor)
  assert.deepEqual(
    events.map(({ session_ids, user_id }) => ({ session_ids, user_id })),
    [{ session_ids: [former], user_id: userId }],
  )
  return { ...events[0], now: sessionOf(agent) }
}

describe('a session that another one replaces in its browser', () => {
  test('of the same user: the entry names the one that goes on', async () => {
    const { reason, replaced_by, now } = await replacedBy((agent, person) => logIn(agent, person))
    assert.deepEqual({ reason, replaced_by }, { reason: 'replaced', replaced_by: now })
  })

  test("by another user's sign-in: it has ended", async () => {
    const { person: another } = await signedUp(service)
    const { reason, replaced_by } = await replacedBy((agent) => logIn(agent, another))
    assert.deepEqual({ reason, replaced_by }, { reason: 'ended', replaced_by: undefined })
  })

  test('though its refresh token was used again: nothing goes on with the new one', async () => {
    const { reason, replaced_by } = await replacedBy(async (agent, person) => {
      const thief = agent.copy()
      for (let count = 0; count < 2; count += 1) assert.equal((await thief.refresh()).status, 200)
      await clock.turnTo(40_000)
      assert.equal((await logIn(agent, person)).status, 303)
      await clock.turnTo(0)
    })
    assert.deepEqual({ reason, replaced_by }, { reason: 'reused', replaced_by: undefined })
  })

  test('a refresh writes nothing', async () => {
    const { agent } = await signedUp(service)
    const { cursor } = await readAll(backend)
    assert.equal((await agent.refresh()).status, 200)
    assert.deepEqual((await readAll(backend, cursor)).events, [])
  })
})

const reasonFor = async (id: string, cursor: string): Promise<unknown> => {
  const { events } = await readAll(backend, cursor)
  const found = events.filter(({ session_ids: ids }) => ids?.includes(id))
  assert.equal(found.length, 1)
  return found[0]?.reason
}

describe('what svc ends by itself', () => {
  test('a session whose replaced refresh token comes again', async () => {
    const { agent } = await signedUp(service)
    const id = sessionOf(agent)
    const { cursor } = await readAll(backend)
    const thief = agent.copy()
    for (let count = 0; count < 2; count += 1) assert.equal((await thief.refresh()).status, 200)
    await clock.turnTo(40_000)
    assert.equal((await agent.refresh()).status, 401)
    await clock.turnTo(0)
    assert.equal(await reasonFor(id, cursor), 'reused')
  })

  test('a grant whose code comes again', async () => {
    const { agent } = await signedUp(service)
    const { cursor } = await readAll(backend)
    const code = await codeFor(agent, web.id, { scope: FREE })
    const { body } = await trade(service, web, code)
    assert.equal((await trade(service, web, code)).status, 400)
    assert.equal(await reasonFor(sidOf(String(body.access_token)), cursor), 'reused')
  })

  test('the session above the limit, with what hangs on it', async () => {
    const given = await withEverything()
    await database.rows('UPDATE sessions SET last_seen_at = 1 WHERE id = ?', given.ids.own)
    for (let count = 0; count < 99; count += 1) await loggedIn(service, given.person)
    assert.equal(await reasonFor(given.ids.own, given.cursor), 'limit')
    assert.equal(await reasonFor(given.ids.hanging, given.cursor), 'limit')
  })

  test('the grant above the limit', async () => {
    const { agent } = await signedUp(service)
    const first = await granted(service, agent, web, FREE)
    const { cursor } = await readAll(backend)
    for (let count = 0; count < 50; count += 1) await granted(service, agent, web, FREE)
    assert.equal(await reasonFor(sidOf(first.access), cursor), 'limit')
  })

  for (const args of [['disable'], ['delete', '--yes']]) {
    test(`the grants of a client: svc clients ${args.join(' ')}`, async () => {
      const client: Made = await madeClient(service, { name: 'Gone' })
      const { agent } = await signedUp(service)
      const { access } = await granted(service, agent, client, FREE)
      const { cursor } = await readAll(backend)
      const [command = '', ...options] = args
      await runCommandOf(service, ['clients', command, client.id, ...options])
      assert.equal(await reasonFor(sidOf(access), cursor), 'client')
    })
  }

  test('an import that takes its users back, of whom one has signed in', async () => {
    const operator = await openOperator(service)
    const users = await operator.userImport()
    const person = newPerson()
    const line = { email: person.email, password: person.password }
    const imported = await users.read(line, { withoutHashes: false })
    const [outcome] = await users.write([imported], { isWanted: () => false, announces: false })
    assert.ok(outcome?.kind === 'imported')
    const agent = await loggedIn(service, person)
    const { cursor } = await readAll(backend)
    await users.takeBack([outcome.id], { announces: false })
    assert.equal(await reasonFor(sessionOf(agent), cursor), 'deleted')
    assert.equal((await agent.get('/auth/api/v1/user')).status, 401)
  })

  test('svc sessions revoke --all: one entry for all, whose time no token is older than', async () => {
    const given = await withEverything()
    await runCommandOf(service, ['sessions', 'revoke', '--all', '--yes'])
    const { events } = await readAll(backend, given.cursor)
    assert.ok(events.length > 0)
    const iat = Number(decodeJwt(accessToken(given.agent)).iat)
    for (const { type, user_id, session_ids, not_before = 0 } of events) {
      assert.deepEqual(
        { type, user_id, session_ids },
        { type: 'sessions-revoked', user_id: null, session_ids: undefined },
      )
      assert.ok(not_before >= iat)
    }
    for (const table of ['sessions', 'grants']) assert.deepEqual(await database.rows(`SELECT id FROM ${table}`), [])
  })
})

describe('a change of what tokens say about a user', () => {
  const changes: Record<string, [isTold: boolean, act: (given: Given) => Promise<unknown>]> = {
    'roles by command': [true, ({ person }) => setRoles(service, person.email, ['admin'])],
    'roles by the server API': [true, ({ userId }) => backend.call('PATCH', `/users/${userId}`, { roles: ['admin'] })],
    'the same roles': [false, ({ userId }) => backend.call('PATCH', `/users/${userId}`, { roles: [] })],
    'another email': [
      true,
      ({ person }) => runCommandOf(service, ['users', 'set-email', person.email, newPerson().email]),
    ],
    'an email that is verified': [
      true,
      ({ userId }) => backend.call('PATCH', `/users/${userId}`, { email_verified: true }),
    ],
    'another username': [
      false,
      ({ agent }) => agent.post('/auth/account/username', { username: newPerson().username }),
    ],
    'an account that is enabled': [false, ({ person }) => enableUser(service, person.email)],
  }
  for (const [what, [isTold, act]] of Object.entries(changes)) {
    test(`${what}: ${isTold ? 'tokens up to the commit' : 'no'} entry`, async () => {
      const given = await withEverything()
      await act(given)
      const { events } = await readAll(backend, given.cursor)
      assert.equal(events.length, isTold ? 1 : 0)
      for (const { type, user_id, session_ids, reason, not_before = 0, at } of events) {
        assert.deepEqual(
          [type, user_id, session_ids, reason],
          ['token-claims-change', given.userId, undefined, undefined],
        )
        assert.ok(not_before >= Math.floor(Date.parse(at) / 1000))
      }
    })
  }

  test('the claim of a token that was issued before is among those that are looked at', async () => {
    const given = await withEverything()
    await setRoles(service, given.person.email, ['admin'])
    const { events } = await readAll(backend, given.cursor)
    assert.ok((events[0]?.not_before ?? 0) >= Number(decodeJwt(accessToken(given.agent)).iat))
  })
})

/** A service that cleans up once in three weeks, and the jobs that it does at least every few minutes all the same. */
const startWithRareCleanup = async (t: TestContext, time: TurnedClock) => {
  const timers = t.mock.method(globalThis, 'setInterval').mock
  const env = { ...CLIENT_SETTINGS, SVC_CLEANUP_INTERVAL: '500h' }
  const started = await startService({ env, clock: time, t })
  const often = timers.calls.filter(({ arguments: [, delayMs = 0] }) => delayMs >= 60_000 && delayMs < 150_000)
  timers.restore()
  return { started, cleanUp: () => often.forEach(({ arguments: [job] }) => job()) }
}

test('expired sessions and grants end within minutes, whatever the interval of the cleanup', async (t) => {
  const time = turnedClock()
  const { started, cleanUp } = await startWithRareCleanup(t, time)
  const reader = await createBackend(started, ['revocations:read'], ['--expires', 'never'])
  const client = await madeClient(started)
  const gone = await watchEndings(await openDatabase(started, t))
  const { agent, person } = await signedUp(started)
  const kept = await loggedIn(started, person)
  const hanging = await granted(started, agent, client, HANGING)
  const free = await granted(started, agent, client, FREE)
  const { cursor } = await readAll(reader)
  const DAY_MS = 86_400_000
  const endedAt = async (days: number, count: number) => {
    await time.turnTo(days * DAY_MS)
    // A clock that jumps ahead by more than a day is not believed at first.
    await eventually(`${count} have ended`, async () => {
      cleanUp()
      return (await gone.count()) === count
    })
    assert.deepEqual(await gone.untold(), [])
    const { events } = await readAll(reader, cursor)
    return events.flatMap(({ session_ids: ids = [], reason }) => ids.map((id) => `${reason} ${id}`)).toSorted()
  }
  await time.turnTo(10 * DAY_MS)
  assert.equal((await kept.refresh()).status, 200)
  const first = [sessionOf(agent), sidOf(hanging.access)].map((id) => `expired ${id}`)
  assert.deepEqual(await endedAt(15, 2), first.toSorted())
  const later = [sessionOf(kept), sidOf(free.access)].map((id) => `expired ${id}`)
  assert.deepEqual(await endedAt(100, 4), [...first, ...later].toSorted())
})

describe('no path can be forgotten', () => {
  const sources = readdirSync(new URL('../../../src', import.meta.url), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => [name, readFileSync(new URL(`../../../src/${name}`, import.meta.url), 'utf8')] as const)
  const filesWith = (pattern: RegExp) => sources.filter(([, text]) => pattern.test(text)).map(([name]) => name)
  const importersOf = (store: string, names: RegExp) =>
    filesWith(new RegExp(`import \\{[^}]*${names.source}[^}]*\\} from '[^']*${store}'`))

  test('rows of sessions and grants are deleted in one place each, which writes the entry', () => {
    assert.deepEqual(filesWith(/DELETE FROM (?:sessions|grants)\b/), [
      'clients/grant-ending-store.ts',
      'sessions/session-store.ts',
    ])
    assert.deepEqual(importersOf('session-store.ts', /\bdeleteSessions\b/), ['sessions/removal.ts'])
    assert.deepEqual(importersOf('grant-ending-store.ts', /\bdelete\w*Grants\w*/), ['clients/grant-endings.ts'])
  })

  test('claims of users are written in one place', () => {
    assert.deepEqual(filesWith(/UPDATE users SET[^'`]*\b(?:roles|email|email_verified_at) = /), [
      'accounts/user-store.ts',
    ])
    assert.deepEqual(importersOf('user-store.ts', /\bupdateUser\b/), ['accounts/change.ts'])
  })

  test('the database deletes no session or grant with its user, its client or its session', async () => {
    const given = await withEverything()
    for (const [sql, id] of [
      ['DELETE FROM users WHERE id = ?', given.userId],
      ['DELETE FROM clients WHERE id = ?', web.id],
      ['DELETE FROM sessions WHERE id = ?', given.ids.own],
    ] as const)
      await assert.rejects(database.rows(sql, id), /foreign key/i)
  })
})

test('a new browser that logs in ends nothing', async () => {
  const { person } = await signedUp(service)
  const { cursor } = await readAll(backend)
  assert.equal((await logIn(newAgent(service), person)).status, 303)
  assert.deepEqual((await readAll(backend, cursor)).events, [])
})
