// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { readConfig } from '../../src/config/config.ts'
import { type Core, createCore } from '../../src/core.ts'
import { createRootSecret } from '../../src/lib/derived-keys.ts'
import { createLog } from '../../src/lib/log.ts'
import { insertSession } from '../../src/sessions/session-store.ts'
import type { SignInGrant } from '../../src/sessions/sign-in-grant.ts'
import type { Database, RowQuery } from '../../src/storage/database.ts'
import { insertUser } from '../../src/accounts/user-store.ts'
import { newPerson } from '../support/client/accounts.ts'
import { testOnSqlite } from '../support/database/database-choice.ts'
import { freshDatabase } from './databases.ts'
import { newSession, newUser } from './rows.ts'

const { db, open } = await freshDatabase()
const config = readConfig({}, () => '')
const log = createLog('silent', { write: () => {} })
const rootSecret = createRootSecret({ current: randomBytes(32) })

const coreOn = (database: Database): Core => createCore({ config, log, db: database, rootSecret })

/** The ids of the session rows that were read from the database, in order. */
const read: string[] = []

/** The same database. Records each row that is read because no cached one could be used. */
const watched: Database = {
  ...db,
  cachedRow: <Row extends { id: string }, Kept>(query: RowQuery<Row, Kept>) =>
    db.cachedRow<Row, Kept>({
      ...query,
      mapRow: (row) => {
        read.push(row.id)
        return query.mapRow(row)
      },
    }),
}

/** The service, and another process on the same database. */
const core = coreOn(watched)
const operator = coreOn(await open())
await core.signingKeys.prepare()

const device = { userAgent: 'Firefox', address: '203.0.113.7' }

interface SignedInUser {
  id: string
  email: string
  password: string
  sessionId: string
  accessToken: string
}

const grantFor = (userId: string): SignInGrant => ({
  userId,
  authenticatedAtMs: core.clock.now(),
  amr: ['pwd'],
  isStillValid: async () => true,
})

const recogniseBrowser = async (): Promise<string> => 'hash'

const start = async (userId: string) => {
  const tokens = await core.sessions.start(grantFor(userId), { device }, { recogniseBrowser })
  return tokens ?? assert.fail('the session was not started')
}

const signedIn = async (): Promise<SignedInUser> => {
  const person = newPerson()
  const { id } = await core.users.create(person)
  const { sessionId, accessToken } = await start(id)
  return { id, ...person, sessionId, accessToken }
}

const currentUser = async ({ accessToken }: { accessToken: string }) => {
  const found = await core.sessions.authenticate(accessToken)
  return found && (JSON.parse(found.userJson) as { username: string; roles: string[] })
}

type Found = Awaited<ReturnType<typeof currentUser>>

/** Makes a change, and resolves to the user that the next request finds; undefined if it finds none. */
type Change = (by: Core, user: SignedInUser) => Promise<Partial<NonNullable<Found>> | undefined>

const ended = async (change: Promise<unknown>): Promise<undefined> => void (await change)

const CHANGES: Record<string, Change> = {
  'a change of the username': async ({ users }, { id, sessionId }) => {
    const { username } = newPerson()
    await users.changeUsername(id, username, sessionId)
    return { username }
  },
  'other roles': async ({ users }, { id }) => {
    await users.change(id, { roles: ['admin'] })
    return { roles: ['admin'] }
  },
  disabling: ({ users }, { id }) => ended(users.change(id, { disabled: true })),
  deletion: ({ users }, { id }) => ended(users.delete(id)),
  'a password that the operator sets': ({ users }, { id }) => ended(users.setPassword(id, newPerson().password)),
  'the end of all sessions': ({ sessions }, { id }) => ended(sessions.endAll(id)),
}

const HERE_AND_ELSEWHERE = { 'this process': core, 'another process': operator }

describe('changes of a user', () => {
  for (const [title, change] of Object.entries(CHANGES)) {
    for (const [where, by] of Object.entries(HERE_AND_ELSEWHERE)) {
      test(`${title}, by ${where}: the next request of every session of the user sees it`, async () => {
        const [user, bystander] = [await signedIn(), await signedIn()]
        const devices = [user, await start(user.id)]
        for (const each of [...devices, bystander]) assert.ok(await currentUser(each))
        const expected = await change(by, user)
        // The request of a real process comes in a later turn of the event loop, which the cache looks once in.
        await setImmediate()
        for (const each of devices) {
          const found = await currentUser(each)
          assert.deepEqual(found && { ...found, ...expected }, expected && found, 'as it is now')
          assert.equal(found === undefined, expected === undefined)
        }
        assert.ok(await currentUser(bystander))
      })
    }

    testOnSqlite(`${title}: the cached sessions of other users stay`, async () => {
      const [user, bystander] = [await signedIn(), await signedIn()]
      for (const each of [user, bystander]) assert.ok(await currentUser(each))
      read.length = 0
      await change(core, user)
      for (const each of [user, bystander]) await currentUser(each)
      assert.ok(!read.includes(bystander.sessionId), 'the row of the other user is read again')
    })
  }

  test('the end of every session of every user: 2,100 of them, by this process and by another', async (t) => {
    const { db, open } = await freshDatabase(t)
    const [own, other] = [coreOn(db), coreOn(await open())]
    await own.signingKeys.prepare()
    await other.signingKeys.prepare()
    const user = newUser()
    await insertUser(db, user)
    for (const by of [own, other]) {
      await db.inTransaction(async (transaction) => {
        for (let count = 0; count < 2100; count += 1) await insertSession(transaction, newSession(user.id))
      })
      const { id } = await own.users.create(newPerson())
      const tokens = await own.sessions.start(grantFor(id), { device }, { recogniseBrowser })
      assert.ok(await own.sessions.authenticate(tokens?.accessToken ?? ''))
      assert.equal(await by.sessions.endEverySession(), 2101)
      assert.equal(await own.sessions.authenticate(tokens?.accessToken ?? ''), undefined)
      assert.deepEqual(await db.all('SELECT id FROM sessions'), [])
    }
  })

  test('a user who changes the password ends every other session at once and keeps this one', async () => {
    const user = await signedIn()
    const other = await start(user.id)
    for (const each of [user, other]) assert.ok(await currentUser(each))
    const next = newPerson().password
    const change = { current: user.password, next, sessionId: user.sessionId }
    const password = await core.users.changeOrSetPassword(user.id, change)
    assert.ok(password.outcome === 'checked')
    await db.inTransaction(password.apply)
    assert.equal(await currentUser(other), undefined)
    assert.ok(await currentUser(user))
  })
})
