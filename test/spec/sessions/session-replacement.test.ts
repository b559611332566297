// Runs on SQLite.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { logIn, logOut, newPerson, type Person, signedUp, signUp } from '../../support/client/accounts.ts'
import { assertJsonError, assertSignedIn, assertSignedOut } from '../../support/client/assertions.ts'
import type { Answer, UserAgent } from '../../support/client/user-agent.ts'
import { turnedClock } from '../../support/clock/turned-clock.ts'
import { openDatabase } from '../../support/database/database.ts'
import { startService } from '../../support/service/service.ts'

const GRACE_MS = 30_000
const clock = turnedClock()
const service = await startService({ clock })
const database = await openDatabase(service)

let aheadMs = 0
const pass = (ms: number) => {
  aheadMs += ms
  return clock.turnTo(aheadMs)
}

const remembered = async () => (await database.rows('SELECT id FROM replaced_sessions')).length

const assertUsable = async (agent: UserAgent) => {
  await assertSignedIn(agent)
  assert.equal((await agent.refresh()).status, 200)
}

/** Checks for 401 without a change of cookies. */
const assertLeavesCookies = (answer: Answer) => {
  assertJsonError(answer, 401, 'unauthorized')
  assert.deepEqual(answer.setCookies, [])
}

const assertClears = (answer: Answer) => {
  assertJsonError(answer, 401, 'unauthorized')
  assert.deepEqual(answer.cleared, ['svc_access', 'svc_refresh', 'svc_session', 'svc_fresh'])
}

type Entry = (agent: UserAgent, person: Person) => Promise<Answer>

const confirm: Entry = (agent, { password }) => agent.post('/auth/account/confirm', { password })

const entries: Record<string, Entry> = {
  login: logIn,
  'login as another user': async (agent) => logIn(agent, (await signedUp(service)).person),
  signup: (agent) => signUp(agent, newPerson()),
  confirmation: confirm,
  'change of the password': (agent, { password }) =>
    agent.post('/auth/account/password', { current_password: password, new_password: newPerson().password }),
}

/**
 * An agent with a session, and a copy with the cookies from before the session was replaced, as in a pending request.
 */
const replaced = async (enter: Entry = logIn): Promise<{ agent: UserAgent; late: UserAgent; person: Person }> => {
  const { agent, person } = await signedUp(service)
  const late = agent.copy()
  const answer = await enter(agent, person)
  assert.equal(answer.status, 303, answer.text)
  assert.notEqual(agent.cookies.get('svc_refresh'), late.cookies.get('svc_refresh'))
  return { agent, late, person }
}

/** Some of the requests come before a login that begins now, and some after it. */
const refreshSoon = async (tab: UserAgent): Promise<Answer> => {
  await sleep(Math.random() * 40)
  return tab.refresh()
}

describe('§3.2 the loser of a race never clears or overwrites the winner’s cookies', () => {
  for (const [name, enter] of Object.entries(entries)) {
    test(`a refresh with the cookies that a ${name} in another tab has just replaced`, async () => {
      const { agent, late } = await replaced(enter)
      const answer = await late.refresh()
      assertLeavesCookies(answer)
      agent.cookies.keep(answer.setCookies)
      await assertUsable(agent)
    })
  }

  for (const path of ['/auth/login?return_to=%2Fx', '/auth/signup', '/auth/account', '/auth/logout']) {
    test(`a request of ${path} with those cookies and an expired access token`, async () => {
      const { agent, late } = await replaced()
      late.cookies.delete('svc_access')
      const answer = await late.get(path)
      assert.ok(answer.status === 200 || answer.location === '/auth/login?return_to=%2Fauth%2Faccount', answer.text)
      assert.deepEqual(answer.setCookies, [])
      await assertUsable(agent)
    })
  }

  test('a refresh with cookies that were replaced twice, by a login and a re-authentication', async () => {
    const { agent, late, person } = await replaced()
    assert.equal((await confirm(agent, person)).status, 303)
    assertLeavesCookies(await late.refresh())
    await assertUsable(agent)
  })

  test('a refresh with a token that had been rotated before the login', async () => {
    const { agent, person } = await signedUp(service)
    const late = agent.copy()
    assert.equal((await agent.refresh()).status, 200)
    assert.equal((await logIn(agent, person)).status, 303)
    assertLeavesCookies(await late.refresh())
  })

  test('20 rounds of a login and three refreshes at once: none clears a cookie, and the cookies of the login are valid', async () => {
    const { agent, person } = await signedUp(service)
    for (let round = 0; round < 20; round++) {
      const tabs = Array.from({ length: 3 }, () => agent.copy())
      const [entered, ...refreshed] = await Promise.all([logIn(agent, person), ...tabs.map(refreshSoon)])
      assert.equal(entered.status, 303, entered.text)
      for (const answer of refreshed) {
        assert.deepEqual(answer.cleared, [], `round ${round}`)
        assert.ok(answer.status === 200 || answer.setCookies.length === 0, answer.text)
      }
      await assertUsable(agent)
    }
  })

  test('two logins of one browser at once: both succeed, with a session each', async () => {
    for (let round = 0; round < 10; round++) {
      const { agent, person } = await signedUp(service)
      const tabs = [agent.copy(), agent.copy(), agent.copy()]
      for (const answer of await Promise.all(tabs.map((tab) => logIn(tab, person)))) assert.equal(answer.status, 303)
      for (const tab of tabs) await assertUsable(tab)
      assertLeavesCookies(await agent.refresh())
    }
  })
})

/** The owner, and a copy of their cookies from before two rotations. */
const stolen = async () => {
  const { agent, person } = await signedUp(service)
  const thief = agent.copy()
  thief.cookies.delete('svc_access')
  assert.equal((await agent.refresh()).status, 200)
  await pass(GRACE_MS + 5000)
  assert.equal((await agent.refresh()).status, 200)
  return { agent, thief, person }
}

const recordedOf = async (email: string) => {
  const rows = await database.rows(
    'SELECT type FROM audit_events WHERE user_id = (SELECT id FROM users WHERE email = ?) ORDER BY id',
    email,
  )
  return rows.map(({ type }) => String(type))
}

const knownBrowsersOf = async (email: string) =>
  (await database.rows('SELECT id FROM known_browsers WHERE user_id = (SELECT id FROM users WHERE email = ?)', email))
    .length

describe('a refresh token that was replaced, past its grace', () => {
  test('does not show a login that its browser is that of the session: it ends the session, which is recorded', async () => {
    const { agent, thief, person } = await stolen()
    thief.cookies.delete('svc_device')
    const known = await knownBrowsersOf(person.email)
    assert.equal((await logIn(thief, person)).status, 303)
    assert.equal(await knownBrowsersOf(person.email), known + 1, 'it is a browser of its own')
    await assertSignedOut(agent)
    assert.deepEqual(await recordedOf(person.email), [
      'signup',
      'login.succeeded',
      'login.succeeded',
      'session.refreshed_reuse',
    ])
    await assertUsable(thief)
  })

  test('shows none of the account where a login is another user’s, and is recorded with its owner', async () => {
    const { agent, thief, person } = await stolen()
    assert.equal((await logIn(thief, (await signedUp(service)).person)).status, 303)
    await assertSignedOut(agent)
    assert.deepEqual(await recordedOf(person.email), ['signup', 'login.succeeded', 'session.refreshed_reuse'])
  })

  test('still logs out', async () => {
    const { agent, thief, person } = await stolen()
    assert.equal((await logOut(thief)).status, 303)
    await assertSignedOut(agent)
    assert.deepEqual(await recordedOf(person.email), ['signup', 'login.succeeded', 'logout'])
  })
})

describe('§3.2 the cookies of a session that has ended are cleared', () => {
  test('after the grace period', async () => {
    const { agent, late } = await replaced()
    await pass(GRACE_MS - 5000)
    assertLeavesCookies(await late.refresh())
    await pass(10_000)
    assertClears(await late.copy().refresh())
    late.cookies.delete('svc_access')
    assert.deepEqual((await late.get('/auth/login')).cleared, ['svc_access', 'svc_refresh', 'svc_session', 'svc_fresh'])
    await assertUsable(agent)
  })

  test('when the session that replaced it has ended too', async () => {
    const { agent, late } = await replaced()
    await logOut(agent)
    assertClears(await late.refresh())
  })

  test('when the user of the session that replaced it was disabled', async () => {
    const { late, person } = await replaced()
    assert.equal((await service.cli(['users', 'disable', person.email])).code, 0)
    assertClears(await late.refresh())
  })

  test('when the refresh token is not genuine', async () => {
    const { agent, late } = await replaced()
    const token = late.cookies.get('svc_refresh') ?? ''
    const [id, generation, proof = ''] = token.split('.')
    const forgeries = [
      `${id}.${generation}.${proof.startsWith('A') ? 'B' : 'A'}${proof.slice(1)}`,
      `${id}.${Number(generation) + 1}.${proof}`,
      `${id}.${generation}.${agent.cookies.get('svc_refresh')?.split('.')[2]}`,
    ]
    for (const forged of forgeries) {
      const forger = late.copy()
      forger.cookies.delete('svc_refresh')
      forger.cookies.set('svc_refresh', forged)
      assertClears(await forger.refresh())
    }
    await assertUsable(agent)
  })

  test('when it ended with a logout before a user logged in', async () => {
    const { agent, person } = await signedUp(service)
    const late = agent.copy()
    await logOut(agent)
    assert.equal((await logIn(agent, person)).status, 303)
    assertClears(await late.refresh())
  })
})

test('§3.2 the replaced cookies are not valid: not for the page, not for the API, and not for a login that replaces a session', async () => {
  const { agent, late, person } = await replaced()
  assertJsonError(await late.get('/auth/api/v1/user'), 401, 'unauthorized')
  assert.equal((await late.get('/auth/account')).status, 303)
  assert.equal((await logIn(late, person)).status, 303)
  await assertUsable(agent)
  await assertUsable(late)
})

test('§3.2 a logout with the cookies that were just replaced ends the session that replaced them: the user wants to log out', async () => {
  const { agent, late, person } = await replaced()
  assert.equal((await confirm(agent, person)).status, 303)
  const answer = await logOut(late)
  assert.equal(answer.status, 303)
  assert.deepEqual(answer.cleared, ['svc_access', 'svc_refresh', 'svc_session', 'svc_fresh'])
  await assertSignedOut(agent)
})

test('§3.2 a logout with them after the grace period ends no session', async () => {
  const { agent, late } = await replaced()
  await pass(GRACE_MS + 1000)
  assert.equal((await logOut(late)).status, 303)
  await assertUsable(agent)
})

test('§3.2 the record of replaced sessions is deleted with the session that replaced them, and with the user', async () => {
  const before = await remembered()
  const [first, second] = [await replaced(), await replaced()]
  assert.equal(await remembered(), before + 2)
  await logOut(first.agent)
  assert.equal(await remembered(), before + 1)
  assert.equal((await service.cli(['users', 'delete', second.person.email, '--yes'])).code, 0)
  assert.equal(await remembered(), before)
})
