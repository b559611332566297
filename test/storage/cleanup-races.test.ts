// Runs on PostgreSQL.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deleteRequestsExpiredBy } from '../../src/api-keys/idempotent-request-store.ts'
import { dropExpiredMessages, forgetMessagesClosedBefore, mailOutbox } from '../../src/mail/outbox-store.ts'
import { deleteEndedCounters, deleteExcessCounters } from '../../src/limits/counter-store.ts'
import type { Database } from '../../src/storage/database.ts'
import { eventOutbox } from '../../src/webhooks/outbox-store.ts'
import { eventually } from '../support/wait.ts'
import { databaseChoice } from '../support/database/database-choice.ts'
import { freshDatabase } from './databases.ts'

interface Race {
  title: string
  /** What there was. */
  insert: string
  /** What happens to it in a transaction that cleanup waits for. */
  change: string
  cleanUp: (db: Database) => Promise<number>
  /** Finds the row as the transaction has left it. */
  left: string
}

const mailRow = (state: string, expiresAt: number, closedAt: number | string): string =>
  `INSERT INTO mail_messages (id, purpose, recipient, content_sealed, state, created_at, expires_at, attempts, next_attempt_at, closed_at)
   VALUES ('raced', 'reset', 'ada@example.com', 'sealed', '${state}', 1, ${expiresAt}, 1, 1, ${closedAt})`

const REOPEN_MAIL = `UPDATE mail_messages SET state = 'waiting', closed_at = NULL WHERE id = 'raced'`
const OPEN_MAIL = `SELECT id FROM mail_messages WHERE state = 'waiting' AND recipient = 'ada@example.com'`

const RACES: Race[] = [
  {
    title: 'a counter that begins again',
    insert: `INSERT INTO counters (id, count, ends_at) VALUES ('raced', 9, 1)`,
    change: `UPDATE counters SET count = 1, ends_at = CAST(EXTRACT(EPOCH FROM now()) * 1000 AS BIGINT) + 900000 WHERE id = 'raced'`,
    cleanUp: (db) => deleteEndedCounters(db, Date.now()),
    left: 'SELECT id FROM counters WHERE count = 1',
  },
  {
    title: 'a counter with few tries that gets more, in a table that is full',
    insert: `INSERT INTO counters (id, count, ends_at) VALUES ('raced', 1, 1), ('other', 2, 1)`,
    change: `UPDATE counters SET count = 9 WHERE id = 'raced'`,
    cleanUp: (db) => deleteExcessCounters(db, 1),
    left: 'SELECT id FROM counters',
  },
  {
    title: 'a webhook event that is to be sent again',
    insert: `INSERT INTO webhook_events (id, type, user_id, created_at, body, attempts, next_attempt_at, closed_at)
      VALUES ('raced', 'user.created', 'ada', 1, '{}', 1, 1, 1)`,
    change: `UPDATE webhook_events SET closed_at = NULL WHERE id = 'raced'`,
    cleanUp: (db) => eventOutbox.deleteClosedBefore(db, 2, 10),
    left: 'SELECT id FROM webhook_events WHERE closed_at IS NULL',
  },
  {
    title: 'a message that is to be sent again, instead of deleted',
    insert: mailRow('sent', 1, 1),
    change: REOPEN_MAIL,
    cleanUp: (db) => mailOutbox.deleteClosedBefore(db, 2, 10),
    left: OPEN_MAIL,
  },
  {
    title: 'a message that is to be sent again, instead of forgotten',
    insert: mailRow('sent', 1, 1),
    change: REOPEN_MAIL,
    cleanUp: (db) => forgetMessagesClosedBefore(db, 2, 10),
    left: OPEN_MAIL,
  },
  {
    title: 'a message that is sent at the end of its time',
    insert: mailRow('waiting', 1, 'NULL'),
    change: `UPDATE mail_messages SET state = 'sent', closed_at = 1 WHERE id = 'raced'`,
    cleanUp: (db) => dropExpiredMessages(db, 2, 10),
    left: `SELECT id FROM mail_messages WHERE state = 'sent'`,
  },
  {
    title: 'a request that is made again after its answer has expired',
    insert: `INSERT INTO idempotent_requests (id, api_key_id, request_hash, claimed_until, created_at, expires_at)
      VALUES ('raced', 'key', 'hash', 1, 1, 1)`,
    change: `UPDATE idempotent_requests SET expires_at = CAST(EXTRACT(EPOCH FROM now()) * 1000 AS BIGINT) + 900000 WHERE id = 'raced'`,
    cleanUp: (db) => deleteRequestsExpiredBy(db, Date.now(), 10),
    left: 'SELECT id FROM idempotent_requests',
  },
]

const WAITING = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`

const registerTests = async () => {
  const { db, open } = await freshDatabase()
  const other = await open()
  await db.run(`INSERT INTO api_keys (id, name, key_hash, scopes, created_at) VALUES ('key', 'key', 'hash', '[]', 1)`)

  for (const { title, insert, change, cleanUp, left } of RACES) {
    test(`cleanup that waits for ${title} leaves it`, async () => {
      for (const table of ['counters', 'mail_messages']) await db.run(`DELETE FROM ${table}`)
      await db.run(insert)
      const cleaned = await other.inTransaction(async (transaction) => {
        await transaction.run(change)
        const cleanup = cleanUp(db)
        await eventually('cleanup waits', async () => (await db.all(WAITING)).length > 0)
        // It ends after this transaction.
        return { cleanup }
      })
      await cleaned.cleanup
      assert.deepEqual(await db.all(left), [{ id: 'raced' }])
    })
  }
}

// SQLite has one writer at a time.
if (databaseChoice === 'postgres') await registerTests()
