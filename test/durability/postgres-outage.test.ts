// Runs once.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { signedUp } from '../support/client/accounts.ts'
import { assertJsonError, assertSignedIn, assertSignedOut } from '../support/client/assertions.ts'
import {
  ALL_REQUESTS,
  assertUnavailable,
  assertUsualStatus,
  createTestUsers,
  type RequestKind,
  sendAllRequests,
  type TestUsers,
  WRITING_REQUESTS,
} from '../support/client/typical-requests.ts'
import { type Answer, createUserAgent } from '../support/client/user-agent.ts'
import { startTcpProxy } from '../support/network/tcp-proxy.ts'
import { startPostgres } from '../support/postgres/postgres.ts'
import { preparePostgresFailures } from '../support/postgres/postgres-failures.ts'
import { startService } from '../support/service/service.ts'
import { eventually } from '../support/wait.ts'

const POOL = 10

const postgres = await startPostgres({ settings: { max_connections: 30 } })
const troubles = await preparePostgresFailures(postgres)
const proxy = await startTcpProxy(postgres)
const service = await startService({
  env: {
    SVC_DATABASE_URL: troubles.url(proxy.port),
    SVC_DATABASE_TIMEOUT: '3s',
    SVC_DATABASE_POOL: String(POOL),
    SVC_RATE_LIMIT: 'on',
    SVC_SECRET: randomBytes(32).toString('base64'),
  },
})

const ready = () => createUserAgent(service).get('/auth/ready')
const isReady = async () => (await ready()).status === 200
// Twice: at the second time, the service has noticed every connection that ended before the first.
const untilReady = () => eventually('ready again', async () => (await isReady()) && (await isReady()))

const assertHealthy = async () => assert.equal((await createUserAgent(service).get('/auth/health')).status, 200)

/** Checks that everything works, with the tokens from before. */
const assertAllUsual = async (visitors: TestUsers) => {
  for (const [visit, answer] of await sendAllRequests(service, visitors)) assertUsualStatus(visit, answer)
  await assertSignedOut(visitors.leaver)
  assert.equal((await visitors.stayer.refresh()).status, 200)
  await assertSignedIn(visitors.stayer)
}

/** Makes the service open as many connections as it may. */
const openAll = async ({ stayer }: TestUsers) => {
  const answers = await Promise.all(Array.from({ length: 2 * POOL }, () => stayer.get('/auth/account')))
  for (const answer of answers) assertUsualStatus('account', answer)
}

/** Resolves to a function that ends the failure. */
type Begin = () => Promise<() => unknown>

interface Outage {
  title: string
  begin: Begin
  /** The requests that fail during the outage; all requests when left out. */
  refused?: readonly RequestKind[]
  /** Whether the service is not ready during it; true by default. */
  isDown?: false
}

const stopping = (mode: 'fast' | 'immediate') => async () => {
  await postgres.stop(mode)
  return postgres.start
}

const altering = (change: string, back: string) => async () => {
  await troubles.alterRole(change)
  return () => troubles.alterRole(back)
}

const locking = (table: string) => () => troubles.hold(`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`)

/** Makes every write to a table run a statement first. */
const hindering = (tables: string[], action: string) => async () => {
  await troubles.inDatabase(`CREATE FUNCTION hinder() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN ${action}; RETURN NULL; END $$`)
  for (const table of tables) {
    await troubles.inDatabase(
      `CREATE TRIGGER hinder BEFORE INSERT OR UPDATE OR DELETE ON ${table} EXECUTE FUNCTION hinder()`,
    )
  }
  return () => troubles.inDatabase('DROP FUNCTION hinder() CASCADE')
}

/** A failure that begins and ends by one statement each. */
const between = (begin: () => unknown, end: () => unknown) => async () => {
  await begin()
  return end
}

const disconnectOften = async () => {
  for (let time = 0; time < 8; time++) await troubles.disconnect()
}

const ACCOUNTS = ['users', 'sessions']
const DISK_FULL = `RAISE EXCEPTION USING ERRCODE = 'disk_full'`

const OUTAGES: Outage[] = [
  { title: 'shuts down', begin: stopping('fast') },
  { title: 'crashes', begin: stopping('immediate') },
  { title: 'is frozen', begin: between(postgres.freeze, postgres.thaw) },
  { title: 'is behind a network that swallows everything', begin: between(proxy.swallow, proxy.mend) },
  { title: 'is behind a network that breaks every connection', begin: between(proxy.reset, proxy.mend) },
  { title: 'has no connections left', begin: between(troubles.fill, troubles.empty) },
  { title: 'has another password', begin: altering(`PASSWORD 'x'`, `PASSWORD '${troubles.password}'`) },
  { title: 'lets the role in no more', begin: altering('NOLOGIN', 'LOGIN') },
  {
    title: 'takes no connections to the database',
    begin: between(
      () => troubles.allowConnections(false),
      () => troubles.allowConnections(true),
    ),
  },
  { title: 'has lost the database, which is restored', begin: between(troubles.setAside, troubles.putBack) },
  { title: 'has a lock on users by another client', begin: locking('users'), isDown: false },
  { title: 'has a lock on sessions by another client', begin: locking('sessions'), isDown: false },
  {
    title: 'becomes read-only',
    begin: between(
      () => troubles.setReadOnly(true),
      () => troubles.setReadOnly(false),
    ),
    refused: WRITING_REQUESTS,
  },
  {
    title: 'is full',
    begin: hindering(ACCOUNTS, DISK_FULL),
    refused: WRITING_REQUESTS,
    isDown: false,
  },
  {
    title: 'cannot count tries',
    begin: hindering(['counters'], DISK_FULL),
    refused: ['login', 'signup'],
    isDown: false,
  },
  {
    title: 'counts tries only after the timeout',
    begin: hindering(['counters'], 'PERFORM pg_sleep(20)'),
    refused: ['login', 'signup'],
    isDown: false,
  },
  {
    title: 'has a lock on tries by another client',
    begin: locking('counters'),
    refused: ['login', 'signup'],
    isDown: false,
  },
  {
    title: 'cannot record what happens',
    begin: hindering(['audit_events'], DISK_FULL),
    refused: ['login', 'signup', 'logout'],
    isDown: false,
  },
  {
    title: 'is slow beyond the timeout',
    begin: hindering(ACCOUNTS, 'PERFORM pg_sleep(20)'),
    refused: WRITING_REQUESTS,
    isDown: false,
  },
]

describe('PostgreSQL', () => {
  for (const { title, begin, refused = ALL_REQUESTS, isDown = true } of OUTAGES) {
    test(`${title}: every request is 503, and afterwards everything works again`, async () => {
      await untilReady()
      const visitors = await createTestUsers(service)
      await openAll(visitors)
      const end = await begin()
      try {
        // The first requests detect the failure; the second ones come when it is known.
        for (let round = 0; round < 2; round++) {
          for (const [visit, answer] of await sendAllRequests(service, visitors)) {
            if (refused.includes(visit)) assertUnavailable(visit, answer)
            else assertUsualStatus(visit, answer)
          }
          await assertHealthy()
        }
        if (isDown) assert.match(assertJsonError(await ready(), 503, 'unavailable'), /database/)
      } finally {
        await end()
      }
      await untilReady()
      await assertAllUsual(visitors)
    })
  }

  /** Drops what svc has stored, and keeps a copy for `troubles.putBack`. */
  const LOSSES: [title: string, lose: () => Promise<unknown>][] = [
    [
      'is dropped and created again without tables',
      async () => {
        await troubles.setAside()
        await troubles.createAnew()
      },
    ],
    [
      'loses its tables under open connections',
      async () => {
        await troubles.setAside()
        await troubles.createAnew('aside')
        await untilReady()
        await openAll(await createTestUsers(service))
        await troubles.inDatabase('DROP SCHEMA public CASCADE')
        await troubles.inDatabase(`CREATE SCHEMA public AUTHORIZATION ${troubles.role}`)
      },
    ],
  ]
  for (const [title, lose] of LOSSES) {
    test(`${title}: 503 that says what to do, nobody is logged out, and it serves again after svc migrate, or with a backup`, async () => {
      const visitors = await createTestUsers(service)
      await lose()
      for (let round = 0; round < 2; round++) {
        for (const [visit, answer] of await sendAllRequests(service, visitors)) {
          assertUnavailable(visit, answer)
          if (visit === 'user') assert.match(answer.text, /has no tables of svc: run `svc migrate`/)
        }
      }
      assert.match(assertJsonError(await ready(), 503, 'unavailable'), /run `svc migrate`/)
      await assertHealthy()
      const { code, stdout } = await service.cli(['migrate'])
      assert.equal(code, 0)
      assert.match(stdout, /Applied: 001-/)
      await untilReady()
      await assertAllUsual(await createTestUsers(service))
      await assertSignedOut(visitors.stayer.copy())
      await troubles.putBack()
      await untilReady()
      await assertAllUsual(visitors)
    })
  }

  test('is of another version: 503 that says what to do', async () => {
    const { stayer } = await createTestUsers(service)
    await troubles.inDatabase('ALTER TABLE sessions RENAME COLUMN salt TO pepper')
    const answer = await stayer.get('/auth/api/v1/user')
    assertUnavailable('user', answer)
    assert.match(answer.text, /has tables of another version: run `svc migrate`/)
    await troubles.inDatabase('ALTER TABLE sessions RENAME COLUMN pepper TO salt')
    await assertSignedIn(stayer)
  })

  for (const isRestarted of [false, true]) {
    const title = isRestarted ? ', and the service is restarted meanwhile' : ''
    test(`is frozen for longer than the grace with a refresh on its way${title}: that is no theft, at once or later`, async (t) => {
      const graceMs = 1000
      const frozen = await startService({
        t,
        env: { ...service.env, SVC_PORT: '0', SVC_REFRESH_GRACE: `${graceMs}ms` },
      })
      const isUp = async () => (await createUserAgent(frozen).get('/auth/ready')).status === 200
      const { agent } = await signedUp(frozen)
      // On a new connection, statements are prepared again.
      await troubles.disconnect()
      await eventually('ready', isUp)
      await assertSignedIn(agent)
      let caught = 0
      proxy.onSent(async (piece) => {
        if (!piece.includes('UPDATE sessions SET generation')) return
        caught += 1
        await postgres.freeze()
      })
      const late = agent.copy()
      assertUnavailable('refresh', await agent.refresh())
      proxy.onSent(undefined)
      assert.equal(caught, 1)
      await Promise.all([sleep(2 * graceMs), isRestarted && frozen.stop()])
      postgres.thaw()
      if (isRestarted) await frozen.restart()
      await eventually('ready again', isUp)
      await sleep(2 * graceMs)
      assert.equal((await late.refresh()).status, 200)
      await assertSignedIn(late)
      assert.doesNotMatch(frozen.logs(), /refresh token reused/)
    })
  }

  test('ends connections again and again: each request succeeds or is 503, and no connection leaks', async () => {
    const visitors = await createTestUsers(service)
    for (let round = 0; round < 6; round++) {
      const [answers] = await Promise.all([sendAllRequests(service, visitors), disconnectOften()])
      for (const [visit, answer] of answers) {
        if (answer.status === 503) assertUnavailable(visit, answer)
        else assertUsualStatus(visit, answer)
      }
    }
    await untilReady()
    await assertAllUsual({ ...(await createTestUsers(service)), stayer: visitors.stayer })
    await eventually('as many connections as it may have', async () => (await troubles.connections()) <= POOL)
  })

  test('commits a refresh whose response is lost: the same token is accepted again', async () => {
    const { agent } = await signedUp(service)
    // On a new connection, statements are prepared again.
    await troubles.disconnect()
    await untilReady()
    await assertSignedIn(agent)
    proxy.onSent((piece) => (piece.includes('UPDATE sessions SET generation') ? 'mute' : undefined))
    const token = agent.cookies.get('svc_refresh')
    assertUnavailable('refresh', await agent.refresh())
    proxy.onSent(undefined)
    assert.equal(agent.cookies.get('svc_refresh'), token)
    const latest = 'SELECT generation FROM sessions ORDER BY id DESC LIMIT 1'
    assert.deepEqual(await postgres.query(postgres.url(troubles.database), latest), [{ generation: 2 }])
    const again = await agent.refresh()
    assert.equal(again.status, 200)
    assert.notEqual(again.cookie('svc_refresh')?.value, token)
    assert.equal((await agent.refresh()).status, 200)
    await assertSignedIn(agent)
  })

  test('has columns altered: statements are prepared again', async () => {
    const visitors = await createTestUsers(service)
    const look = () => Promise.all(Array.from({ length: 20 }, () => assertSignedIn(visitors.stayer)))
    await look()
    await troubles.inDatabase('ALTER TABLE sessions ADD COLUMN later TEXT')
    await troubles.inDatabase('ALTER TABLE sessions ALTER COLUMN user_agent TYPE VARCHAR')
    await troubles.inDatabase('ALTER TABLE users ALTER COLUMN email TYPE VARCHAR')
    await look()
    await assertAllUsual(visitors)
  })

  test('has refreshes waiting for a lock: reads do not wait behind them', async () => {
    const { stayer } = await createTestUsers(service)
    await troubles.inDatabase('CREATE TABLE elsewhere ()')
    const unhinder = await hindering(['sessions'], 'PERFORM FROM elsewhere')()
    const unlock = await locking('elsewhere')()
    const refreshes = Promise.all(Array.from({ length: 60 }, () => stayer.copy().refresh()))
    const over = refreshes.then(() => 'over' as const)
    const reads: Answer[] = []
    while ((await Promise.race([over, sleep(50)])) !== 'over') reads.push(await stayer.get('/auth/api/v1/user'))
    await unlock()
    await unhinder()
    for (const answer of reads) assertUsualStatus('user', answer)
    for (const answer of await refreshes) assertUnavailable('refresh', answer)
  })

  test('appears in the log without its password, and no unexpected error is logged', async () => {
    const forgive = await altering(`PASSWORD 'x'`, `PASSWORD '${troubles.password}'`)()
    assert.equal((await ready()).status, 503)
    await forgive()
    await untilReady()
    assert.match(service.logs(), /password authentication failed/)
    assert.ok(!service.logs().includes(troubles.password))
    assert.doesNotMatch(service.logs(), /nobody expected|unhandled|Warning/i)
  })
})
