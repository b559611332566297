// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import type { Database } from '../../src/storage/database.ts'
import { TABLES } from '../../src/storage/tables.ts'
import { freshDatabase } from './databases.ts'

const FOLDER = new URL('../../src/storage/migrations/', import.meta.url)

/** A column: its name, whether it may be null, and its place in the primary key. */
type Column = { name: string; optional: boolean; key: boolean }

const COLUMNS = {
  sqlite: `SELECT m.name AS "table", c.name AS name, c."notnull" = 0 AND c.pk = 0 AS optional, c.pk > 0 AS "key"
    FROM sqlite_master AS m, pragma_table_info(m.name) AS c
    WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' AND m.name NOT LIKE 'user_search%' ORDER BY m.name, c.cid`,
  postgres: `SELECT c.table_name AS "table", c.column_name AS name, c.is_nullable = 'YES' AS optional,
      EXISTS (SELECT 1 FROM information_schema.key_column_usage AS k
        JOIN information_schema.table_constraints AS t USING (constraint_schema, constraint_name)
        WHERE t.constraint_type = 'PRIMARY KEY' AND k.table_schema = c.table_schema
          AND k.table_name = c.table_name AND k.column_name = c.column_name) AS "key"
    FROM information_schema.columns AS c WHERE c.table_schema = current_schema()
    ORDER BY c.table_name COLLATE "C", c.ordinal_position`,
}

const INDEXES = {
  sqlite: `SELECT name FROM sqlite_master WHERE type = 'index' AND name NOT LIKE 'sqlite_%' ORDER BY name`,
  postgres: `SELECT indexname AS name FROM pg_indexes WHERE schemaname = current_schema()
    AND indexname NOT LIKE '%.%' AND indexname NOT LIKE '%_pkey' ORDER BY indexname COLLATE "C"`,
}

const schemaOf = async (db: Database): Promise<Record<string, Column[]>> => {
  const rows = await db.all<{ table: string; name: string; optional: unknown; key: unknown }>(COLUMNS[db.dialect])
  const tables: Record<string, Column[]> = {}
  for (const { table, name, optional, key } of rows)
    (tables[table] ??= []).push({ name, optional: Boolean(optional), key: Boolean(key) })
  return tables
}

describe('the schema', () => {
  test('is the same on every database: tables, columns and their order, keys, nullability', async (t) => {
    const { db } = await freshDatabase(t)
    const migrations = { name: 'migrations', columns: ['name', 'applied_at'], optionalColumns: [] }
    const expected = [...TABLES, migrations].map(({ name, columns, optionalColumns }) => [
      name,
      columns.map((column, index) => ({
        name: column,
        optional: optionalColumns.some((optional) => optional === column),
        key: index === 0,
      })),
    ])
    assert.deepEqual(await schemaOf(db), Object.fromEntries(expected))
  })

  test('has the same indexes on every database', async (t) => {
    const { db } = await freshDatabase(t)
    const rows = await db.all<{ name: string }>(INDEXES[db.dialect])
    assert.deepEqual(
      rows.map(({ name }) => name),
      [
        'administrator_passkeys_of_administrator',
        'administrator_sessions_of_administrator',
        'api_keys_by_name',
        'audit_events_by_tally',
        'audit_events_of_actor',
        'audit_events_of_address',
        'audit_events_of_request',
        'audit_events_of_type',
        'audit_events_of_user',
        'audit_events_of_user_untallied',
        'authorization_codes_expired',
        'authorization_codes_of_client',
        'authorization_codes_of_session',
        'authorization_codes_of_user',
        'clients_unused',
        'consents_of_client',
        'consents_of_user',
        'counters_ended',
        'grants_expired',
        'grants_of_client',
        'grants_of_session',
        'grants_of_user',
        'idempotent_requests_expired',
        'idempotent_requests_of_key',
        'identities_of_user',
        'known_browsers_of_device',
        'known_browsers_of_user',
        'links_expired',
        'links_of_email',
        'links_of_user',
        'logout_tokens_due',
        'logout_tokens_of_client',
        'mail_codes_of_browser',
        'mail_messages_closed',
        'mail_messages_due',
        'mail_messages_failed',
        'mail_messages_of_user',
        'passkeys_of_user',
        'pending_links_of_user',
        'pending_signups_of_email',
        'pending_signups_of_link',
        'recovery_codes_of_user',
        'replaced_sessions_of_successor',
        'reserved_emails_of_user',
        'sessions_of_user',
        'used_tokens_expired',
        'users_by_creation',
        'users_by_position',
        'users_by_update',
        'users_by_user_handle',
        'users_disabled',
        'users_unverified',
        'users_with_roles',
        'users_without_position',
        'users_without_session',
        'webhook_attempts_of_event',
        'webhook_events_closed',
        'webhook_events_due',
        'webhook_events_failed',
        'webhook_events_open',
      ],
    )
  })

  test('records which versions of svc it works with', async (t) => {
    const { db } = await freshDatabase(t)
    const row = await db.get<{ value: string }>(`SELECT value FROM installation WHERE name = 'schema works with'`)
    const applied = await db.all<{ name: string }>('SELECT name FROM migrations')
    assert.ok(applied.some(({ name }) => name === row?.value))
  })

  test('comes from migrations for both databases, and each after the first says which versions of svc it works with', () => {
    const files = readdirSync(FOLDER).sort()
    const names = [...new Set(files.map((file) => file.replace(/\..*$/, '')))]
    for (const name of names) {
      const own = files.filter((file) => file.startsWith(`${name}.`))
      assert.ok(own.length === 1 ? own[0] === `${name}.sql` : own.join() === `${name}.postgres.sql,${name}.sqlite.sql`)
    }
    for (const file of files.filter((each) => !each.startsWith(`${names[0]}.`))) {
      const [, oldest = ''] = /^-- works with: (\S+)\n/.exec(readFileSync(new URL(file, FOLDER), 'utf8')) ?? []
      assert.ok(names.includes(oldest) && oldest <= file, `${file} works with ${oldest}`)
    }
  })
})
