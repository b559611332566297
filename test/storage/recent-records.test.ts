// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import type { AuditType } from '../../src/audit/audit-event.ts'
import { createAuditReading } from '../../src/audit/reading.ts'
import { insertAuditEvent } from '../../src/audit/audit-store.ts'
import { createUuidSequence } from '../../src/lib/uuid.ts'
import { shownActivity } from '../../src/web/account/activity-texts.ts'
import type { Database } from '../../src/storage/database.ts'
import { freshDatabase } from './databases.ts'
import { T0 } from './rows.ts'

const { db, open } = await freshDatabase()
const reading = createAuditReading({ db, flush: async () => {} })
const nextId = createUuidSequence()
let nowMs = T0

/** One user, whom so much happens to, a second after what was before. */
const newHistory = () => {
  const userId = randomUUID()
  const add = (type: AuditType, count = 1): Promise<void> =>
    db.inTransaction(async (transaction) => {
      for (let added = 0; added < count; added += 1) {
        nowMs += 1000
        const id = nextId(nowMs)
        const row = { id, atMs: nowMs, type, userId, actor: 'user', details: '{}', ...NOTHING_MORE }
        const isCounted = type === 'login.failed' || type === 'login.limited'
        await insertAuditEvent(transaction, row, isCounted ? `a minute/${id}` : null)
      }
    })
  const shown = async (): Promise<string[]> => {
    const rows = await reading.latestOf(userId, { types: shownActivity, limit: 10 })
    assert.ok(rows.every((row) => row.userId === userId))
    for (const [index, { id }] of rows.slice(1).entries()) assert.ok(id < (rows[index]?.id ?? ''))
    return rows.map(({ type }) => type)
  }
  return { userId, add, shown }
}

const NOTHING_MORE = { address: undefined, userAgent: undefined, requestId: undefined, sessionId: undefined }

const times = <Each>(count: number, each: Each): Each[] => Array.from({ length: count }, () => each)

describe('the latest records of a user', () => {
  test('stay, whatever strangers do: they take what the others leave', async () => {
    const { add, shown } = newHistory()
    for (const type of ['signup', 'login.succeeded', 'logout'] as const) await add(type)
    await add('login.limited', 1100)
    assert.deepEqual(await shown(), [...times(7, 'login.limited'), 'logout', 'login.succeeded', 'signup'])
  })

  test('leave three places to strangers where there are ten others', async () => {
    const { add, shown } = newHistory()
    await add('password.changed', 3)
    await add('username.changed', 7)
    await add('login.failed', 6)
    await add('login.limited', 6)
    assert.deepEqual(await shown(), [...times(3, 'login.limited'), ...times(7, 'username.changed')])
    await add('login.succeeded', 9)
    assert.deepEqual(await shown(), [...times(9, 'login.succeeded'), 'login.limited'])
    await add('login.succeeded')
    assert.deepEqual(await shown(), times(10, 'login.succeeded'))
  })

  test('are failed logins alone where there is nothing else', async () => {
    const { add, shown } = newHistory()
    assert.deepEqual(await shown(), [])
    await add('login.failed', 12)
    assert.deepEqual(await shown(), times(10, 'login.failed'))
  })

  test('are not pushed out by those that nobody is shown', async () => {
    const { add, shown } = newHistory()
    await add('signup')
    await add('login.failed')
    await add('webhook.given_up', 40)
    assert.deepEqual(await shown(), ['login.failed', 'signup'])
    await add('username.changed', 10)
    await add('webhook.given_up', 40)
    assert.deepEqual(await shown(), times(10, 'username.changed'))
  })

  test('begin at the last take-over, however much happened since', async () => {
    const { add, shown } = newHistory()
    await add('identity.taken_over')
    await add('signup')
    await add('login.failed', 3)
    await add('identity.taken_over')
    assert.deepEqual(await shown(), ['identity.taken_over'])
    await add('login.limited', 2)
    assert.deepEqual(await shown(), ['login.limited', 'login.limited', 'identity.taken_over'])
    await add('login.limited', 40)
    assert.deepEqual(await shown(), [...times(9, 'login.limited'), 'identity.taken_over'])
    await add('login.succeeded', 9)
    assert.deepEqual(await shown(), [...times(9, 'login.succeeded'), 'login.limited'])
  })

  test('from before a take-over are not shown when it is not among them, nor are failed logins', async () => {
    const { add, shown } = newHistory()
    await add('signup')
    await add('login.failed', 12)
    await add('identity.taken_over')
    await add('login.succeeded', 10)
    await add('webhook.given_up', 30)
    assert.deepEqual(await shown(), times(10, 'login.succeeded'))
  })

  test('are found by an index without failed logins, and these by that of the user', async () => {
    const plans: string[] = []
    // On the few rows of a test, PostgreSQL takes no index if it may choose.
    const picky = await open({ session: { enable_seqscan: 'off' } })
    const all: Database['all'] = async (sql, ...values) => {
      const explain = db.dialect === 'sqlite' ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN'
      const rows = await picky.all<Record<string, unknown>>(`${explain} ${sql}`, ...values)
      plans.push(rows.map((row) => row.detail ?? row['QUERY PLAN']).join('\n'))
      return []
    }
    const explaining = createAuditReading({ db: { ...picky, all }, flush: async () => {} })
    await explaining.latestOf(newHistory().userId, { types: shownActivity, limit: 10 })
    const indexes = [...plans.join('\n').matchAll(/(?:using|index|on) "?(audit_events[._]\w+)/gi)].map(
      ([, name]) => name,
    )
    assert.deepEqual(indexes, ['audit_events_of_user_untallied', 'audit_events_of_user'], plans.join('\n'))
  })
})
