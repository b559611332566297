// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { type TestContext, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterwards } from '../support/cleanup.ts'
import { currentUser, logIn, logOut, newPerson, signedUp, signUp } from '../support/client/accounts.ts'
import { assertSignedIn, assertSignedOut } from '../support/client/assertions.ts'
import { createUserAgent } from '../support/client/user-agent.ts'
import { openDatabase } from '../support/database/database.ts'
import { databaseSettings } from '../support/database/folder-database.ts'
import { connect } from '../support/postgres/postgres-databases.ts'
import type { Environment } from '../support/service/command.ts'
import { type ServiceProcess, startServiceProcess } from '../support/service/service-process.ts'
import { runCommand } from '../support/service/warm-command.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { eventually } from '../support/wait.ts'
import { testOnPostgres } from './databases.ts'
import { CONTRACT, EXPAND, laterVersion, type Version } from './later-version.ts'

const now: Version = { startService: startServiceProcess, runSvc: runCommand, spawnSvc: () => assert.fail('not used') }
const later = laterVersion({ '900-later': EXPAND })
const afterLater = laterVersion({ '900-later': EXPAND, '901-contract': CONTRACT })
const breaking = laterVersion({ '900-later': 'CREATE TABLE later (id TEXT PRIMARY KEY);\n' })

/** A folder with its database, and a way to run each version in it. */
const installation = async (t: TestContext) => {
  const cwd = temporaryDirectory(t)
  const settings: Environment = await databaseSettings(cwd, {}, t)
  const env: Environment = { SVC_BASE_URL: 'http://svc.example', ...settings }
  return {
    url: settings.SVC_DATABASE_URL,
    start: ({ startService }: Version) => startService({ cwd, env, t }),
    svc: ({ runSvc }: Version, args: string[]) => runSvc({ args, cwd, env }),
    database: () => openDatabase({ directory: cwd, env } as ServiceProcess, t),
  }
}

/** A user who signs up, logs in or refreshes at one service is signed in at the other, until they log out. */
const assertAgree = async (one: ServiceProcess, other: ServiceProcess) => {
  const { agent, person } = await signedUp(one)
  const there = createUserAgent(other, agent.cookies)
  assert.deepEqual(await currentUser(there), await currentUser(agent))
  assert.equal((await there.refresh()).status, 200)
  await assertSignedIn(agent)
  const device = createUserAgent(other)
  assert.equal((await logIn(device, person)).status, 303)
  await assertSignedIn(createUserAgent(one, device.cookies))
  const { username } = newPerson()
  assert.equal((await there.post('/auth/account/username', { username })).status, 303)
  assert.equal((await currentUser(agent)).username, username)
  const copy = createUserAgent(other, agent.cookies.copy())
  assert.equal((await logOut(agent)).status, 303)
  await assertSignedOut(copy)
}

describe('version N and N+1 on one database', { concurrency: 2 }, () => {
  test('N serves, N+1 starts beside it: both serve, and a user who is signed in at one is signed in at the other', async (t) => {
    const { start, svc } = await installation(t)
    const old = await start(now)
    const { agent } = await signedUp(old)
    assert.equal((await svc(later, ['migrate', '--check'])).code, 1)
    const fresh = await start(later)
    assert.equal((await svc(later, ['migrate', '--check'])).code, 0)
    await assertSignedIn(createUserAgent(fresh, agent.cookies))
    await assertAgree(old, fresh)
    await assertAgree(fresh, old)
  })

  test('N+1 serves, N starts beside it: the schema says that it may', async (t) => {
    const { start, svc, database } = await installation(t)
    const fresh = await start(later)
    const { agent } = await signedUp(fresh)
    const old = await start(now)
    await assertSignedIn(createUserAgent(old, agent.cookies))
    await assertAgree(fresh, old)
    await assertAgree(old, fresh)
    assert.equal((await svc(now, ['users', 'list'])).code, 0)
    const names = (await (await database()).rows('SELECT name FROM migrations ORDER BY name')).map(({ name }) => name)
    assert.deepEqual(names, ['001-schema', '900-later'])
  })

  test('two processes of N+1 start at once beside N: the migration is applied once', async (t) => {
    const { start, database } = await installation(t)
    const old = await start(now)
    const [one, two] = await Promise.all([start(later), start(later)])
    await assertAgree(one, two)
    await assertAgree(old, two)
    assert.equal((await (await database()).rows('SELECT name FROM migrations')).length, 2)
  })

  test('N+1 serves, N+2 starts beside it and removes what only N used: both serve, and N does not start', async (t) => {
    const { start, svc } = await installation(t)
    const [old, fresh] = [await start(later), await start(afterLater)]
    await assertAgree(old, fresh)
    await assertAgree(fresh, old)
    const { code, stderr } = await svc(now, ['users', 'list'])
    assert.equal(code, 1)
    assert.match(stderr, /newer svc.*900-later, 901-contract/)
  })

  test('on a schema that does not declare that it works with N, N does not start, and none of its commands runs', async (t) => {
    const { svc } = await installation(t)
    assert.equal((await svc(breaking, ['migrate'])).code, 0)
    for (const args of [['serve'], ['users', 'list'], ['keys', 'rotate'], ['migrate']]) {
      const { code, stderr } = await svc(now, args)
      assert.ok(code !== null && code > 0, `svc ${args.join(' ')}: exit ${code}`)
      assert.match(stderr, /newer svc.*900-later/)
      assert.doesNotMatch(stderr, /\n\s+at /)
    }
  })
})

/** Repeats everything that users do at one service until it is stopped, and collects each unexpected response. */
const startLoad = (service: ServiceProcess) => {
  const failures: string[] = []
  let answered = 0
  const over = new AbortController()
  const expect = (what: string, expected: number, { status, text }: { status: number; text: string }) => {
    answered += 1
    if (status !== expected) failures.push(`${what}: ${status} ${text.slice(0, 300)}`)
  }
  const visitor = async () => {
    while (!over.signal.aborted) {
      const person = newPerson()
      const agent = createUserAgent(service)
      expect('signup', 303, await signUp(agent, person))
      for (let time = 0; time < 10 && !over.signal.aborted; time++) {
        expect('user', 200, await agent.get('/auth/api/v1/user'))
        expect('refresh', 200, await agent.refresh())
        await sleep(5)
      }
      expect('login', 303, await logIn(createUserAgent(service), person))
      expect('username', 303, await agent.post('/auth/account/username', { username: newPerson().username }))
      expect('logout', 303, await logOut(agent))
    }
  }
  const visitors = Promise.all(Array.from({ length: 3 }, visitor))
  return {
    answered: () => answered,
    stop: async () => {
      over.abort()
      await visitors
      assert.deepEqual(failures, [])
    },
  }
}

test('svc migrate of N+1, run ahead while N serves under load: no request fails', async (t) => {
  const { start, svc } = await installation(t)
  const old = await start(now)
  const load = startLoad(old)
  await eventually('people are at work', () => load.answered() > 50)
  const { code, stderr } = await svc(later, ['migrate'])
  assert.equal(code, 0, stderr)
  const before = load.answered()
  await eventually('people go on', () => load.answered() > before + 100)
  await load.stop()
  await assertAgree(old, await start(later))
})

testOnPostgres('a migration whose table is in use waits while requests go on, and then succeeds', async (t) => {
  const { url, start, svc, database } = await installation(t)
  const old = await start(now)
  const load = startLoad(old)
  const busy = await connect(url ?? assert.fail('a URL'))
  afterwards(t, () => busy.end())
  await busy.query('BEGIN')
  await busy.query('LOCK TABLE users IN ACCESS SHARE MODE')
  const migrating = svc(later, ['migrate'])
  const rows = await database()
  let [tries, wasWaiting] = [0, false]
  await eventually('it has tried twice', async () => {
    const waiting = await rows.rows(`SELECT pid FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND NOT granted`)
    if (waiting.length > 0 && !wasWaiting) tries += 1
    wasWaiting = waiting.length > 0
    return tries >= 2
  })
  const before = load.answered()
  await eventually('people go on', () => load.answered() > before + 50)
  assert.equal((await svc(later, ['migrate', '--check'])).code, 1, 'not yet')
  await busy.query('COMMIT')
  const { code, stdout, stderr } = await migrating
  assert.equal(code, 0, stderr)
  assert.match(stdout, /900-later/)
  await load.stop()
  assert.equal((await svc(later, ['migrate', '--check'])).code, 0)
})
