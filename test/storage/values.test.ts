// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { AppError } from '../../src/lib/errors.ts'
import { findKeys, insertKey } from '../../src/sessions/keys/key-store.ts'
import { findSession, insertSession } from '../../src/sessions/session-store.ts'
import { type Queries, type Value, isUniqueViolation, UniqueViolation } from '../../src/storage/database.ts'
import { findUserByEmail, findUserById, findUserByUsername, insertUser } from '../../src/accounts/user-store.ts'
import { insertEvent, newEvent, newKey, newSession, newUser } from './rows.ts'
import { eventOutbox } from '../../src/webhooks/outbox-store.ts'
import { probeDatabase } from './databases.ts'

const { db } = await probeDatabase()

type Probe = { id: string; amount: number | null; words: string | null }

const put = (id: string, amount: Value, words: Value) =>
  db.run('INSERT INTO probe (id, amount, words) VALUES (?, ?, ?)', id, amount, words)

const get = (id: string) => db.get<Probe>('SELECT id, amount, words FROM probe WHERE id = ?', id)

describe('numbers', () => {
  for (const amount of [0, -1, 2 ** 31 - 1, 2 ** 31, 2 ** 31 + 1, -(2 ** 31) - 1, 1_795_000_000_000, 2 ** 53 - 1]) {
    test(`${amount} is read as the same number`, async () => {
      const id = randomUUID()
      await put(id, amount, null)
      assert.equal((await get(id))?.amount, amount)
      const [row] = await db.all<Probe>('SELECT id, amount FROM probe WHERE amount = ? AND id = ?', amount, id)
      assert.equal(row?.amount, amount)
    })
  }

  test('counts, sums and the minimum of times are numbers', async () => {
    await put('least-1', 2 ** 40, 'least')
    await put('least-2', 2 ** 41, 'least')
    const row = await db.get<{ count: number; least: number }>(
      'SELECT COUNT(*) AS count, MIN(amount) AS least FROM probe WHERE words = ?',
      'least',
    )
    assert.deepEqual({ ...row }, { count: 2, least: 2 ** 40 })
  })

  test('the minimum of no rows is null', async () => {
    const row = await db.get<{ least: number | null }>('SELECT MIN(amount) AS least FROM probe WHERE words = ?', 'none')
    assert.deepEqual({ ...row }, { least: null })
  })
})

const TEXTS = {
  nothing: '',
  'the word null': 'null',
  spaces: '  \t ',
  'letters with marks, composed and not': 'é e\u0301',
  'a letter beyond the basic plane': '𝒳😀👩‍👩‍👧‍👦',
  'right to left': 'שלום \u202e evil',
  'what ends the basic plane': '\ud7ff\ue000\ufeff\uffff',
  'quotes and escapes': `'; DROP TABLE probe; -- " \\ \\' $1 ? {a,"b"} %_`,
  'control characters': '\x01\x1f\x7f\u0085\r\n',
}

describe('texts', () => {
  for (const [what, words] of Object.entries(TEXTS)) {
    test(`${what}: is read unchanged, and finds its own row`, async () => {
      const id = randomUUID()
      await put(id, 1, words)
      assert.equal((await get(id))?.words, words)
      assert.deepEqual(
        (await db.all<Probe>('SELECT id FROM probe WHERE words = ? AND amount = 1', words)).map((row) => row.id),
        [id],
      )
    })
  }

  test('each of them is a separate key', async () => {
    for (const words of Object.values(TEXTS)) await put(`key ${words}`, null, null)
    const rows = await db.all<Probe>(`SELECT id FROM probe WHERE id LIKE 'key %' AND amount IS NULL`)
    assert.deepEqual(new Set(rows.map(({ id }) => id)), new Set(Object.values(TEXTS).map((words) => `key ${words}`)))
  })

  test('null is not the empty text', async () => {
    await put('null', null, null)
    await put('empty', null, '')
    assert.equal((await get('null'))?.words, null)
    assert.equal((await get('empty'))?.words, '')
  })

  test('8 MB of text are read complete', async () => {
    const words = 'huge é😀\n'.repeat(700_000)
    await put('huge', 1, words)
    assert.ok((await get('huge'))?.words === words)
  })

  test('no row is undefined, no rows are an empty list, no change is 0', async () => {
    assert.equal(await get('nobody'), undefined)
    assert.deepEqual(await db.all('SELECT id FROM probe WHERE id = ?', 'nobody'), [])
    assert.equal(await db.run('DELETE FROM probe WHERE id = ?', 'nobody'), 0)
  })
})

const LOOK_UPS: Record<string, (text: string) => Promise<unknown>> = {
  'a user by id': (text) => findUserById(db, text),
  'a user by email': (text) => findUserByEmail(db, text),
  'a user by username': (text) => findUserByUsername(db, text),
  'a session': (text) => findSession(db, text),
  'an event': (text) => eventOutbox.find(db, text),
}

const NONSENSE = {
  'a NUL': 'a\0b',
  'a NUL alone': '\0',
  'half a surrogate pair': 'a\ud800b',
  'a surrogate pair the wrong way round': '\udc00\ud800',
  '1 MB': 'x'.repeat(2 ** 20),
}

describe('values that no key can have', () => {
  for (const [what, text] of Object.entries(NONSENSE)) {
    for (const [whom, find] of Object.entries(LOOK_UPS)) {
      test(`${whom} looked up by ${what}: not found, or refused with an error`, async () => {
        const answer: unknown = await find(text).catch((error: unknown) => error)
        if (answer === undefined) return
        assert.ok(answer instanceof AppError, JSON.stringify(answer))
        assert.ok(['invalid_request', 'not_found'].includes(answer.code), answer.code)
      })
    }
  }

  test('a value that cannot be stored is refused, or stored unchanged, and the database keeps working', async () => {
    const stored = await put('nul', 1, 'a\0b').catch((error: unknown) => error)
    if (stored === 1) assert.equal((await get('nul'))?.words, 'a\0b')
    else {
      assert.ok(stored instanceof AppError && stored.code === 'invalid_request', String(stored))
      assert.equal(await get('nul'), undefined)
    }
    assert.equal(await put('after nul', 1, 'fine'), 1)
  })
})

const user = newUser()
const session = newSession(user.id)
const event = newEvent()
const key = newKey()
await insertUser(db, user)
await insertSession(db, session)
await insertEvent(db, event)
await insertKey(db, key)

const DUPLICATES: Record<string, (queries: Queries) => Promise<unknown>> = {
  'users.id': (queries) => insertUser(queries, newUser({ id: user.id })),
  'users.email_lower': (queries) => insertUser(queries, newUser({ emailLower: user.emailLower })),
  'users.username': (queries) => insertUser(queries, newUser({ username: user.username })),
  'sessions.id': (queries) => insertSession(queries, newSession(user.id, { id: session.id })),
  'signing_keys.id': (queries) => insertKey(queries, newKey({ id: key.id })),
  'webhook_events.id': (queries) => insertEvent(queries, newEvent({ id: event.id })),
  'installation.name': (queries) =>
    queries.run(`INSERT INTO installation (name, value) SELECT name, value FROM installation LIMIT 1`),
  'migrations.name': (queries) =>
    queries.run(`INSERT INTO migrations (name, applied_at) SELECT name, applied_at FROM migrations LIMIT 1`),
}

describe('a row that exists already', () => {
  for (const [column, insert] of Object.entries(DUPLICATES)) {
    test(`is a UniqueViolation of ${column}, outside a transaction and of one`, async () => {
      for (const attempt of [() => insert(db), () => db.inTransaction(insert)]) {
        const error = await attempt().catch((thrown: unknown) => thrown)
        assert.ok(error instanceof UniqueViolation, String(error))
        assert.deepEqual(error.columns, [column])
        assert.ok(isUniqueViolation(error, column))
      }
    })
  }

  test('letters differ by their case', async () => {
    await insertUser(db, newUser({ username: user.username.toUpperCase() }))
    assert.equal((await findUserByUsername(db, user.username))?.id, user.id)
  })

  test('a violation of another constraint is no UniqueViolation', async () => {
    for (const insert of [
      () => insertSession(db, newSession('nobody')),
      () => db.run('INSERT INTO users (id) VALUES (?)', randomUUID()),
    ]) {
      const error = await insert().catch((thrown: unknown) => thrown)
      assert.ok(error instanceof AppError && error.code === 'internal_error', String(error))
    }
    assert.equal((await findKeys(db)).length, 1)
  })
})
