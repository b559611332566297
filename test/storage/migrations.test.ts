// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, describe, test } from 'node:test'
import { systemClock } from '../../src/lib/time.ts'
import { findPendingMigrations, migrate } from '../../src/storage/migrations.ts'
import { signedUp } from '../support/client/accounts.ts'
import { openDatabase } from '../support/database/database.ts'
import { databaseChoice } from '../support/database/database-choice.ts'
import { databasePath } from '../support/database/database-file.ts'
import { emptyDatabaseSettings } from '../support/database/folder-database.ts'
import { type Environment, runSvc, spawnSvc } from '../support/service/command.ts'
import { type ServiceProcess, startServiceProcess } from '../support/service/service-process.ts'
import { runCommand } from '../support/service/warm-command.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { eventually } from '../support/wait.ts'
import { emptyDatabase } from './databases.ts'
import { laterVersion } from './later-version.ts'

const ALL = ['001-schema']

/** An empty installation that has never been opened, and a function that runs commands in it. */
const installation = async (t: TestContext) => {
  const cwd = temporaryDirectory(t)
  const env = await emptyDatabaseSettings(cwd, t)
  const svc = async (args: string[], run: typeof runSvc = runCommand) => {
    const result = await run({ args, cwd, env })
    assert.doesNotMatch(result.stderr, /\n\s+at /)
    return result
  }
  return { cwd, env, svc }
}

const migrationsIn = async (cwd: string, env: Environment, t: TestContext): Promise<unknown[]> => {
  const database = await openDatabase({ directory: cwd, env } as ServiceProcess, t)
  return (await database.rows('SELECT name FROM migrations ORDER BY name')).map(({ name }) => name)
}

describe('migrations', { concurrency: 2 }, () => {
  test('six handles at once on an empty database: each migration is applied once, and all handles find the schema', async (t) => {
    for (let round = 0; round < 2; round++) {
      const place = await emptyDatabase(t)
      const handles = await Promise.all(Array.from({ length: 6 }, () => place.open()))
      const applied = await Promise.all(handles.map((db) => migrate(db, systemClock)))
      assert.deepEqual(applied.flat().sort(), ALL)
      for (const db of handles) {
        assert.deepEqual(await findPendingMigrations(db.dialect, db), [])
        assert.deepEqual(await migrate(db, systemClock), [])
        assert.equal((await db.all('SELECT id FROM users')).length, 0)
      }
    }
  })

  test('two services that start at once on an empty database serve one schema, with one key', async (t) => {
    const { cwd, env: settings } = await installation(t)
    const env = { SVC_BASE_URL: 'http://svc.example', ...settings }
    const services = await Promise.all([startServiceProcess({ cwd, env, t }), startServiceProcess({ cwd, env, t })])
    const [first, second] = services
    assert.ok(first && second)
    assert.deepEqual(await migrationsIn(cwd, first.env, t), ALL)
    const database = await openDatabase(first, t)
    assert.equal((await database.rows('SELECT id FROM signing_keys')).length, 1)
    for (const service of services) await signedUp(service)
    assert.equal((await database.rows('SELECT id FROM users')).length, 2)
  })

  test('three commands at once on an empty database: all succeed, each migration is applied once', async (t) => {
    const { cwd, env, svc } = await installation(t)
    const results = await Promise.all(Array.from({ length: 3 }, () => svc(['migrate'], runSvc)))
    for (const { code, stderr } of results) assert.equal(code, 0, stderr)
    assert.deepEqual(await migrationsIn(cwd, env, t), ALL)
    assert.equal((await svc(['migrate', '--check'])).code, 0)
  })

  test('svc migrate --check changes nothing, says what is pending and exits 1; after svc migrate it exits 0', async (t) => {
    const { svc } = await installation(t)
    for (let time = 0; time < 2; time++) {
      const check = await svc(['migrate', '--check'])
      assert.equal(check.code, 1, check.stderr)
      assert.match(check.stdout, /001-schema/)
    }
    const applied = await svc(['migrate', '--json'])
    assert.deepEqual(JSON.parse(applied.stdout), { applied: ALL })
    const check = await svc(['migrate', '--check', '--json'])
    assert.equal(check.code, 0)
    assert.deepEqual(JSON.parse(check.stdout), { pending: [] })
    assert.deepEqual(JSON.parse((await svc(['migrate', '--json'])).stdout), { applied: [] })
  })

  test('svc migrate killed at any point leaves nothing that blocks the next run', async (t) => {
    for (let trial = 0; trial < 3; trial++) {
      const { cwd, env, svc } = await installation(t)
      const child = spawnSvc({ args: ['migrate'], cwd, env })
      const ended = new Promise((resolve) => child.once('close', resolve))
      setTimeout(() => child.kill('SIGKILL'), 120 + trial * 60)
      await ended
      const { code, stderr } = await svc(['migrate'])
      assert.equal(code, 0, stderr)
      assert.deepEqual(await migrationsIn(cwd, env, t), ALL)
    }
  })
})

// Takes long enough to be killed while it runs, on SQLite by counting.
const SLOW = {
  sqlite: `-- works with: 001-schema
CREATE TABLE later (id BIGINT);
INSERT INTO later WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 4000000)
  SELECT n FROM numbers WHERE n % 1000 = 0;
ALTER TABLE users ADD COLUMN nickname TEXT;
`,
  postgres: `-- works with: 001-schema
CREATE TABLE later (id BIGINT);
INSERT INTO later SELECT 1 FROM pg_sleep(1.5);
ALTER TABLE users ADD COLUMN nickname TEXT;
`,
}

/** Whether a process holds the write lock of the SQLite database in this folder. */
const isLocked = (cwd: string): boolean => {
  const database = new DatabaseSync(databasePath(cwd))
  try {
    database.exec('PRAGMA busy_timeout = 0; BEGIN IMMEDIATE; ROLLBACK')
    return false
  } catch {
    return true
  } finally {
    database.close()
  }
}

test('a migration that is killed half-way leaves no trace, and the next start applies it completely', async (t) => {
  const { cwd, env, svc } = await installation(t)
  const later = laterVersion({ '900-later': SLOW })
  assert.equal((await svc(['migrate'])).code, 0)
  const database = await openDatabase({ directory: cwd, env } as ServiceProcess, t)
  const isAtWork = async (): Promise<boolean> => {
    if (databaseChoice === 'sqlite') return isLocked(cwd)
    const asleep = `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'`
    return (await database.rows(asleep)).length > 0
  }
  const child = later.spawnSvc({ args: ['migrate'], cwd, env })
  const ended = new Promise((resolve) => child.once('close', (code) => resolve(code)))
  await eventually('the migration is at work', isAtWork)
  child.kill('SIGKILL')
  assert.equal(await ended, null, 'it was killed before its end')
  const check = await svc(['migrate', '--check'], later.runSvc)
  assert.equal(check.code, 1)
  assert.match(check.stdout, /Pending: 900-later\n/)
  const service = await later.startService({ cwd, env, t })
  await signedUp(service)
  assert.deepEqual(await migrationsIn(cwd, env, t), [...ALL, '900-later'])
  assert.equal((await database.rows('SELECT id FROM later')).length, databaseChoice === 'sqlite' ? 4000 : 1)
  assert.equal((await database.rows('SELECT nickname FROM users')).length, 1)
})

test('a database of an unreleased version is refused, with a sentence that says how to take its users along', async (t) => {
  const { cwd, env, svc } = await installation(t)
  assert.equal((await svc(['migrate'])).code, 0)
  const database = await openDatabase({ directory: cwd, env } as ServiceProcess, t)
  await database.rows(`UPDATE migrations SET name = '001-beginning' WHERE name = ? RETURNING name`, '001-schema')
  for (const args of [['serve'], ['migrate'], ['migrate', '--check'], ['users', 'list']]) {
    const { code, stderr } = await svc(args)
    assert.equal(code, 1, `svc ${args.join(' ')}: ${stderr}`)
    assert.match(
      stderr,
      /before 0\.1\.0.*`svc users export` of that version, and `svc users import` into a new database/,
    )
  }
  assert.deepEqual(await migrationsIn(cwd, env, t), ['001-beginning'])
})
