// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Session } from '../../src/sessions/session.ts'
import { deleteSessions, findSession, insertSession, updateRotatedSession } from '../../src/sessions/session-store.ts'
import type { Database } from '../../src/storage/database.ts'
import { insertUser } from '../../src/accounts/user-store.ts'
import { freshDatabase, testOnPostgres } from './databases.ts'
import { NO_DEADLINE, newSession, newUser, T0 } from './rows.ts'

const { db, open } = await freshDatabase()
const other = await open()

const added = async (count: number): Promise<Session[]> => {
  const user = newUser()
  await insertUser(db, user)
  const sessions = Array.from({ length: count }, () => newSession(user.id))
  for (const session of sessions) await insertSession(db, session)
  return sessions
}

const rotated = (session: Session, given: Partial<Session> = {}): Session => ({
  ...session,
  generation: session.generation + 1,
  ...given,
})

/** Rotates all in one turn of the event loop; resolves to the number of changed rows of each. */
const rotateAtOnce = (queries: Database, sessions: Session[]): Promise<number[]> =>
  Promise.all(
    sessions.map((session) =>
      updateRotatedSession(
        queries.autocommit(() => {}),
        session,
        NO_DEADLINE,
      ),
    ),
  )

const stored = async ({ id }: Session): Promise<Session> => {
  const { user: _, newestKeyId: __, readAtMs: ___, ...session } = (await findSession(db, id)) ?? assert.fail()
  return session
}

const TEXTS = [
  '',
  ' ',
  'NULL',
  'null',
  '{}',
  '{a,"b"}',
  ',',
  '"',
  '\\',
  '\\"',
  "'; --",
  'é😀',
  '\t\r\n\v',
  '?',
  '$1',
  '?::TEXT[]',
]

describe('many updates in one turn of the event loop', () => {
  test('each writes its own values, into its own row', async () => {
    const before = await added(500)
    const after = before.map((session, index) =>
      rotated(session, {
        userAgent: TEXTS[index % TEXTS.length] ?? randomBytes(300).toString('latin1'),
        address: TEXTS[index % 7] ?? '',
        lastSeenAtMs: T0 + index,
        expiresAtMs: T0 * 2 - index,
        replacedAtMs: Array.from({ length: index % 17 }, (_, at) => T0 + at),
      }),
    )
    assert.deepEqual(
      await rotateAtOnce(db, after),
      after.map(() => 1),
    )
    assert.deepEqual(await Promise.all(after.map(stored)), after)
  })

  test('each says whether it has changed its row: some rows are gone, some have changed', async () => {
    const sessions = await added(90)
    for (const [index, session] of sessions.entries()) {
      if (index % 3 === 1) await deleteSessions(other, { ids: [session.id] })
      if (index % 3 === 2) await updateRotatedSession(other, rotated(session), NO_DEADLINE)
    }
    const mine = sessions.map((session) => rotated(session, { userAgent: 'mine' }))
    assert.deepEqual(
      await rotateAtOnce(db, mine),
      mine.map((_, index) => (index % 3 === 0 ? 1 : 0)),
    )
    for (const [index, session] of mine.entries()) {
      if (index % 3 !== 1) assert.equal((await stored(session)).userAgent, index % 3 === 0 ? 'mine' : 'Firefox')
    }
  })

  test('of one row from the same state: one of them changes it', async () => {
    const sessions = await added(20)
    for (let round = 1; round < 5; round++) {
      const attempts = sessions.flatMap((session) =>
        ['a', 'b', 'c'].map((userAgent) => ({ ...session, generation: round + 1, userAgent })),
      )
      const changes = await rotateAtOnce(db, attempts)
      for (const [index, session] of sessions.entries()) {
        const mine = changes.slice(index * 3, index * 3 + 3)
        assert.deepEqual(mine.filter(Boolean), [1])
        assert.equal((await stored(session)).userAgent, ['a', 'b', 'c'][mine.indexOf(1)])
      }
    }
  })

  test('two processes at once, in opposite orders: one of them changes each row, and neither fails', async () => {
    const sessions = await added(100)
    for (let round = 1; round <= 20; round++) {
      const next = sessions.map((session) => ({ ...session, generation: round + 1 }))
      const [ours, theirs] = await Promise.all([rotateAtOnce(db, next), rotateAtOnce(other, next.toReversed())])
      assert.deepEqual(
        ours.map((changes, index) => changes + (theirs.at(-1 - index) ?? 0)),
        next.map(() => 1),
      )
    }
  })

  test('each calls its own hook, with the number of rows that it changed', async () => {
    const [here, gone] = [await added(10), [newSession('nobody'), newSession('nobody')]]
    const hooks = new Map<string, number>()
    await Promise.all(
      [...here, ...gone].map((session) =>
        updateRotatedSession(
          db.autocommit((changes) => hooks.set(session.id, changes)),
          rotated(session),
          NO_DEADLINE,
        ),
      ),
    )
    assert.deepEqual(new Set(here.map(({ id }) => hooks.get(id))), new Set([1]))
    assert.deepEqual(
      gone.map(({ id }) => hooks.get(id)),
      [0, 0],
    )
  })

  testOnPostgres('one that the database refuses fails alone', async () => {
    const sessions = (await added(10)).map((session) => rotated(session))
    sessions[4] = { ...rotated(newSession('nobody')), userAgent: 'NUL \0' }
    const results = await Promise.allSettled(
      sessions.map((session) =>
        updateRotatedSession(
          db.autocommit(() => {}),
          session,
          NO_DEADLINE,
        ),
      ),
    )
    for (const [index, result] of results.entries()) {
      if (index === 4) assert.match(result.status === 'rejected' ? String(result.reason) : '', /NUL/)
      else assert.deepEqual(result, { status: 'fulfilled', value: 1 })
    }
  })

  testOnPostgres('a row that another transaction holds keeps only its own update waiting', async () => {
    const sessions = await added(10)
    const [held = assert.fail(), ...free] = sessions.map((session) => rotated(session))
    const isHeld = Promise.withResolvers<void>()
    const release = Promise.withResolvers<void>()
    const holder = other.inTransaction(async (transaction) => {
      await transaction.get('SELECT id FROM sessions WHERE id = ? FOR UPDATE', held.id)
      isHeld.resolve()
      await release.promise
    })
    await isHeld.promise
    const ofHeld = [rotateAtOnce(db, [held])]
    for (let round = 0; round < 5; round++) {
      const again = rotateAtOnce(db, [held, ...free.map((session) => rotated(session, { generation: round + 2 }))])
      ofHeld.push(again)
      const done = await Promise.race([
        Promise.all(
          free.map(async (session) => {
            while ((await stored(session)).generation < round + 2) await sleep(5)
          }),
        ),
        sleep(15_000, undefined, { ref: false }),
      ])
      assert.ok(done, 'the others are not kept waiting')
    }
    release.resolve()
    await holder
    const changes = (await Promise.all(ofHeld)).map(([ofFirst]) => ofFirst)
    assert.deepEqual(changes.filter(Boolean), [1])
  })
})
