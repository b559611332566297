// Runs on PostgreSQL.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test, type TestContext } from 'node:test'
import { hash as bcrypt } from '@node-rs/bcrypt'
import { newPerson } from '../../support/client/accounts.ts'
import { assertCanLogIn } from '../../support/client/assertions.ts'
import { afterwards } from '../../support/cleanup.ts'
import { postgresUrl } from '../../support/database/database-choice.ts'
import { KNOWN_HASHES } from '../../support/hashes/known-hashes.ts'
import { createDatabase, queryOnce } from '../../support/postgres/postgres-databases.ts'
import { exportLines, importJson, type Line } from '../../support/service/imports.ts'
import { startService } from '../../support/service/service.ts'

const DOCUMENT = readFileSync(new URL('../../../docs/move-users.md', import.meta.url), 'utf8')
const service = await startService({ env: { SVC_NAMES: 'optional' } })

/** The query of a section, as it is printed there. */
const queryOf = (system: string): string => {
  const section = DOCUMENT.split(`### From ${system}\n`)[1]?.split('\n### ')[0]
  const query = /```sql\n([^]*?)```/.exec(section ?? '')?.[1]
  assert.ok(query, `there is no query for ${system}`)
  return query
}

/** The lines that the query prints in a database with these tables and rows. */
const linesOf = async (t: TestContext, system: string, statements: string[]): Promise<Line[]> => {
  const { url, drop } = await createDatabase(await postgresUrl())
  afterwards(t, drop)
  for (const statement of statements) await queryOnce(url, statement)
  const rows = await queryOnce<{ jsonb_build_object: Line }>(url, queryOf(system))
  return rows.map((row) => row.jsonb_build_object)
}

const imported = async (lines: Line[]): Promise<Line[]> => {
  const result = await importJson(service, lines)
  assert.deepEqual([result.imported, result.failed], [lines.length, 0], result.stderr)
  const emails = new Set(lines.map(({ email }) => email))
  return (await exportLines(service)).filter(({ email }) => emails.has(email))
}

const ACCOUNT = `CREATE TABLE account (id text PRIMARY KEY, "accountId" text NOT NULL, "providerId" text NOT NULL,
  "userId" text NOT NULL, password text, "createdAt" timestamptz NOT NULL DEFAULT now(), "updatedAt" timestamptz)`

for (const [plugins, columns] of [
  ['no plugins', ''],
  ['the plugins admin and username', ', role text, banned boolean, "banExpires" timestamptz, username text'],
] as const) {
  test(`Better Auth with ${plugins}`, async (t) => {
    const known = Object.entries(KNOWN_HASHES).find(([source]) => /better.auth/i.test(source))?.[1][0]
    assert.ok(known)
    const { email, username } = newPerson()
    const lines = await linesOf(t, 'Better Auth', [
      `CREATE TABLE "user" (id text PRIMARY KEY, name text NOT NULL, email text NOT NULL UNIQUE,
        "emailVerified" boolean NOT NULL, image text, "createdAt" timestamptz NOT NULL, "updatedAt" timestamptz${columns})`,
      ACCOUNT,
      `INSERT INTO "user" (id, name, email, "emailVerified", "createdAt")
        VALUES ('abc', 'A "quoted" \\ name', '${email}', true, '2020-01-02 03:04:05.678+00')`,
      ...(columns ? [`UPDATE "user" SET role = 'admin, editor', banned = false, username = '${username}'`] : []),
      `INSERT INTO account (id, "accountId", "providerId", "userId", password)
        VALUES ('1', 'abc', 'credential', 'abc', '${known.hash}'), ('2', '99${username}', 'google', 'abc', NULL),
        ('3', '77', 'facebook', 'abc', NULL)`,
    ])
    const [user] = await imported(lines)
    assert.deepEqual(
      { ...user, id: '', username: columns ? user?.username : '' },
      {
        id: '',
        email,
        name: 'A "quoted" \\ name',
        username: columns ? username : '',
        roles: columns ? ['admin', 'editor'] : [],
        password_hash: known.hash,
        email_verified: true,
        disabled: false,
        created_at: '2020-01-02T03:04:05.678Z',
        identities: [{ provider: 'google', issuer: 'https://accounts.google.com', subject: `99${username}` }],
      },
    )
    await assertCanLogIn(service, { email, password: String(known.password), username })
  })
}

test('Supabase', async (t) => {
  const [one, two] = [newPerson(), newPerson()]
  const ids = ['5bbc934a-c1ac-4404-b855-977959858079', '6bbc934a-c1ac-4404-b855-977959858079']
  const lines = await linesOf(t, 'Supabase', [
    'CREATE SCHEMA auth',
    `CREATE TABLE auth.users (id uuid PRIMARY KEY, email varchar(255), encrypted_password varchar(255),
      email_confirmed_at timestamptz, created_at timestamptz, banned_until timestamptz, deleted_at timestamptz,
      is_anonymous boolean NOT NULL DEFAULT false, raw_user_meta_data jsonb)`,
    `CREATE TABLE auth.identities (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), provider_id text NOT NULL,
      user_id uuid NOT NULL, identity_data jsonb NOT NULL DEFAULT '{}', provider text NOT NULL)`,
    `INSERT INTO auth.users VALUES
      ('${ids[0]}', '${one.email}', '${await bcrypt(one.password, 4)}', now(), '2020-01-02 03:04:05.678901+02', NULL),
      ('${ids[1]}', '${two.email}', '', NULL, '2020-01-02 03:04:05+00', now() + interval '1 year'),
      (gen_random_uuid(), NULL, NULL, NULL, now(), NULL)`,
    `UPDATE auth.users SET raw_user_meta_data = '{"full_name": "Ada Lovelace", "name": "Ada"}' WHERE id = '${ids[0]}'`,
    `UPDATE auth.users SET raw_user_meta_data = '{"name": "${'G'.repeat(150)}"}' WHERE id = '${ids[1]}'`,
    `INSERT INTO auth.users (id, email, deleted_at) VALUES (gen_random_uuid(), 'gone@example.com', now())`,
    `INSERT INTO auth.identities (provider_id, user_id, provider)
      VALUES ('${ids[0]}', '${ids[0]}', 'email'), ('112233', '${ids[1]}', 'google'), ('4', '${ids[1]}', 'twitter')`,
  ])
  const [first, second] = await imported(lines)
  assert.deepEqual(
    [first?.id, first?.email_verified, first?.disabled, first?.created_at],
    [ids[0], true, false, '2020-01-02T01:04:05.678Z'],
  )
  assert.deepEqual([first?.name, second?.name], ['Ada Lovelace', 'G'.repeat(100)])
  assert.deepEqual([second?.id, second?.email_verified, second?.disabled], [ids[1], false, true])
  assert.deepEqual(second?.identities, [
    { provider: 'google', issuer: 'https://accounts.google.com', subject: '112233' },
  ])
  await assertCanLogIn(service, one)
})
