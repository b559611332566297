// Runs on SQLite.
import assert from 'node:assert/strict'
import { randomUUIDv7 } from 'node:crypto'
import { type TestContext, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { currentUser, loggedIn, newPerson, signedUp } from '../../support/client/accounts.ts'
import {
  assertJsonError,
  assertPage,
  assertRedirect,
  assertSignedIn,
  assertSignedOut,
} from '../../support/client/assertions.ts'
import type { UserAgent } from '../../support/client/user-agent.ts'
import { turnedClock } from '../../support/clock/turned-clock.ts'
import { openDatabaseFile } from '../../support/database/database-file.ts'
import { publishedKeys } from '../../support/service/access-tokens.ts'
import { runCommandOf, setRoles } from '../../support/service/operator-commands.ts'
import { type Service, startService } from '../../support/service/service.ts'
import { eventually } from '../../support/wait.ts'

const keyIds = async (service: Service) => (await publishedKeys(service)).keys.map(({ kid }) => kid)

const COLUMNS = `salt, generation, replaced_at, created_at, last_seen_at, expires_at, absolute_expires_at, user_agent,
  address, device_hash`

/** Gives the only user of the service `count` more sessions. */
const addSessions = (service: Service, t: TestContext, count: number) => {
  const database = openDatabaseFile(service, t)
  const [{ id } = {}] = database.rows('SELECT id FROM sessions')
  for (let copy = 0; copy < count; copy++) {
    database.run(
      `INSERT INTO sessions (id, user_id, ${COLUMNS}) SELECT ?, user_id, ${COLUMNS} FROM sessions WHERE id = ?`,
      randomUUIDv7(),
      String(id),
    )
  }
  return database
}

/** Roles that take exactly `length` characters as a JSON array. */
const rolesOfLength = (length: number): string[] => {
  const roles: string[] = []
  const jsonLength = () => JSON.stringify(roles).length
  while (length - jsonLength() > 67) roles.push(`role-${String(roles.length).padStart(59, '0')}`)
  const rest = length - jsonLength() - 3
  roles.push('x'.repeat(rest > 0 ? rest : 1))
  return roles
}

/** The cookie header of the agent, with one more cookie. */
const withRepeated = (agent: UserAgent, name: string) => ({
  cookie: `svc_access=${agent.cookies.get('svc_access')}; ${name}=one; ${name}=other`,
})

describe('sessions at their limits', { concurrency: 2 }, () => {
  test('a retired key leaves jwks.json once no token of it can be valid', async (t) => {
    const clock = turnedClock()
    const service = await startService({
      t,
      clock,
      env: { SVC_ACCESS_TOKEN_TTL: '1s', SVC_CLEANUP_INTERVAL: '300ms' },
    })
    const [old] = await keyIds(service)
    await runCommandOf(service, ['keys', 'rotate'])
    assert.equal((await keyIds(service)).length, 2)
    await clock.turnTo(5 * 60_000)
    await eventually('one key is left', async () => (await keyIds(service)).length === 1)
    assert.ok(!(await keyIds(service)).includes(old), 'the new one')
  })

  test('sessions past SVC_SESSION_TTL are deleted, even if SVC_SESSION_IDLE_TTL is longer', async (t) => {
    const service = await startService({ t, env: { SVC_SESSION_TTL: '1s', SVC_CLEANUP_INTERVAL: '300ms' } })
    await signedUp(service)
    const database = openDatabaseFile(service, t)
    await eventually('no row is left', () => database.rows('SELECT id FROM sessions').length === 0)
  })

  test('the account page lists 3 of 301 sessions and says how many there are; a page of its own lists all, and all others can be ended', async (t) => {
    const service = await startService({ t })
    const { agent, person } = await signedUp(service)
    const stranger = await loggedIn(service, person)
    await runCommandOf(service, ['sessions', 'list', person.username])
    const database = addSessions(service, t, 299)
    const page = await agent.get('/auth/account')
    assertPage(page)
    const [section = ''] = /<section aria-labelledby="devices-title"[^]*?<\/section>/.exec(page.text) ?? []
    assert.equal(section.match(/<li /g)?.length, 3)
    assert.match(section, /This device/)
    assert.match(section, /<a href="\/auth\/account\/devices">Show 298 more devices<\/a>/)
    const ids = (await agent.get('/auth/account/devices')).text.match(/name="session_id" value="[^"]+"/g)
    assert.equal(new Set(ids).size, 25)
    assertRedirect(await agent.post('/auth/account/sessions', { all_others: '1' }), '/auth/account?done=sessions')
    assert.equal(database.rows('SELECT id FROM sessions').length, 1)
    await assertSignedIn(agent)
    await assertSignedOut(stranger)
  })

  test('roles too long for a cookie are refused; those that are accepted still sign in', async (t) => {
    const service = await startService({ t })
    const { person } = await signedUp(service)
    const tooMany = await service.cli(['users', 'set-roles', person.username, ...rolesOfLength(2049)])
    assert.equal(tooMany.code, 1, tooMany.stdout)
    assert.match(tooMany.stderr, /roles.*2048/)
    const roles = rolesOfLength(2000)
    assert.equal(JSON.stringify(roles).length, 2000)
    await setRoles(service, person.username, roles)
    const agent = await loggedIn(service, person)
    // RFC 6265bis, section 5.6: a browser ignores a longer cookie.
    assert.ok(`svc_access${agent.cookies.get('svc_access')}`.length < 4096)
    assert.deepEqual((await currentUser(agent)).roles, roles)
  })

  test('a signed-in user without svc_csrf gets it for the rest of their session', async (t) => {
    const service = await startService({ t, env: { SVC_SESSION_TTL: '1h' } })
    const { agent } = await signedUp(service)
    agent.cookies.delete('svc_csrf')
    const page = await agent.get('/auth/account')
    assertPage(page)
    const maxAge = Number(page.cookie('svc_csrf')?.attributes['max-age'])
    assert.ok(maxAge > 3500 && maxAge <= 3600, page.cookie('svc_csrf')?.line)
  })

  for (const name of ['svc_csrf', 'svc_refresh']) {
    test(`where ${name} arrives twice, the request counts as unauthenticated, even with a valid svc_access`, async (t) => {
      const service = await startService({ t })
      const { agent } = await signedUp(service)
      assertJsonError(await agent.get('/auth/api/v1/user', withRepeated(agent, name)), 401, 'unauthorized')
      await assertSignedIn(agent)
    })
  }

  test('after a change of the username is answered, no refresh that was in flight restores the old one', async (t) => {
    const service = await startService({ t })
    const { agent, person } = await signedUp(service)
    const devices = await Promise.all(Array.from({ length: 6 }, () => loggedIn(service, person)))
    const database = openDatabaseFile(service, t)
    for (let round = 0; round < 3; round++) {
      await Promise.all(devices.map(assertSignedIn))
      const { username } = newPerson()
      // The lock of another process makes the change wait, and after it the refreshes, which have read the old name.
      const release = database.lock()
      const change = agent.post('/auth/account/username', { username })
      await sleep(150)
      const refreshes = devices.map((device) => device.refresh())
      await sleep(150)
      release()
      assertRedirect(await change, '/auth/account?done=username')
      for (const refresh of refreshes) assert.equal((await refresh).status, 200)
      const seen = await Promise.all([agent, ...devices].map(currentUser))
      assert.deepEqual(new Set(seen.map((user) => user.username)), new Set([username]))
    }
  })
})
