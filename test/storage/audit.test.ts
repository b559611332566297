// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { AUDIT_TYPES, type AuditType } from '../../src/audit/audit-event.ts'
import { createAudit } from '../../src/audit/audit.ts'
import type { Caller } from '../../src/lib/caller.ts'
import { turnedClock } from '../support/clock/turned-clock.ts'
import { freshDatabase } from './databases.ts'

const { db } = await freshDatabase()
const clock = turnedClock()
const audit = createAudit({ clock, actor: 'system' })

const USER = '01900000-0000-7000-8000-000000000001'

const rows = () => db.all<Record<string, unknown>>('SELECT * FROM audit_events ORDER BY id')
const record = (type: AuditType, caller?: Caller) =>
  db.inTransaction((transaction) => audit.record(transaction, { type, userId: USER }, caller))

describe('records of what happened', () => {
  test('name the actor, the address, the request and the session', async () => {
    const caller = {
      device: { userAgent: 'curl/8', address: '192.0.2.1' },
      actor: 'api:shop',
      requestId: 'request',
      session: { sessionId: 'session' },
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
    await db.run('DELETE FROM audit_events')
    for (const type of AUDIT_TYPES) await record(type)
    assert.deepEqual(
      (await rows()).map(({ type }) => type),
      AUDIT_TYPES,
    )
  })

  test('of what is rolled back, there is none', async () => {
    await db.run('DELETE FROM audit_events')
    const failing = db.inTransaction(async (transaction) => {
      await audit.record(transaction, { type: 'logout', userId: USER })
      throw new Error('the action fails')
    })
    await assert.rejects(failing, /the action fails/)
    assert.deepEqual(await rows(), [])
  })

  test('name the service itself where there is no caller, and the user behind a request', async () => {
    await db.run('DELETE FROM audit_events')
    await record('logout')
    await record('logout', { device: { userAgent: '', address: '' } })
    const found = (await rows()).map(({ actor, address, user_agent: userAgent }) => ({ actor, address, userAgent }))
    assert.deepEqual(found, [
      { actor: 'system', address: null, userAgent: null },
      { actor: 'user', address: null, userAgent: null },
    ])
  })

  test('keep of a user agent what can be shown, and no more than its beginning', async () => {
    await db.run('DELETE FROM audit_events')
    const userAgent = `Evil\x1b[2J\x9b31m\x7f\u202e Straße ${'x'.repeat(9000)}`
    await record('logout', { device: { userAgent, address: '192.0.2.1' } })
    const [row] = await rows()
    assert.equal(row?.user_agent, `Evil?[2J?31m?? Straße ${'x'.repeat(9000)}`.slice(0, 256))
  })
})
