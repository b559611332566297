// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { writeUsers } from '../../src/cli/import/write-users.ts'
import { systemClock } from '../../src/lib/time.ts'
import { findConnected, insertIdentities } from '../../src/oauth/identity-transfer-store.ts'
import type { Database } from '../../src/storage/database.ts'
import { openStaging } from '../../src/storage/staging.ts'
import { createUserExport } from '../../src/accounts/export/export.ts'
import { createEmailDomains, createNames } from '../../src/accounts/fields.ts'
import { createUserImport } from '../../src/accounts/import/import.ts'
import { freshDatabase } from './databases.ts'

const importInto = (db: Database, told: string[] = []) => ({
  place: async () => {},
  ...createUserImport({
    db,
    clock: systemClock,
    passwords: { hash: async () => 'hash' },
    hashesAtOnce: 2,
    requireGoodPassword: async (entered) => entered,
    emailDomains: createEmailDomains([]),
    names: createNames('off'),
    parsePasswordHash: () => {},
    issuerOf: () => undefined,
    findConnected,
    connect: insertIdentities,
    recordEvent: async () => {},
    endGrants: async () => 0,
    endSessions: async () => 0,
    announceAll: async (_, type, ids) => void told.push(...ids.map((id) => `${type} ${id}`)),
  }),
})

const countOf = async (db: Database): Promise<number> =>
  (await db.get<{ count: number }>('SELECT COUNT(*) AS count FROM users'))?.count ?? 0

const OPTIONS = { isWanted: () => false, announces: true }

describe('an import while others write', () => {
  test('with --all-or-nothing, a name that was taken after the check takes back all users', async (t) => {
    const { db } = await freshDatabase(t)
    const told: string[] = []
    const userImport = importInto(db, told)
    const staging = openStaging()
    t.after(() => staging.close())
    for (let number = 1; number <= 600; number += 1) {
      const user = { email: `u${number}@example.com`, ...(number === 599 && { username: 'taken' }) }
      staging.add(number, JSON.stringify(await userImport.read(user, { withoutHashes: false })), [])
    }
    const rival = await userImport.read({ email: 'rival@example.com', username: 'taken' }, { withoutHashes: false })
    await userImport.write([rival], OPTIONS)
    told.length = 0
    const problems: string[] = []
    const counts = await writeUsers(
      { staging, userImport, onProblem: (number, text) => problems.push(`${number} ${text}`), onProgress: () => {} },
      { allOrNothing: true, announces: true, ids: undefined },
    )
    assert.deepEqual(counts, { imported: 0, existing: 0, failed: 1 })
    assert.deepEqual(problems, ['599 username: another account has taken already'])
    assert.equal(await countOf(db), 1)
    const created = told.filter((each) => each.startsWith('user.created')).map((each) => each.split(' ')[1])
    const deleted = told.filter((each) => each.startsWith('user.deleted')).map((each) => each.split(' ')[1])
    assert.ok(created.length >= 599)
    assert.deepEqual(new Set(deleted), new Set(created), 'the application is told that they are gone')
  })

  test('two imports of the same users at once: each user is there once, and both know their ids', async (t) => {
    const { db, open } = await freshDatabase(t)
    const other = await open()
    const values = Array.from({ length: 120 }, (_, index) => ({
      email: `u${index}@example.com`,
      identities: [{ provider: 'corp', issuer: 'https://corp.example', subject: String(index) }],
    }))
    const runs = [importInto(db), importInto(other)].map(async (userImport) => {
      const users = await Promise.all(values.map((value) => userImport.read(value, { withoutHashes: false })))
      return userImport.write(users, OPTIONS)
    })
    const [first = [], second = []] = await Promise.all(runs)
    assert.equal(await countOf(db), values.length)
    const idsOf = (outcomes: typeof first) =>
      outcomes.map((outcome) => ('id' in outcome ? outcome.id : outcome.problem))
    assert.deepEqual(idsOf(first), idsOf(second))
    assert.equal([...first, ...second].filter(({ kind }) => kind === 'imported').length, values.length)
  })

  test('users whom another import adds between two looks are there, and not refused', async (t) => {
    const { db, open } = await freshDatabase(t)
    const rival = importInto(await open())
    for (let look = 0, looks = 1; look < looks; look += 1) {
      const name = `user${look}`
      const value = { email: `${name}@example.com`, username: name, roles: [] }
      const identities = [{ provider: 'corp', issuer: 'https://corp.example', subject: name }]
      const user = await rival.read({ ...value, identities }, { withoutHashes: false })
      looks = 0
      const all: Database['all'] = async (...query) => {
        if (looks === look) await rival.write([user], OPTIONS)
        looks += 1
        return db.all(...query)
      }
      const [decision] = await importInto({ ...db, all }).check([user])
      assert.notEqual(decision?.kind, 'refused', `after look ${look}`)
    }
  })

  test('an address that is kept for its former account is refused', async (t) => {
    const { db } = await freshDatabase(t)
    const userImport = importInto(db)
    const read = (email: string) => userImport.read({ email }, { withoutHashes: false })
    const [owner, stranger] = [await read('owner@example.com'), await read('former@example.com')]
    const [outcome] = await userImport.write([owner], OPTIONS)
    assert.ok(outcome && 'id' in outcome)
    const until = systemClock.now() + 60_000
    await db.run(
      'INSERT INTO reserved_emails (email_lower, user_id, until) VALUES (?, ?, ?)',
      'former@example.com',
      outcome.id,
      until,
    )
    const [refused] = await userImport.write([stranger], OPTIONS)
    assert.equal(refused?.kind, 'refused')
  })

  test('many users whose emails make the same username', async (t) => {
    const { db } = await freshDatabase(t)
    const userImport = importInto(db)
    const users = await Promise.all(
      Array.from({ length: 500 }, () =>
        userImport.read({ email: `info@${randomUUID()}.example` }, { withoutHashes: false }),
      ),
    )
    const outcomes = await userImport.write(users, OPTIONS)
    assert.ok(outcomes.every(({ kind }) => kind === 'imported'))
  })
})

test('an export shows one moment, whatever is written while it runs', async (t) => {
  const { db, open } = await freshDatabase(t)
  const userImport = importInto(db)
  const read = (email: string) => userImport.read({ id: randomUUID(), email }, { withoutHashes: false })
  await userImport.write(
    await Promise.all(Array.from({ length: 1200 }, (_, index) => read(`u${index}@example.com`))),
    OPTIONS,
  )
  const writer = importInto(await open())
  const exportUsers = createUserExport({
    db,
    findConnections: async () => [],
    findFactors: async () => [],
    countUsersWithSessions: async () => 0,
  })
  let lines = 0
  const { users } = await exportUsers({
    withHashes: true,
    async onPage(text, count) {
      assert.equal(text.split('\n').length, count + 1)
      lines += count
      await writer.write([await read(`later${lines}@example.com`)], OPTIONS)
    },
  })
  assert.deepEqual([users, lines], [1200, 1200])
  assert.ok((await countOf(db)) > 1200)
})
