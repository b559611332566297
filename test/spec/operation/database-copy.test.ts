// Runs once.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, describe, test } from 'node:test'
import { COPIED_ROWS } from '../../../src/storage/copy/pages.ts'
import { TABLES } from '../../../src/storage/tables.ts'
import { afterwards } from '../../support/cleanup.ts'
import { currentUser, signedUp } from '../../support/client/accounts.ts'
import { assertCanLogIn, assertRedirect, assertSignedIn } from '../../support/client/assertions.ts'
import { openDatabase, rootSecret } from '../../support/database/database.ts'
import { databaseChoice, postgresUrl } from '../../support/database/database-choice.ts'
import { databasePath } from '../../support/database/database-file.ts'
import { createDatabase, queryOnce } from '../../support/postgres/postgres-databases.ts'
import { startSignInByMail, typeCode } from '../../support/recovery/sign-in-by-mail.ts'
import { storeCodes, storePasskey } from '../../support/second-factor/stored-factors.ts'
import type { CommandResult } from '../../support/service/command.ts'
import { type Service, startService } from '../../support/service/service.ts'
import { runCommand } from '../../support/service/warm-command.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import path from 'node:path'

type Rows = Record<string, unknown>[]

/** The source or the target of a copy, as another program sees it. */
type Place = { url: string; rows(sql: string): Promise<Rows> }

/** Another secret than that of the source. */
const OTHER_SECRET = randomBytes(32).toString('hex')

// A folder for commands that leave no files in it.
const cwd = temporaryDirectory()

const KINDS = ['sqlite', 'postgres'] as const

const sqliteAt = (file: string): Place => ({
  url: `sqlite:${file}`,
  rows: async (sql) => {
    if (!existsSync(file)) return []
    const database = new DatabaseSync(file)
    try {
      database.exec('PRAGMA busy_timeout = 5000; PRAGMA foreign_keys = ON')
      return database.prepare(sql).all()
    } finally {
      database.close()
    }
  },
})

const postgresAt = (url: string): Place => ({ url, rows: (sql) => queryOnce(url, sql) })

/** A database with nothing in it. */
const emptyPlace = async (t: TestContext, kind: (typeof KINDS)[number]): Promise<Place> => {
  if (kind === 'sqlite') return sqliteAt(path.join(temporaryDirectory(t), 'copy.db'))
  const { url, drop } = await createDatabase(await postgresUrl())
  afterwards(t, drop)
  return postgresAt(url)
}

const placeOf = ({ env, directory }: Service): Place =>
  env.SVC_DATABASE_URL ? postgresAt(env.SVC_DATABASE_URL) : sqliteAt(databasePath(directory))

const copyArgs = (from: Place, to: Place) => ['database', 'copy', '--from', from.url, '--to', to.url]

const copy = (from: Place, to: Place, args: string[] = []): Promise<CommandResult> =>
  runCommand({ args: [...copyArgs(from, to), ...args], cwd })

/** A copy that must succeed, and its result from `--json`. */
const copied = async (from: Place, to: Place) => {
  const { code, stdout, stderr } = await copy(from, to, ['--json'])
  assert.equal(code, 0, stderr)
  return JSON.parse(stdout) as {
    equal: boolean
    tables: { table: string; source: { rows: number; sha256: string }; target: object; equal: boolean }[]
  }
}

/** Everything that a copy includes, read without the code of the copy. */
const contentOf = async (place: Place): Promise<Record<string, string[]>> => {
  const content: Record<string, string[]> = {}
  for (const { name } of TABLES) {
    const only = COPIED_ROWS[name]
    const rows = await place.rows(`SELECT * FROM ${name}${only ? ` WHERE ${only}` : ''}`)
    content[name] = rows
      .map((row) => JSON.stringify(Object.entries(row).sort(([left], [right]) => (left < right ? -1 : 1))))
      .sort()
  }
  return content
}

const countOf = async (place: Place, table: string): Promise<number> => {
  const [row] = await place.rows(`SELECT count(*) AS count FROM ${table}`)
  return Number(row?.count ?? 0)
}

const numbers = (count: number) =>
  `WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})`

/** More users than two pages of a copy include. */
const SEVERAL_PAGES = 2345
/** More rows than one of its transactions includes. */
const SEVERAL_TRANSACTIONS = 20_500

/** Fills a database with users, of whom the first thousands have a session. */
const fill = async (place: Place, count: number): Promise<void> => {
  await place.rows(`${numbers(count)} INSERT INTO users
    (id, email, email_lower, username, password_hash, roles, disabled, created_at, updated_at)
    SELECT 'u' || n, n || '@example.com', n || '@example.com', 'name' || n, NULL, '[]', 0, 1700000000000 + n, 1
    FROM numbers WHERE true RETURNING 1 AS one`)
  await place.rows(`${numbers(Math.min(count, 3000))} INSERT INTO sessions (id, user_id, salt, generation, replaced_at, created_at,
      last_seen_at, expires_at, absolute_expires_at, user_agent, address, device_hash)
    SELECT 's' || n, 'u' || n, 'salt', 1, '[]', 1, 2, 3, 9007199254740991, 'Agent', '203.0.113.7', 'hash'
    FROM numbers WHERE true RETURNING 1 AS one`)
}

/** Rows with difficult keys and texts. */
const ODD = ['A', 'a', 'Z', 'ä', 'ß', '_', '%', "'", '\\', '\uffff', '😀', 'a b', ' ', 'U1', '"quoted"', 'ⅷ']

const addOddRows = async (place: Place): Promise<void> => {
  const quoted = ODD.map((text) => `'${text.replaceAll("'", "''")}'`)
  await place.rows(`INSERT INTO users (id, email, email_lower, username, password_hash, roles, disabled, created_at,
      updated_at)
    VALUES ${quoted.map((id, n) => `(${id}, 'odd${n}@example.com', ${id}, ${id}, '', '["a"]', 1, ${-n}, ${n})`).join(', ')}
    RETURNING 1 AS one`)
  await place.rows(`INSERT INTO webhook_events (id, type, user_id, created_at, body, attempts, next_attempt_at, status,
      problem, delivered_at, closed_at)
    VALUES ${quoted.map((id) => `(${id}, 'user.created', 'nobody', 1, '{"a":${'1'.repeat(400)}}', 0, 0, NULL, NULL, NULL, NULL)`).join(', ')}
    RETURNING 1 AS one`)
}

/** A SQLite file with a new installation: schema and signing key. */
const makeFile = async (): Promise<string> => {
  const service = await startService({ env: { SVC_DATABASE_URL: 'sqlite:made.db' } })
  await service.stop()
  return path.join(service.directory, 'made.db')
}

const made = await makeFile()

/** An unused installation in a SQLite file, on every database of the run. */
const restingFile = (t: TestContext): Place => {
  const file = path.join(temporaryDirectory(t), 'resting.db')
  copyFileSync(made, file)
  return sqliteAt(file)
}

/** The same in a database of the run. */
const restingPlace = async (t: TestContext): Promise<Place> => {
  if (databaseChoice === 'sqlite') return restingFile(t)
  const service = await startService({ t })
  await service.stop()
  return placeOf(service)
}

const addEvent = (place: Place, id: string, values: { body?: string; nextAttemptAt?: string }): Promise<Rows> =>
  place.rows(`INSERT INTO webhook_events (id, type, user_id, created_at, body, attempts, next_attempt_at)
    VALUES ('${id}', 'user.created', 'ada', 1, ${values.body ?? `'{}'`}, 1, ${values.nextAttemptAt ?? 1}) RETURNING 1 AS one`)

/** Everything that a user can have beside a password. */
const addFactors = async (service: Service, userId: string, t: TestContext): Promise<void> => {
  const database = await openDatabase(service, t)
  await storeCodes(database, userId)
  for (const _ of ['phone', 'key']) await storePasskey(database, userId)
  await database.rows(`UPDATE users SET user_handle = 'handle' WHERE id = ? RETURNING id`, userId)
  await database.rows(`UPDATE sessions SET amr = 'swk mfa' WHERE user_id = ? RETURNING id`, userId)
  await database.rows(
    `INSERT INTO recovery_codes (id, user_id, hash, created_at) VALUES (?, ?, '$argon2id$', 1) RETURNING id`,
    `${userId}/a`,
    userId,
  )
  await database.rows(`INSERT INTO used_tokens (id, expires_at) VALUES ('used', 9007199254740991) RETURNING id`)
}

const envOf = ({ url }: Place) => ({ SVC_DATABASE_URL: url, SVC_SECRET: OTHER_SECRET, SVC_PORT: '0' })

const isUnfinished = async (place: Place): Promise<boolean> =>
  (await place.rows(`SELECT name FROM installation WHERE name = 'copy'`)).length === 1

/** Runs a copy from a SQLite file whose process runs `act` just before it reads a page of a table. */
const copyWith = (from: Place, to: Place, { table, page, act }: { table: string; page: number; act: string }) => {
  const tap = `import { DatabaseSync, StatementSync } from 'node:sqlite'
const { all } = StatementSync.prototype
let pages = 0
StatementSync.prototype.all = function (...values) {
  if (this.sourceSQL.includes(' FROM ${table} WHERE ') && (pages += 1) === ${page}) { ${act} }
  return all.apply(this, values)
}`
  const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(tap)}` }
  return runCommand({ args: [...copyArgs(from, to), '--json'], cwd, env })
}

/** A database with an incomplete copy: the users have arrived when its process is killed, and no session has. */
const interruptedCopy = async (t: TestContext, kind: (typeof KINDS)[number], from: Place): Promise<Place> => {
  const to = await emptyPlace(t, kind)
  const act = `process.kill(process.pid, 'SIGKILL')`
  assert.equal((await copyWith(from, to, { table: 'sessions', page: 1, act })).code, null)
  assert.ok(await isUnfinished(to))
  return to
}

/** The end of a copy whose source is changed by statements when its first thousand users have arrived. */
const changedCopy = async (t: TestContext, kind: (typeof KINDS)[number], ...statements: string[]) => {
  const [from, to] = [await restingPlace(t), await emptyPlace(t, kind)]
  await fill(from, SEVERAL_PAGES)
  const file = from.url.replace('sqlite:', '')
  const act = `const other = new DatabaseSync(${JSON.stringify(file)})
for (const statement of ${JSON.stringify(statements)}) other.exec(statement)
other.close()`
  return { to, ...(await copyWith(from, to, { table: 'users', page: 2, act })) }
}

describe('§8.1 svc database copy', { concurrency: 2 }, () => {
  for (const kind of KINDS) {
    test(`a whole installation moves to ${kind}, and no user notices: accounts, sessions, keys, events, codes by mail`, async (t) => {
      const hook = { SVC_WEBHOOK_URL: 'http://127.0.0.1:9/', SVC_WEBHOOK_SECRET: 'a secret of enough bytes' }
      const { service, database, asked, newUser, newAgent } = await startSignInByMail({ t, env: hook })
      const { agent, person } = await signedUp(service)
      const [asking, { email }] = [newAgent(), await newUser()]
      const { code } = await asked(asking, email)
      assert.equal((await database.rows('SELECT id FROM users WHERE signup_browser IS NOT NULL')).length, 1)
      const other = await signedUp(service)
      await addFactors(service, (await currentUser(other.agent)).id, t)
      await service.stop()
      const from = placeOf(service)
      const to = await emptyPlace(t, kind)

      const { equal, tables } = await copied(from, to)
      assert.equal(equal, true)
      const rows = Object.fromEntries(tables.map(({ table, source }) => [table, source.rows]))
      const empty = Object.fromEntries(TABLES.map(({ name }) => [name, 0]))
      assert.deepEqual(rows, {
        ...empty,
        users: 3,
        sessions: 2,
        signing_keys: 1,
        webhook_events: 3,
        webhook_attempts: 3,
        links: 1,
        mail_codes: 1,
        mail_messages: 1,
        passkeys: 2,
        one_time_codes: 1,
        recovery_codes: 1,
        used_tokens: 1,
        audit_events: 9,
      })
      for (const { source, target } of tables) assert.deepEqual(target, source)
      assert.deepEqual(await contentOf(to), await contentOf(from))

      await service.restart({ env: { SVC_DATABASE_URL: to.url, SVC_SECRET: rootSecret(service) } })
      await assertSignedIn(agent)
      assert.equal((await agent.refresh()).status, 200)
      await assertCanLogIn(service, person)
      assertRedirect(await typeCode(asking, code), '/')
    })

    test(`rows of several pages, with any text and the largest numbers, are the same in ${kind}`, async (t) => {
      const from = await restingPlace(t)
      const to = await emptyPlace(t, kind)
      await fill(from, SEVERAL_PAGES)
      await addOddRows(from)
      const { tables } = await copied(from, to)
      assert.equal(tables.find(({ table }) => table === 'users')?.source.rows, SEVERAL_PAGES + ODD.length)
      assert.deepEqual(await contentOf(to), await contentOf(from))
    })

    test(`no svc starts with a copy to ${kind} that was killed with -9, and it begins again in a new database`, async (t) => {
      const from = await restingPlace(t)
      await fill(from, SEVERAL_PAGES)
      const to = await interruptedCopy(t, kind, from)
      const arrived = await countOf(to, 'users')
      assert.equal(arrived, SEVERAL_PAGES)

      for (const args of [['serve'], ['users', 'list']]) {
        const { code, stderr } = await runCommand({ args, cwd, env: envOf(to) })
        assert.equal(code, 1, stderr)
        assert.match(
          stderr,
          /unfinished copy of .*delete it, and run svc database copy again, to a new, empty database/,
        )
      }
      for (const source of [from, await restingPlace(t)]) {
        const refused = await copy(source, to)
        assert.equal(refused.code, 1)
        assert.match(refused.stderr, /unfinished copy/)
      }
      assert.match((await copy(to, await emptyPlace(t, 'sqlite'))).stderr, /unfinished copy/)
      assert.equal(await countOf(to, 'users'), arrived, 'nothing was added')

      const again = await emptyPlace(t, kind)
      await copied(from, again)
      assert.deepEqual(await contentOf(again), await contentOf(from))
      const { code, stdout } = await runCommand({ args: ['users', 'list'], cwd, env: envOf(again) })
      assert.equal(code, 0)
      assert.equal(stdout.split('\n').length, SEVERAL_PAGES + 2)
    })

    test(`a source that was written to during the copy is reported by the name of the table; exit code 1 (to ${kind})`, async (t) => {
      const { to, code, stdout, stderr } = await changedCopy(
        t,
        kind,
        `UPDATE users SET roles = '["admin"]' WHERE id = 'u1'`,
      )
      assert.equal(code, 1)
      assert.match(stderr, /differs.*new, empty database/)
      const { equal, tables } = JSON.parse(stdout) as { equal: boolean; tables: { table: string; equal: boolean }[] }
      assert.equal(equal, false)
      assert.deepEqual(
        tables.filter((table) => !table.equal).map(({ table }) => table),
        ['users'],
      )
      const started = await runCommand({
        args: ['serve'],
        cwd,
        env: { SVC_DATABASE_URL: to.url, SVC_SECRET: OTHER_SECRET, SVC_PORT: '0' },
      })
      assert.equal(started.code, 1)
      assert.match(started.stderr, /unfinished copy/)
    })

    test(`rows that contradict those that were copied before are reported with the reason; exit code 1 (to ${kind})`, async (t) => {
      const { code, stderr } = await changedCopy(
        t,
        kind,
        `UPDATE users SET email_lower = 'other' WHERE id = 'u1'`,
        `INSERT INTO users (id, email, email_lower, username, roles, disabled, created_at, updated_at)
          VALUES ('z', '', '1@example.com', 'z', '[]', 0, 1, 1)`,
      )
      assert.equal(code, 1)
      assert.match(stderr, /Rows of users do not fit.*new, empty database\. \(.*email_lower.*\)/)
    })

    test(`a target in ${kind} that is not empty is refused with its content, and is not changed`, async (t) => {
      const from = await restingPlace(t)
      await fill(from, 3)
      const to = await emptyPlace(t, kind)
      await copied(from, to)
      const before = await contentOf(to)
      const again = await copy(from, to)
      assert.equal(again.code, 1)
      assert.match(again.stderr, /not empty.*users \(3\), sessions \(3\), signing_keys \(1\)/)
      assert.deepEqual(await contentOf(to), before)
    })

    test(`a target in ${kind} with rows and an older schema is refused before its schema is changed`, async (t) => {
      const from = await restingPlace(t)
      const to = await emptyPlace(t, kind)
      await copied(from, to)
      await fill(to, 3)
      await to.rows('DELETE FROM migrations WHERE true RETURNING 1 AS one')
      await to.rows('DROP TABLE webhook_attempts')
      await to.rows('DROP TABLE webhook_events')
      const { code, stderr } = await copy(from, to)
      assert.equal(code, 1)
      assert.match(stderr, /not empty.*users \(3\), sessions \(3\), signing_keys \(1\)/)
      assert.equal(await countOf(to, 'migrations'), 0)
      await assert.rejects(to.rows('SELECT * FROM webhook_events'))
    })

    test(`other tables in a target in ${kind} are left alone`, async (t) => {
      const from = await restingPlace(t)
      const to = await emptyPlace(t, kind)
      // Connecting creates no SQLite file before the first write.
      if (kind === 'sqlite') writeFileSync(to.url.replace('sqlite:', ''), '')
      await to.rows('CREATE TABLE orders (id INTEGER)')
      await to.rows('INSERT INTO orders (id) VALUES (7) RETURNING 1 AS one')
      await copied(from, to)
      assert.equal(await countOf(to, 'orders'), 1)
    })

    test(`a value that no column of svc can hold is reported with its row, and not as another writer's change (to ${kind})`, async (t) => {
      for (const nextAttemptAt of ['9007199254740993', '1e300', '1795000001171.25', `'soon'`]) {
        const from = restingFile(t)
        await addEvent(from, 'before', {})
        await addEvent(from, 'broken', { nextAttemptAt })
        const { code, stderr } = await copy(from, await emptyPlace(t, kind))
        assert.equal(code, 1)
        assert.match(stderr, /webhook_events.*broken.*next_attempt_at.*whole number/)
        assert.doesNotMatch(stderr, /Another process wrote|unexpected failure/)
      }
    })
  }

  test('rows of several transactions are all copied', async (t) => {
    const [from, to] = [restingFile(t), await emptyPlace(t, 'sqlite')]
    await from.rows(`${numbers(SEVERAL_TRANSACTIONS)} INSERT INTO used_tokens (id, expires_at)
      SELECT 't' || n, 9007199254740991 - n FROM numbers WHERE true RETURNING 1 AS one`)
    const { tables } = await copied(from, to)
    assert.equal(tables.find(({ table }) => table === 'used_tokens')?.source.rows, SEVERAL_TRANSACTIONS)
    assert.deepEqual(await contentOf(to), await contentOf(from))
  })

  test('a text that PostgreSQL cannot hold is reported with its row, and not as another writer’s change', async (t) => {
    const from = restingFile(t)
    await addEvent(from, 'before', {})
    await addEvent(from, 'broken', { body: `'{' || char(0) || '}'` })
    const { code, stderr } = await copy(from, await emptyPlace(t, 'postgres'))
    assert.equal(code, 1)
    assert.match(stderr, /webhook_events.*broken.*body.*NUL/)
    assert.doesNotMatch(stderr, /Another process wrote/)
  })

  test('an unknown refusal is reported with the table, the keys and the reason', async (t) => {
    const from = restingFile(t)
    await fill(from, 2)
    await from.rows(`UPDATE users SET disabled = 4294967296 WHERE id = 'u2' RETURNING 1 AS one`)
    const { code, stderr } = await copy(from, await emptyPlace(t, 'postgres'))
    assert.equal(code, 1)
    assert.match(stderr, /users.*u1.*u2.*out of range/)
    assert.doesNotMatch(stderr, /Another process wrote/)
  })

  test('a SQLite file may be a link to another folder, as source, target and for a service, before it exists, too', async (t) => {
    const folder = temporaryDirectory(t)
    const link = (name: string): string => {
      mkdirSync(path.join(folder, `${name}-data`))
      symlinkSync(path.join(`${name}-data`, 'real.db'), path.join(folder, `${name}.db`))
      return path.join(folder, `${name}.db`)
    }
    const [source, target] = [link('source'), link('target')]
    const env = { SVC_DATABASE_URL: `sqlite:${source}` }
    const service = await startService({ t, env })
    await signedUp(service)
    assert.ok(existsSync(path.join(folder, 'source-data', 'real.db-wal')))
    await service.stop()
    const { tables } = await copied(sqliteAt(source), sqliteAt(target))
    assert.equal(tables.find(({ table }) => table === 'users')?.source.rows, 1)
    assert.equal(await countOf(sqliteAt(path.join(folder, 'target-data', 'real.db')), 'users'), 1)
  })

  test('a database that cannot be opened is reported with its option', async (t) => {
    const from = restingFile(t)
    const away = { ...from, url: 'postgres://svc@127.0.0.1:1/away' }
    const nowhere = sqliteAt(path.join(from.url.replace('sqlite:', ''), 'no-folder', 'copy.db'))
    for (const [ends, option] of [
      [[away, from], '--from'],
      [[from, away], '--to'],
      [[from, nowhere], '--to'],
    ] as const) {
      const { code, stderr } = await copy(ends[0], ends[1])
      assert.equal(code, 1)
      assert.ok(stderr.includes(`(${option})`), stderr)
      assert.doesNotMatch(stderr, /SVC_DATABASE_URL|unexpected failure/)
    }
  })

  test('tables of another program are refused by name', async (t) => {
    const from = await restingPlace(t)
    const file = path.join(temporaryDirectory(t), 'other.db')
    const other = new DatabaseSync(file)
    other.exec('CREATE TABLE users (id INTEGER); CREATE TABLE orders (id INTEGER)')
    other.close()
    const { code, stderr } = await copy(from, sqliteAt(file))
    assert.equal(code, 1)
    assert.match(stderr, /tables of another program, users\n/)
  })

  test('a source that does not exist, is not a database of svc, or is the target is refused, and nothing is created', async (t) => {
    const folder = temporaryDirectory(t)
    const missing = sqliteAt(path.join(folder, 'missing.db'))
    const target = sqliteAt(path.join(folder, 'target.db'))
    const none = await copy(missing, target)
    assert.equal(none.code, 1)
    assert.match(none.stderr, /no database .*missing\.db/)
    writeFileSync(path.join(folder, 'empty.db'), '')
    assert.match((await copy(sqliteAt(path.join(folder, 'empty.db')), target)).stderr, /is not a database of svc/)
    assert.equal(existsSync(path.join(folder, 'missing.db')), false)
    assert.equal(existsSync(path.join(folder, 'target.db')), false)
    const from = await restingPlace(t)
    assert.match((await copy(from, from)).stderr, /same database/)
  })

  test('an unknown schema is not copied', async (t) => {
    const from = await restingPlace(t)
    await from.rows(`INSERT INTO migrations (name, applied_at) VALUES ('999-later', 1) RETURNING 1 AS one`)
    const { code, stderr } = await copy(from, await emptyPlace(t, 'sqlite'))
    assert.equal(code, 1)
    assert.match(stderr, /newer svc.*999-later/)
  })

  test('wrong usage is exit code 2, and no message contains a password; a URL may be in a file', async (t) => {
    const folder = temporaryDirectory(t)
    const from = ['--from', 'sqlite:x.db']
    const wrong = [
      from,
      ['--to', 'sqlite:y.db'],
      [...from, '--to', 'sqlite:y.db', '--to-file', 'y'],
      [...from, '--to', 'postgres://svc:hunter2@db.example.com'],
      [...from, '--to', 'mysql://svc:hunter2@db.example.com/svc'],
      [...from, '--to-file', 'nowhere'],
    ]
    for (const args of wrong) {
      const { code, stdout, stderr } = await runCommand({ args: ['database', 'copy', ...args], cwd })
      assert.equal(code, 2, stderr)
      assert.match(stderr, /--(?:from|to)/)
      assert.doesNotMatch(stdout + stderr, /hunter/)
    }
    const source = await restingPlace(t)
    writeFileSync(path.join(folder, 'from'), `${source.url}\n`)
    writeFileSync(path.join(folder, 'to'), 'sqlite:made.db\n')
    const args = ['database', 'copy', '--from-file', 'from', '--to-file', 'to']
    const { code, stdout, stderr } = await runCommand({ args, cwd: folder })
    assert.equal(code, 0, stderr)
    assert.match(stdout, /is now a complete copy of .*\.\n\nStart svc with the same root secret/)
    assert.ok(existsSync(path.join(folder, 'made.db')))
  })

  test('the copy covers every table and column of the schema, the key first', async (t) => {
    const service = await startService({ t })
    const columns = await (await openDatabase(service, t)).columns()
    const names = (table: string) => columns.filter((column) => column.table === table).map(({ name }) => name)
    const tables = [...new Set(columns.map(({ table }) => table))].filter((table) => table !== 'migrations')
    assert.deepEqual(tables.sort(), TABLES.map(({ name }) => name).sort())
    for (const { name, columns } of TABLES) assert.deepEqual([...columns].sort(), names(name).sort(), name)
    const file = restingFile(t)
    for (const { name, integerColumns: numbers } of TABLES) {
      const held = await file.rows(
        `SELECT name FROM pragma_table_info('${name}') WHERE type LIKE '%INT%' ORDER BY name`,
      )
      assert.deepEqual(
        [...numbers].sort(),
        held.map((column) => column.name),
        name,
      )
    }
  })
})
