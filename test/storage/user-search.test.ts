// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import fc from 'fast-check'
import { createUserIndex } from '../../src/accounts/directory/user-index.ts'
import { eachUserId, listUserIds, type PageRequest } from '../../src/accounts/directory/user-list.ts'
import { assignPositions, findPlaces } from '../../src/accounts/user-list-store.ts'
import {
  beginIndex,
  findIndexedUpTo,
  findTextIndex,
  indexUsers,
  mergeIndex,
} from '../../src/accounts/user-search-store.ts'
import { deleteUser, insertUser, toSearchedForm, updateUser, type UserRecord } from '../../src/accounts/user-store.ts'
import { updateFirstSession } from '../../src/sessions/user-sessions-store.ts'
import type { AppError } from '../../src/lib/errors.ts'
import type { Database } from '../../src/storage/database.ts'
import { freshDatabase, testOnPostgres } from './databases.ts'
import { newUser, T0 } from './rows.ts'

/** PostgreSQL takes the index of a few rows only where it may not read all of them. */
const searched = async (t: TestContext): Promise<Database> => {
  const { db, open } = await freshDatabase(t)
  if (db.dialect === 'sqlite') return db
  await db.run('CREATE EXTENSION pg_trgm')
  await createUserIndex({ db }).make({ rebuild: false })
  return open({ session: { enable_seqscan: 'off' } })
}

/** All pages of a list, which begins its steps with one user, so that it comes to the index. */
const readAll = async (db: Database, query: Omit<PageRequest, 'cursor'>, cursor?: string): Promise<string[]> => {
  const pace = { firstStep: 1, longestMs: 600_000 }
  const { ids, nextCursor } = await listUserIds(db, { ...query, cursor }, pace)
  return nextCursor === undefined ? ids : [...ids, ...(await readAll(db, query, nextCursor))]
}

const isFound = (user: UserRecord, { search, role, disabled, unverified, createdSinceMs }: PageRequest): boolean => {
  const texts = [user.emailLower, user.username, ...(user.name === null ? [] : [toSearchedForm(user.name)])]
  return (
    (search === undefined || texts.some((text) => text.includes(toSearchedForm(search)))) &&
    (role === undefined || user.roles.includes(role)) &&
    (disabled === undefined || user.disabled === disabled) &&
    (!unverified || user.emailVerifiedAtMs === undefined) &&
    (createdSinceMs === undefined || user.createdAtMs >= createdSinceMs)
  )
}

/** Few letters, so that texts have parts in common, and all that could mean something to a database or its index. */
const LETTERS = [...`aAbqxßẞİıiéÉ%_\\"'*-^:().@ \n`, 'e\u0301', '😀', '名', 'Σ', 'ς', 'OR', 'NEAR', 'μ', 'µ']
const text = (minLength: number, maxLength: number) =>
  fc.string({ unit: fc.constantFrom(...LETTERS), minLength, maxLength })
const plain = (minLength: number, maxLength: number) =>
  fc.string({ unit: fc.constantFrom(...'abjz_-'), minLength, maxLength })
const roles = fc.uniqueArray(fc.constantFrom('ab', 'a_b', 'admin', 'administrator'), { maxLength: 2 })

const change = fc.record({ name: fc.option(text(1, 8)), prefix: plain(0, 6), roles })
type Change = { name: string | null; prefix: string; roles: string[] }
const step = fc.oneof(
  fc.record({ kind: fc.constant('add' as const), change, disabled: fc.boolean(), verified: fc.boolean() }),
  fc.record({ kind: fc.constant('add' as const), change, disabled: fc.boolean(), verified: fc.boolean() }),
  fc.record({ kind: fc.constant('change' as const), change, whom: fc.nat() }),
  fc.record({ kind: fc.constant('delete' as const), whom: fc.nat() }),
  fc.record({ kind: fc.constant('place' as const), limit: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ kind: fc.constant('index' as const), limit: fc.integer({ min: 1, max: 4 }) }),
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

const query = fc.record(
  {
    search: fc.oneof(text(1, 5), plain(1, 5)),
    role: fc.constantFrom('ab', 'admin', 'min'),
    disabled: fc.boolean(),
    unverified: fc.constant(true as const),
    createdSinceMs: fc.constantFrom(T0, T0 + 3),
    newestFirst: fc.constant(true as const),
    limit: fc.integer({ min: 1, max: 4 }),
  },
  { requiredKeys: ['limit'] },
)

/** Does the steps; the model is the users in the database. */
const run = async (db: Database, steps: Step[]): Promise<UserRecord[]> => {
  const users: UserRecord[] = []
  for (const [at, each] of steps.entries()) {
    if (each.kind === 'place') await assignPositions(db, each.limit)
    else if (each.kind === 'index') {
      if (db.dialect === 'sqlite') await indexSome(db, each.limit)
    } else if (each.kind === 'add') {
      const emailVerifiedAtMs = each.verified ? T0 : undefined
      const user = changed(newUser({ createdAtMs: T0 + at, disabled: each.disabled, emailVerifiedAtMs }), each.change)
      users.push(user)
      await insertUser(db, user)
    } else if (users.length > 0) {
      const index = each.whom % users.length
      const [before = newUser()] = users.splice(index, 1)
      if (each.kind === 'delete') await deleteUser(db, before.id)
      else {
        const after = changed(before, each.change)
        users.splice(index, 0, after)
        await updateUser(db, before, after, T0)
      }
    }
  }
  return users
}

const changed = (user: UserRecord, { name, prefix, roles: given }: Change): UserRecord => {
  const username = `${prefix}${user.id.slice(-8)}`
  const email = `${prefix}.${user.id.slice(-8)}@b.ab`
  return { ...user, name, username, email, emailLower: email, roles: given }
}

const indexSome = async (db: Database, limit: number): Promise<void> => {
  await beginIndex(db)
  await indexUsers(db, limit)
  await mergeIndex(db, 1)
}

/** Adds many users by one statement; few of them are disabled, without an address of theirs, or were never seen. */
const addMany = (db: Database, count: number, from = 0): Promise<number> =>
  db.run(
    `WITH RECURSIVE numbers (n) AS (SELECT ${from + 1} UNION ALL SELECT n + 1 FROM numbers WHERE n < ${from + count})
     INSERT INTO users (id, email, email_lower, username, roles, disabled, created_at, updated_at, self_made,
       email_verified_at, first_session_at)
     SELECT CAST(n AS TEXT), 'u' || n, 'u' || n, 'u' || n, '[]', CASE WHEN n % 100 = 0 THEN 1 ELSE 0 END, ${T0} + n,
       ${T0} + n, 0, CASE WHEN n % 100 = 1 THEN NULL ELSE 1 END, CASE WHEN n % 100 = 2 THEN NULL ELSE 1 END FROM numbers`,
  )

const watchedReads =
  (db: Pick<Database, 'all'>, statements: string[]): Database['all'] =>
  (sql, ...values) => {
    statements.push(sql)
    return db.all(sql, ...values)
  }

const watchedTransactions =
  (db: Database, statements: string[]): Database['inTransaction'] =>
  (work) =>
    db.inTransaction((transaction) => work({ ...transaction, all: watchedReads(transaction, statements) }))

describe('a search by a part of a text', () => {
  test('finds those whom a look at every user finds, with any index, after any changes', async (t) => {
    const db = await searched(t)
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 5, maxLength: 25 }),
        fc.array(query, { minLength: 8, maxLength: 8 }),
        async (steps, queries) => {
          await db.run('DELETE FROM users')
          const users = await run(db, steps)
          // The order is that of their positions, which the first list gives to all.
          const order = await readAll(db, { limit: 100 })
          assert.deepEqual([...order].sort(), users.map(({ id }) => id).sort())
          for (const each of queries) {
            const expected = order.filter((id) => users.some((user) => user.id === id && isFound(user, each)))
            const found = await readAll(db, each)
            assert.deepEqual(found, each.newestFirst ? expected.toReversed() : expected, JSON.stringify(each))
          }
          if (db.dialect === 'sqlite') await db.run(`INSERT INTO user_search (user_search) VALUES ('integrity-check')`)
        },
      ),
      { numRuns: db.dialect === 'sqlite' ? 60 : 20 },
    )
  })

  test('reads the rows of users that the index has not, and no others', async (t) => {
    const db = await searched(t)
    for (let round = 0; round < 40; round += 1) await insertUser(db, newUser({ name: `Ada ${round}` }))
    const query = { search: 'ada 1', limit: 100 }
    assert.equal((await readAll(db, query)).length, 11)
    if (db.dialect === 'sqlite') await indexSome(db, 30)
    for (const newestFirst of [undefined, true] as const) {
      const statements: string[] = []
      const watched = { ...db, inTransaction: watchedTransactions(db, statements), all: watchedReads(db, statements) }
      assert.equal((await readAll(watched, { ...query, newestFirst })).length, 11)
      const [byIndex, byRows] = [/user_search MATCH|chr\(10\)/, /FROM users WHERE position/].map(
        (pattern) => statements.filter((sql) => pattern.test(sql)).length,
      )
      assert.ok(byIndex && byRows, statements.join('\n'))
    }
  })

  test('finds a long text by some of its parts, and none that differs in the others', async (t) => {
    const db = await searched(t)
    const emails = Array.from(
      { length: 30 },
      (_, index) => `ada.lovelace.${100 + index}.of.the.engine@mail.example.com`,
    )
    for (const emailLower of emails) await insertUser(db, newUser({ email: emailLower, emailLower }))
    await assignPositions(db, 100)
    if (db.dialect === 'sqlite') await indexSome(db, 30)
    for (const search of emails) assert.equal((await readAll(db, { search, limit: 10 })).length, 1, search)
    const [email = ''] = emails
    for (let at = 0; at < email.length; at += 1) {
      const other = `${email.slice(0, at)}#${email.slice(at + 1)}`
      assert.deepEqual(await readAll(db, { search: other, limit: 10 }), [], other)
    }
    assert.equal((await readAll(db, { search: '.of.the.engine@mail.example.com', limit: 10 })).length, 30)
  })

  test('goes through all whom it finds, after any user, for the command line', async (t) => {
    const db = await searched(t)
    await addMany(db, 1200, 1000)
    const found = async (after: string): Promise<string[]> => {
      const ids: string[] = []
      for await (const page of eachUserId(db, { search: 'u1' }, after)) ids.push(...page)
      return ids
    }
    const all = Array.from({ length: 999 }, (_, index) => String(1001 + index))
    assert.deepEqual(await found(''), all)
    if (db.dialect === 'sqlite') await indexSome(db, 700)
    assert.deepEqual(await found(''), all)
    assert.deepEqual(await found('1500'), all.slice(500))
    await deleteUser(db, '1500')
    assert.deepEqual(await found('1500'), all.slice(500))
    assert.deepEqual(await found('f'), [])
  })

  test('says that it must be more exact when it has found nobody in its time, and goes on after a user', async (t) => {
    const { db } = await freshDatabase(t)
    const hidden = newUser({ name: 'Zoë', createdAtMs: T0 + 9 })
    for (let round = 0; round < 9; round += 1)
      await insertUser(db, newUser({ name: round === 4 ? 'Grace' : null, createdAtMs: T0 + round }))
    await insertUser(db, hidden)
    await assignPositions(db, 100)
    const pace = { firstStep: 5, longestMs: 0, leastSteps: 1 }
    await assert.rejects(listUserIds(db, { search: 'zoë', limit: 10 }, pace), {
      code: 'unprocessable',
      field: 'search',
      reason: 'search_too_broad',
    })
    const first = await listUserIds(db, { search: 'a', limit: 10 }, pace)
    assert.ok(first.ids.length > 0 && first.nextCursor !== undefined)
    assert.deepEqual((await listUserIds(db, { search: 'zoë', limit: 10 })).ids, [hidden.id])
    // Only the first page is refused: a client that reads on has begun.
    const grace = { search: 'grace', limit: 10 }
    const page = await listUserIds(db, grace, pace)
    assert.deepEqual(await listUserIds(db, { ...grace, cursor: page.nextCursor }, { longestMs: 600_000 }), {
      ids: [],
      nextCursor: undefined,
    })
  })

  test('is asked for by the first search among many, and then filled beside other work', async (t) => {
    const { db } = await freshDatabase(t)
    await addMany(db, 5200)
    const index = createUserIndex({ db })
    await index.keepUp()
    assert.equal(await findIndexedUpTo(db), undefined)
    assert.deepEqual(await index.state(), { has: 'nobody', needed: true })
    assert.equal((await listUserIds(db, { search: 'u51', limit: 1000 }, { longestMs: 600_000 })).ids.length, 111)
    assert.equal(await findIndexedUpTo(db), undefined, 'those had no position before')
    await listUserIds(db, { search: 'u51', limit: 1000 })
    if (db.dialect === 'postgres') return assert.deepEqual(await index.state(), { has: 'nobody', needed: true })
    assert.equal(await findIndexedUpTo(db), 0)
    assert.deepEqual(await index.state(), { has: 'a part', needed: true })
    let looks = 0
    await index.keepUp(() => (looks += 1) > 10)
    const begun = (await findIndexedUpTo(db)) ?? 0
    assert.ok(begun > 0 && begun < 5200, String(begun))
    await index.keepUp()
    assert.equal(await findIndexedUpTo(db), 5200)
    assert.deepEqual(await index.state(), { has: 'all users', needed: true })
    await db.run(`INSERT INTO user_search (user_search) VALUES ('integrity-check')`)
    await addMany(db, 10, 6000)
    await index.keepUp()
    assert.equal(await findIndexedUpTo(db), 5210)
    assert.equal(await index.make({ rebuild: true }), true)
    assert.equal(await findIndexedUpTo(db), 5210)
    await deleteUser(db, '5111')
    assert.equal((await readAll(db, { search: 'u51', limit: 1000 })).length, 110)
    const config = await db.all<{ k: string; v: number }>('SELECT k, v FROM user_search_config')
    assert.equal(config.find(({ k }) => k === 'secure-delete')?.v, 1)
  })
})

describe('the index of PostgreSQL', () => {
  testOnPostgres('needs the extension, is made once, and made again after an interruption', async (t) => {
    const { db } = await freshDatabase(t)
    const { make } = createUserIndex({ db })
    await assert.rejects(make({ rebuild: false }), { code: 'conflict', message: /CREATE EXTENSION pg_trgm/ })
    await db.run('CREATE EXTENSION pg_trgm')
    assert.deepEqual([await make({ rebuild: false }), await make({ rebuild: false })], [true, false])
    await db.run(`UPDATE pg_index SET indisvalid = false WHERE indexrelid = to_regclass('users_by_text')`)
    assert.equal(await findTextIndex(db), false)
    assert.equal(await make({ rebuild: false }), true)
    assert.equal(await findTextIndex(db), true)
    assert.deepEqual(await createUserIndex({ db }).state(), { has: 'all users', needed: false })
  })

  testOnPostgres('is given up after a time, and the rows are read', async (t) => {
    const db = await searched(t)
    const ada = newUser({ name: 'Ada' })
    await insertUser(db, newUser())
    await insertUser(db, ada)
    await assignPositions(db, 10)
    // The statement by the index takes long.
    const slow: Database['inTransaction'] = (work) =>
      db.inTransaction((transaction) =>
        work({
          ...transaction,
          all: (sql, ...values) => transaction.all(`${sql} OFFSET length(pg_sleep(60)::text)`, ...values),
        }),
      )
    const pace = { firstStep: 1, longestMs: 200 }
    const { ids } = await listUserIds({ ...db, inTransaction: slow }, { search: 'ada', limit: 10 }, pace).catch(
      ({ reason }: AppError) => ({ ids: [reason] }),
    )
    assert.ok(ids[0] === ada.id || ids[0] === 'search_too_broad')
  })
})

describe('lists of users by a filter', () => {
  test('are found by the index of those who meet it, in both directions', async (t) => {
    const { db: made, open } = await freshDatabase(t)
    await addMany(made, 2000)
    await assignPositions(made, 2000)
    if (made.dialect === 'postgres') await made.run('ANALYZE users')
    const db = await open()
    const plans: string[] = []
    const all: Database['all'] = async (sql, ...values) => {
      const explain = db.dialect === 'sqlite' ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN'
      const rows = await db.all<Record<string, unknown>>(`${explain} ${sql}`, ...values)
      plans.push(rows.map((row) => row.detail ?? row['QUERY PLAN']).join('\n'))
      return []
    }
    const range = { after: 0, upTo: 1500, limit: 10 }
    for (const newestFirst of [true, false]) {
      for (const query of [
        { disabled: true },
        { unverified: true },
        { neverSignedIn: true },
        { role: 'editor' },
        {},
      ] as const)
        await findPlaces({ ...db, all }, query, { ...range, newestFirst, isSelective: false })
      await findPlaces({ ...db, all }, { createdSinceMs: T0 + 1990 }, { ...range, newestFirst, isSelective: true })
    }
    const expected = [
      'users_disabled',
      'users_unverified',
      'users_without_session',
      'users_with_roles',
      'users_by_position',
      'users_by_creation',
    ]
    assert.deepEqual(
      plans.map((plan) => /users_(?:by|dis|un|with)\w+/.exec(plan)?.[0]),
      [...expected, ...expected],
      plans.join('\n'),
    )
  })

  test('one who has never signed in leaves the list with their first session', async (t) => {
    const { db } = await freshDatabase(t)
    const [one, other] = [newUser(), newUser()]
    for (const user of [one, other]) await insertUser(db, user)
    const never = { neverSignedIn: true, newestFirst: true, limit: 10 } as const
    assert.deepEqual((await listUserIds(db, never)).ids.sort(), [one.id, other.id].sort())
    await updateFirstSession(db, one.id, T0)
    assert.deepEqual((await listUserIds(db, never)).ids, [other.id])
  })
})
