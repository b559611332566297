// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { randomUUIDv7 } from 'node:crypto'
import { describe, test } from 'node:test'
import type { Core } from '../../../src/core.ts'
import { currentUser, loggedIn, logIn, type Person, signedUp } from '../../support/client/accounts.ts'
import { assertSignedIn, assertSignedOut } from '../../support/client/assertions.ts'
import type { UserAgent } from '../../support/client/user-agent.ts'
import { openDatabase } from '../../support/database/database.ts'
import { at, openOperator, startReplicas } from '../../support/service/replicas.ts'
import { loggedLine } from '../../support/service/request-log.ts'

const MOST = 100
const [service, other] = await startReplicas()
const database = await openDatabase(service)

type Account = { userId: string; agent: UserAgent; person: Person }

const newAccount = async (): Promise<Account> => {
  const { agent, person } = await signedUp(service)
  return { userId: (await currentUser(agent)).id, agent, person }
}

/** Ids of the live sessions of a user. */
const liveSessions = async (userId: string): Promise<string[]> => {
  const rows = await database.rows('SELECT id FROM sessions WHERE user_id = ? AND expires_at > ?', userId, Date.now())
  return rows.map(({ id }) => String(id))
}

const sessionOf = (agent: UserAgent): string => agent.cookies.get('svc_refresh')?.split('.')[0] ?? ''

/** The last use, in seconds after a time long ago. */
const see = (id: string, seconds: number) =>
  database.rows('UPDATE sessions SET last_seen_at = ? WHERE id = ?', 1_700_000_000_000 + seconds * 1000, id)

/** Copies of the only session of a user, used now; expired ones ended a second ago. */
const addSessions = async ({ userId }: Account, count: number, expired = false): Promise<void> => {
  const [former = ''] = await liveSessions(userId)
  for (let copy = 0; copy < count; copy++)
    await database.rows(
      `INSERT INTO sessions (id, user_id, salt, generation, replaced_at, created_at, last_seen_at, expires_at,
         absolute_expires_at, user_agent, address, device_hash)
       SELECT ?, user_id, salt, generation, replaced_at, created_at, last_seen_at, expires_at - ?,
         absolute_expires_at, user_agent, address, device_hash FROM sessions WHERE id = ?`,
      randomUUIDv7(),
      expired ? 14 * 86_400_000 + 1000 : 0,
      former,
    )
}

describe('at most 100 sessions a user', () => {
  test('when another one begins, the least recently used ends, at once and everywhere, and the others stay', async () => {
    const account = await newAccount()
    await addSessions(account, MOST - 3)
    const { agent: eldest, person } = account
    const [second, third] = [await loggedIn(service, person), await loggedIn(other, person)]
    await see(sessionOf(eldest), 1)
    await see(sessionOf(second), 3)
    await see(sessionOf(third), 2)
    for (const agent of [eldest, second, third]) await assertSignedIn(at(other, agent))
    assert.equal((await liveSessions(account.userId)).length, MOST)

    // It is the oldest, but was used just now.
    assert.equal((await eldest.refresh()).status, 200)
    const latest = await loggedIn(service, person)
    await assertSignedOut(at(other, third))
    await assertSignedOut(at(service, third))
    for (const agent of [eldest, second, latest]) await assertSignedIn(agent)
    assert.equal((await liveSessions(account.userId)).length, MOST)
    await loggedLine(
      service,
      ({ message, user_id: userId, sessions }) =>
        /session limit reached/.test(message) && userId === account.userId && sessions === 1,
    )
  })

  test('with fewer, none ends; expired sessions and those of other users do not count', async () => {
    const [account, neighbour] = [await newAccount(), await newAccount()]
    await addSessions(account, 2 * MOST, true)
    await addSessions(neighbour, MOST - 1)
    await addSessions(account, MOST - 2)
    await see(sessionOf(account.agent), 1)
    await loggedIn(service, account.person)
    await assertSignedIn(account.agent)
    assert.equal((await liveSessions(account.userId)).length, MOST)
    assert.equal((await liveSessions(neighbour.userId)).length, MOST)
    await assertSignedIn(neighbour.agent)
  })

  test('the previous session of the same browser does not count: logging in again ends no other', async () => {
    const account = await newAccount()
    await addSessions(account, MOST - 2)
    const device = await loggedIn(service, account.person)
    await see(sessionOf(device), 1)
    assert.equal((await logIn(account.agent, account.person)).status, 303)
    await assertSignedIn(device)
    assert.equal((await liveSessions(account.userId)).length, MOST)
  })

  test('a user with many more, from before the limit, has 100 after the next login', async () => {
    const account = await newAccount()
    await addSessions(account, 3 * MOST)
    await see(sessionOf(account.agent), 1)
    const latest = await loggedIn(service, account.person)
    assert.equal((await liveSessions(account.userId)).length, MOST)
    await assertSignedOut(account.agent)
    await assertSignedIn(latest)
  })

  test('80 that begin at once in two processes leave 100, among them all of the 80', async () => {
    const account = await newAccount()
    await addSessions(account, MOST - 4)
    for (const id of await liveSessions(account.userId)) await see(id, 1)
    const device = { userAgent: 'Firefox', address: '127.0.0.1' }
    const grant = { userId: account.userId, authenticatedAtMs: undefined, amr: [], isStillValid: async () => true }
    const begin = async ({ sessions }: Core) => {
      const begun = await sessions.start(grant, { device }, { recogniseBrowser: async () => 'hash' })
      return begun?.sessionId ?? assert.fail()
    }
    const processes = [await openOperator(service), await openOperator(other)]
    for (const { signingKeys } of processes) await signingKeys.prepare()
    const begun = await Promise.all(Array.from({ length: 40 }, () => processes.map(begin)).flat())
    const live = await liveSessions(account.userId)
    assert.equal(live.length, MOST)
    for (const id of begun) assert.ok(live.includes(id))
  })
})
