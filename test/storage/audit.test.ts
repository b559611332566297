// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { AUDIT_TYPES, type AuditType, type CountedEvent } from '../../src/audit/audit-event.ts'
import { toAuditJson } from '../../src/audit/audit-row.ts'
import { readConfig } from '../../src/config/config.ts'
import { type Core, createCore } from '../../src/core.ts'
import type { Caller } from '../../src/lib/caller.ts'
import { createRootSecret } from '../../src/lib/derived-keys.ts'
import { unavailable } from '../../src/lib/errors.ts'
import { createLog } from '../../src/lib/log.ts'
import type { Database } from '../../src/storage/database.ts'
import { newPerson } from '../support/client/accounts.ts'
import { eventually } from '../support/wait.ts'
import { freshDatabase } from './databases.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

const { db, open } = await freshDatabase()
/** It stands still between the tests, so that no minute ends within one. */
const clock = { nowMs: Date.UTC(2026, 10, 23, 12), now: () => clock.nowMs }
const pass = (ms: number) => {
  clock.nowMs += ms
}
const log = createLog('silent', { write: () => {} })
const rootSecret = createRootSecret({ current: randomBytes(32) })
const hashCost = { memoryCost: 8, timeCost: 1, parallelism: 1 }
const config = readConfig({}, () => '')
const coreOn = (database: Database): Core => createCore({ config, log, db: database, rootSecret, clock, hashCost })

/** Two replicas. */
const core = coreOn(db)
const replica = coreOn(await open())
const { audit } = core

const USER = '01900000-0000-7000-8000-000000000001'

interface Row {
  id: string
  at: number
  type: string
  user_id: string | null
  actor: string
  address: string | null
  user_agent: string | null
  request_id: string | null
  session_id: string | null
  details: string
  count: number
  tally: string | null
}

const rows = () => db.all<Row>('SELECT * FROM audit_events ORDER BY id')
const clear = () => db.run('DELETE FROM audit_events')
const record = (type: AuditType, caller?: Caller, userId = USER) =>
  db.inTransaction((transaction) => audit.record(transaction, { type, userId }, caller))

const newUser = async () => {
  const person = newPerson()
  const { id } = await core.users.create(person)
  await db.run(`DELETE FROM audit_events WHERE type = 'user.created'`)
  return { ...person, id }
}

let networks = 0
/** A client in a network of its own. */
const elsewhere = (): Caller => {
  networks += 1
  const address = `198.51.${networks >> 8}.${networks & 255}`
  return { network: address, device: { userAgent: 'curl/8', address }, requestId: `request-${networks}` }
}
const placeOf = ({ device, requestId }: Caller) => ({ address: device?.address, requestId })

const failed = (email: string, reason = 'credentials_wrong'): CountedEvent => ({
  type: 'login.failed',
  email,
  details: { method: 'password', reason },
})

describe('records of what happened', () => {
  test('name the actor, the address, the request and the session', async () => {
    const caller = {
      device: { userAgent: 'curl/8', address: '192.0.2.1' },
      actor: 'api:shop',
      requestId: 'request',
      session: { sessionId: 'session', userId: USER },
    }
    await db.inTransaction((transaction) =>
      audit.record(
        transaction,
        { type: 'session.ended', userId: USER, details: { endedSessionId: 'other', reason: undefined } },
        caller,
      ),
    )
    const [row] = await rows()
    const { id, at, ...rest } = row ?? {}
    assert.match(String(id), /^[0-9a-f]{8}-[0-9a-f]{4}-7000-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    assert.equal(Number.parseInt(String(id).replace('-', '').slice(0, 12), 16), Number(at))
    assert.deepEqual(rest, {
      type: 'session.ended',
      user_id: USER,
      actor: 'api:shop',
      address: '192.0.2.1',
      user_agent: 'curl/8',
      request_id: 'request',
      session_id: 'session',
      details: '{"ended_session_id":"other"}',
      count: 1,
      tally: null,
    })
  })

  test('are in the order in which they were made, even within a millisecond', async () => {
    await clear()
    for (const type of AUDIT_TYPES) await record(type)
    assert.deepEqual(
      (await rows()).map(({ type }) => type),
      AUDIT_TYPES,
    )
  })

  test('of what is rolled back, there is none', async () => {
    await clear()
    const failing = db.inTransaction(async (transaction) => {
      await audit.record(transaction, { type: 'logout', userId: USER })
      throw new Error('the action fails')
    })
    await assert.rejects(failing, /the action fails/)
    assert.deepEqual(await rows(), [])
  })

  test('name the service itself where there is no caller, and the user behind a request', async () => {
    await clear()
    await record('logout')
    await record('logout', { device: { userAgent: '', address: '' } })
    const found = (await rows()).map(({ actor, address, user_agent: userAgent }) => ({ actor, address, userAgent }))
    assert.deepEqual(found, [
      { actor: 'system', address: null, userAgent: null },
      { actor: 'user', address: null, userAgent: null },
    ])
  })

  test('keep of a user agent what can be shown, and no more than its beginning', async () => {
    await clear()
    const userAgent = `Evil\x1b[2J\x9b31m\x7f\u202e Straße ${'x'.repeat(9000)}`
    await record('logout', { device: { userAgent, address: '192.0.2.1' } })
    const [row] = await rows()
    assert.equal(row?.user_agent, `Evil?[2J?31m?? Straße ${'x'.repeat(9000)}`.slice(0, 256))
  })
})

describe('failed logins', () => {
  test('of an account, a network and a minute are one row, by whatever process and spelling', async () => {
    await clear()
    const { email, id } = await newUser()
    const [here, there] = [elsewhere(), elsewhere()]
    audit.tally(failed(email), here)
    audit.tally(failed(` ${email.toUpperCase()}`, 'code_wrong'), here)
    audit.tally(failed(email), there)
    await audit.flush()
    pass(1)
    replica.audit.tally(failed(email), here)
    replica.audit.tally({ type: 'login.limited', userId: id, details: { limit: 'login' } }, here)
    await replica.audit.flush()
    const found = (await rows()).map(({ type, user_id: userId, address, request_id: requestId, count, details }) => ({
      type,
      userId,
      address,
      requestId,
      count,
      details: JSON.parse(details),
    }))
    const facts = { type: 'login.failed', userId: id }
    const details = { method: 'password', reason: 'credentials_wrong' }
    assert.deepEqual(found, [
      { ...facts, ...placeOf(here), count: 3, details: { count: 3, ...details } },
      { ...facts, ...placeOf(there), count: 1, details: { count: 1, ...details } },
      { ...facts, ...placeOf(here), type: 'login.limited', count: 1, details: { count: 1, limit: 'login' } },
    ])
  })

  test('begin a new row with the next minute', async () => {
    await clear()
    const [{ email }, here] = [await newUser(), elsewhere()]
    for (const minutes of [0, 1, 0]) {
      pass(minutes * MINUTE_MS)
      audit.tally(failed(email), here)
    }
    await audit.flush()
    const counts = (await rows()).map(({ count }) => count)
    assert.deepEqual(counts, [1, 2])
  })

  test('with a name that no account has keep a keyed hash of it, and not the name', async () => {
    await clear()
    const [typed, here] = ['correct horse battery staple', elsewhere()]
    audit.tally(failed(typed), here)
    audit.tally(failed(`${typed} `), here)
    audit.tally(failed('other@example.com'), here)
    await audit.flush()
    const found = await rows()
    assert.equal(JSON.stringify(found).includes('horse'), false)
    assert.deepEqual(
      found.map(({ user_id: userId, details }) => [userId, JSON.parse(details).account, JSON.parse(details).count]),
      [
        [null, core.pseudonymOf(typed), 2],
        [null, core.pseudonymOf('other@example.com'), 1],
      ],
    )
  })

  test('fill at most a hundred rows a minute, and one that holds the count of all others', async () => {
    await clear()
    const { email } = await newUser()
    for (let turn = 0; turn < 3; turn += 1) {
      for (let index = 0; index < 90; index += 1)
        audit.tally(failed(`user${turn * 90 + index}@example.com`), elsewhere())
      await audit.flush()
    }
    // An account keeps the row that it has.
    replica.audit.tally(failed('user0@example.com'), elsewhere())
    await replica.audit.flush()
    for (let index = 0; index < 5000; index += 1) replica.audit.tally(failed(email), elsewhere())
    await replica.audit.flush()
    const found = await rows()
    const rest = found.filter(({ tally }) => !/\/.*\//.test(tally ?? ''))
    assert.equal(found.length, 101)
    assert.deepEqual(
      rest.map(({ details, count, user_id: userId, address }) => ({ details, count, userId, address })),
      [{ details: '{"count":5171}', count: 5171, userId: null, address: null }],
    )
    assert.equal(
      found.reduce((sum, { count }) => sum + count, 0),
      5271,
    )
  })

  test('are counted right by two processes at once', async () => {
    await clear()
    const people = await Promise.all(Array.from({ length: 20 }, newUser))
    const here = elsewhere()
    for (let turn = 0; turn < 5; turn += 1) {
      for (const { email } of people) audit.tally(failed(email), here)
      for (const { email } of people.toReversed()) replica.audit.tally(failed(email), here)
      await Promise.all([audit.flush(), replica.audit.flush()])
    }
    assert.deepEqual(
      (await rows()).map(({ count, details }) => [count, JSON.parse(details).count]),
      people.map(() => [10, 10]),
    )
  })
})

/** All but the id and the time. */
const shown = ({ type, user_id, actor, address, user_agent, request_id, session_id, details }: Row) => [
  type,
  user_id,
  actor,
  address,
  user_agent,
  request_id,
  session_id,
  details,
]

const tallies = () => db.all<Row>("SELECT * FROM audit_events WHERE type = 'login.failed' AND tally IS NOT NULL")

describe('the records of a deleted user', () => {
  const device = { userAgent: 'curl/8', address: '192.0.2.1' }
  const caller = { device, requestId: 'request', session: { sessionId: 'session', userId: USER } }
  test('keep the id, and lose address, agent and details, also those that come late', async () => {
    await clear()
    const other = await newUser()
    await record('logout', caller, other.id)
    await record('login.succeeded', caller)
    await record('user.deleted', caller)
    const kept = (await rows()).map(shown)
    assert.deepEqual(kept, [
      ['logout', other.id, 'user', '192.0.2.1', 'curl/8', 'request', null, '{}'],
      ['login.succeeded', USER, 'user', null, null, null, null, '{}'],
      ['user.deleted', USER, 'user', null, null, null, null, '{}'],
    ])
    // By a request that was under way. Of the second, the log alone has an address.
    await record('login.failed', caller)
    await record('logout', { requestId: 'request' })
    await record('logout', { session: caller.session })
    assert.equal(await audit.eraseDeleted(clock.nowMs), 0, 'what is under way may come still later')
    pass(5 * MINUTE_MS)
    assert.equal(await audit.eraseDeleted(clock.nowMs), 3)
    for (const [type, userId, actor, ...rest] of (await rows()).map(shown).slice(-3))
      assert.deepEqual([userId, actor, ...rest], [USER, 'user', null, null, null, null, '{}'], String(type))
    assert.deepEqual(await db.all('SELECT id FROM audit_events WHERE tally IS NOT NULL'), [])
  })

  test('that count failed logins lose what the address could be found from', async () => {
    await clear()
    const { id, email } = await newUser()
    audit.tally(failed(email), elsewhere())
    await audit.flush()
    assert.equal((await tallies())[0]?.user_id, id)
    await record('user.deleted', caller, id)
    assert.deepEqual(await tallies(), [])
    const [counted] = await rows()
    assert.deepEqual([counted?.user_id, counted?.address, counted?.details], [id, null, '{}'])
  })

  test('are erased, however many there are', async () => {
    await clear()
    await db.inTransaction(async (transaction) => {
      for (let index = 0; index < 2500; index += 1)
        await audit.record(transaction, { type: 'login.failed', userId: USER, details: { count: 1 } }, caller)
    })
    await record('user.deleted', caller)
    const left = () => db.all('SELECT id FROM audit_events WHERE address IS NOT NULL')
    assert.equal((await left()).length, 1500)
    pass(10 * MINUTE_MS)
    // A user who is imported with the id of the deleted one.
    await record('signup', caller)
    assert.equal(await audit.eraseDeleted(clock.nowMs), 1500)
    assert.equal((await left()).length, 1)
  })
})

test('records are deleted at the end of their time, and not before', async () => {
  await clear()
  const { auditRetentionMs } = config
  assert.equal(auditRetentionMs, 2160 * HOUR_MS)
  for (let index = 0; index < 3; index += 1) await record('logout')
  pass(HOUR_MS)
  await record('logout')
  pass(auditRetentionMs - HOUR_MS + MINUTE_MS)
  assert.equal(await audit.deleteOld(clock.nowMs), 3)
  assert.equal((await rows()).length, 1)
})

test('records are lines of the log too, where that is wanted, and only when they are committed', async () => {
  const lines: string[] = []
  const auditLog = createLog('info', { write: (line) => void lines.push(line) })
  const settings = readConfig({ SVC_AUDIT_LOG: 'on' }, () => '')
  const counted: [string, number][] = []
  const { audit: logged } = createCore({
    config: settings,
    log,
    auditLog,
    db,
    rootSecret,
    clock,
    onRecord: (type, count) => void counted.push([type, count]),
  })
  const event = { type: 'user.roles_changed', userId: USER } as const
  await db.inTransaction((transaction) => logged.record(transaction, { ...event, details: { roles: ['admin'] } }))
  const failing = db.inTransaction(async (transaction) => {
    await logged.record(transaction, event)
    throw new Error('the action fails')
  })
  await assert.rejects(failing)
  const here = elsewhere()
  for (let index = 0; index < 3; index += 1) logged.tally(failed('nobody@example.com'), here)
  await logged.flush()
  assert.deepEqual(counted, [
    ['user.roles_changed', 1],
    ['login.failed', 3],
  ])
  const device = { userAgent: 'curl/8', address: '192.0.2.1' }
  await db.inTransaction((transaction) =>
    logged.record(transaction, { type: 'user.deleted', userId: USER }, { device, requestId: 'request' }),
  )
  const [role = {}, login = {}, deletion = {}] = lines.map((line) => JSON.parse(line))
  assert.equal(lines.length, 3)
  const nothingKept = { address: null, user_agent: null, request_id: null, session_id: null, details: {} }
  assert.partialDeepStrictEqual(deletion, { type: 'user.deleted', user_id: USER, actor: 'user', ...nothingKept })
  assert.partialDeepStrictEqual(role, {
    level: 'info',
    message: 'audit event',
    type: 'user.roles_changed',
    user_id: USER,
    actor: 'system',
    address: null,
    details: { roles: ['admin'] },
  })
  assert.partialDeepStrictEqual(login, { type: 'login.failed', address: here.device?.address })
  assert.equal(login.details.count, 3)
  const silenced = { SVC_AUDIT_LOG: 'on', SVC_LOG_LEVEL: 'warn' }
  assert.throws(() => readConfig(silenced, () => ''), /SVC_AUDIT_LOG=on has no effect with SVC_LOG_LEVEL=warn/)
})

test('lines of counted records have the fields of the record, whatever process has made it, and the counts of its parts', async () => {
  await clear()
  const settings = readConfig({ SVC_AUDIT_LOG: 'on' }, () => '')
  const lines: string[] = []
  const auditLog = createLog('info', { write: (line) => void lines.push(line) })
  const loggedOn = async (database: Database) =>
    createCore({ config: settings, log, auditLog, db: database, rootSecret, clock }).audit
  const [one, other] = [await loggedOn(db), await loggedOn(await open())]
  const { email } = await newUser()
  const network = '198.51.100.0'
  // One /64 may have several addresses, and one account several reasons.
  const from = (address: string): Caller => ({ network, device: { userAgent: 'curl/8', address }, requestId: address })
  const parts: [typeof one, number, string][] = [
    [one, 1, 'credentials_wrong'],
    [other, 7, 'code_wrong'],
    [one, 2, 'account_disabled'],
  ]
  for (const [audit, count, reason] of parts) {
    pass(10)
    for (let index = 0; index < count; index += 1) audit.tally(failed(email, reason), from(`198.51.100.${count}`))
    await audit.flush()
  }
  // Past a hundred rows, one row counts.
  for (let index = 0; index < 99; index += 1) one.tally(failed(`user${index}@example.com`), elsewhere())
  await one.flush()
  for (const audit of [one, other]) {
    pass(10)
    audit.tally(failed('late@example.com'), elsewhere())
    await audit.flush()
  }
  // At once.
  for (const audit of [one, other]) audit.tally(failed(email), from('198.51.100.9'))
  await Promise.all([one.flush(), other.flush()])

  const { events } = await one.list({ limit: 1000 })
  const records = new Map(events.map((row) => [row.id, toAuditJson(row)]))
  const counted = new Map<string, number[]>()
  for (const line of lines) {
    const { level: _, time: _time, message, ...fields } = JSON.parse(line)
    const { id, details } = fields as { id: string; details: { count: number } }
    assert.equal(message, 'audit event')
    const record = records.get(id)
    assert.deepEqual(fields, { ...record, details: { ...record?.details, count: details.count } })
    counted.set(id, [...(counted.get(id) ?? []), details.count])
  }
  const last = events.find(({ details }) => details === '{"count":2}')
  const first = events.at(-1)
  assert.equal(records.size, 101)
  assert.deepEqual(counted.get(last?.id ?? ''), [1, 1])
  assert.deepEqual(counted.get(first?.id ?? ''), [1, 7, 2, 1, 1])
  assert.equal(first?.address, '198.51.100.1', 'of the first')
  assert.equal(first?.details, '{"count":12,"method":"password","reason":"credentials_wrong"}')
})

test('what is counted while the database does not answer is written once it does', async () => {
  await clear()
  let isAway = true
  const failingDb: Database = {
    ...db,
    inTransaction: (work) =>
      isAway ? Promise.reject(unavailable('The database cannot be reached.')) : db.inTransaction(work),
  }
  const { audit: waiting } = coreOn(failingDb)
  const here = elsewhere()
  waiting.tally(failed('nobody@example.com'), here)
  await waiting.flush()
  waiting.tally(failed('nobody@example.com'), here)
  for (let index = 0; index < 1000; index += 1) waiting.tally(failed(`user${index}@example.com`), elsewhere())
  await waiting.flush()
  assert.deepEqual(await rows(), [])
  isAway = false
  await waiting.flush()
  const found = await rows()
  assert.equal(found.length, 101)
  assert.equal(
    found.reduce((sum, { count }) => sum + count, 0),
    1002,
  )
})

test('what is counted while the database is away for days is of bounded size, and none of it is lost', async () => {
  await clear()
  let isAway = true
  const failingDb: Database = {
    ...db,
    inTransaction: (work) => (isAway ? Promise.reject(unavailable('The database is full.')) : db.inTransaction(work)),
  }
  const { audit: waiting } = coreOn(failingDb)
  for (let minute = 0; minute < 3000; minute += 1) {
    for (const type of ['login.failed', 'login.limited'] as const)
      waiting.tally({ ...failed(`user${minute}@example.com`), type }, elsewhere())
    if (minute % 300 === 0) await waiting.flush()
    pass(MINUTE_MS)
  }
  isAway = false
  await waiting.flush()
  const found = await rows()
  assert.ok(found.length <= 402, String(found.length))
  assert.equal(
    found.reduce((sum, { count }) => sum + count, 0),
    6000,
  )
})

test('a flood is recorded also where the database has no time for all of it in one transaction', async () => {
  await clear()
  const slowDb: Database = {
    ...db,
    inTransaction: (work) =>
      db.inTransaction((transaction) => {
        let statements = 0
        const count = (): void => {
          statements += 1
          if (statements > 150) throw unavailable('The database took too long.')
        }
        return work({
          afterCommit: (action) => transaction.afterCommit(action),
          async all<Found>(...query: Parameters<typeof db.all>) {
            count()
            return transaction.all<Found>(...query)
          },
          async get<Found>(...query: Parameters<typeof db.get>) {
            count()
            return transaction.get<Found>(...query)
          },
          async run(...query) {
            count()
            return transaction.run(...query)
          },
        })
      }),
  }
  const { audit: slow } = coreOn(slowDb)
  for (let index = 0; index < 1000; index += 1) slow.tally(failed(`user${index}@example.com`), elsewhere())
  await slow.flush()
  const found = await rows()
  assert.equal(
    found.reduce((sum, { count }) => sum + count, 0),
    1000,
  )
})

test('whatever is entered for an email, it is recorded, and keeps nothing else from being recorded', async () => {
  await clear()
  const { email, id } = await newUser()
  const typed = [
    'x\0@y',
    '\0',
    `${email}\0`,
    '\ud800',
    'a\udc00@example.com',
    'é@example.com',
    'x'.repeat(1 << 20),
    '',
    '\x1b[2J',
  ]
  const here = elsewhere()
  for (const text of typed) audit.tally({ ...failed(text), type: 'login.limited' }, here)
  audit.tally(failed(email), here)
  await audit.flush()
  const found = await rows()
  assert.deepEqual(
    found.map(({ type, user_id: userId }) => [type, userId]),
    [...typed.map(() => ['login.limited', null]), ['login.failed', id]],
  )
  assert.deepEqual(
    found.map(({ details }) => JSON.parse(details).account),
    [...typed.map(core.pseudonymOf), undefined],
  )
})

test('what the database refuses is lost alone, and said without what was entered', async () => {
  await clear()
  const lines: string[] = []
  const auditLog = createLog('warn', { write: (line) => void lines.push(line) })
  const { audit: logged } = createCore({ config, log, auditLog, db, rootSecret, clock })
  const event = failed('correct horse battery staple')
  await db.run(`CREATE UNIQUE INDEX refused ON audit_events (request_id) WHERE request_id = 'refused'`)
  try {
    await record('logout', { requestId: 'refused' })
    for (let index = 0; index < 50; index += 1) {
      logged.tally(event, elsewhere())
      if (index === 7)
        for (let turn = 0; turn < 3; turn += 1) logged.tally(event, { network: 'a', requestId: 'refused' })
      if (index === 30) logged.tally(event, { network: 'b', requestId: 'refused' })
    }
    await logged.flush()
    assert.equal((await rows()).length, 51)
    const [line = '', ...more] = lines
    assert.deepEqual(more, [])
    const { level, message, count, err } = JSON.parse(line)
    assert.deepEqual([level, count], ['error', 4])
    assert.match(message, /not recorded: the database refuses them/)
    assert.match(err.message, /a row with the same .* exists/)
    assert.doesNotMatch(line, /horse/)
  } finally {
    await db.run('DROP INDEX refused')
  }
  logged.tally(event, { network: 'a', requestId: 'refused' })
  await logged.flush()
  assert.equal((await rows()).length, 52)
  assert.equal(lines.length, 1)
})

const countAfter = async (flushed: Promise<void>): Promise<number> => {
  await flushed
  return (await rows()).length
}

test('a flush has written all that was counted before it, also where others are under way', async () => {
  await clear()
  const slowDb: Database = {
    ...db,
    async inTransaction(work) {
      await sleep(10)
      return db.inTransaction(work)
    },
  }
  const { audit: slow } = coreOn(slowDb)
  slow.tally(failed('nobody@example.com'), elsewhere())
  assert.deepEqual(await Promise.all([1, 2, 3].map(() => countAfter(slow.flush()))), [1, 1, 1])
  slow.tally(failed('nobody@example.com'), elsewhere())
  const first = slow.flush()
  await sleep(1)
  slow.tally(failed('nobody@example.com'), elsewhere())
  assert.deepEqual(await Promise.all([1, 2].map(() => countAfter(slow.flush()))), [3, 3])
  await first
})

test('what is counted after a write that took long is written within two seconds', async (t) => {
  await clear()
  const slowDb: Database = {
    ...db,
    async inTransaction(work) {
      await sleep(300)
      return db.inTransaction(work)
    },
  }
  const { audit: slow } = coreOn(slowDb)
  slow.tally(failed('nobody@example.com'), elsewhere())
  await slow.flush()
  t.mock.timers.enable({ apis: ['setTimeout'] })
  slow.tally(failed('nobody@example.com'), elsewhere())
  // Ten times as long as the write took would be three seconds.
  t.mock.timers.tick(2000)
  await eventually('it is written', async () => (await rows()).length === 2)
})
