// Runs on PostgreSQL.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { logIn, signedUp } from '../../support/client/accounts.ts'
import { assertJsonError, assertSignedIn, assertSignedOut } from '../../support/client/assertions.ts'
import type { Answer, UserAgent } from '../../support/client/user-agent.ts'
import { turnedClock } from '../../support/clock/turned-clock.ts'
import { openDatabase } from '../../support/database/database.ts'
import { databaseChoice } from '../../support/database/database-choice.ts'
import { at } from '../../support/service/replicas.ts'
import { startService } from '../../support/service/service.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { eventually } from '../../support/wait.ts'

const SKEW_MS = 60_000
const GRACE_MS = 30_000
// Shorter than the difference of the clocks, so that any comparison of times across replicas fails.
const ACCESS_MS = 30_000
const IDLE_MS = 50_000

const ENV = { SVC_BASE_URL: 'http://svc.example', SVC_ACCESS_TOKEN_TTL: '30s', SVC_SESSION_IDLE_TTL: '50s' }

const startSkewed = async () => {
  const clock = turnedClock()
  const cwd = temporaryDirectory()
  const skews = { right: 0, ahead: SKEW_MS, behind: -SKEW_MS }
  const start = async ([name, skewMs]: [string, number]) => ({
    name,
    service: await startService({ cwd, env: ENV, clock: clock.skewed(skewMs) }),
  })
  const [right, ahead, behind] = await Promise.all(Object.entries(skews).map(start))
  if (!right || !ahead || !behind) assert.fail()
  let passedMs = 0
  const pass = (ms: number) => {
    passedMs += ms
    return clock.turnTo(passedMs)
  }
  return { replicas: [right, ahead, behind], behind, pass, now: () => Date.now() + passedMs }
}

type Skewed = Awaited<ReturnType<typeof startSkewed>>
type Replica = Skewed['replicas'][number]

/** Each pair of different replicas. */
const pairs = ({ replicas }: Skewed): [Replica, Replica][] =>
  replicas.flatMap((here) =>
    replicas.filter((there) => there !== here).map((there): [Replica, Replica] => [here, there]),
  )

const assertStatusEverywhere = async ({ replicas }: Skewed, agent: UserAgent, status: number) => {
  for (const { name, service } of replicas)
    assert.equal((await at(service, agent).get('/auth/api/v1/user')).status, status, name)
}

const assertUsableEverywhere = async ({ replicas }: Skewed, agent: UserAgent) => {
  for (const { service } of replicas) {
    await assertSignedIn(at(service, agent))
    assert.equal((await at(service, agent).refresh()).status, 200)
  }
}

const maxAge = (answer: Answer, name: string): number => Number(answer.cookie(name)?.attributes['max-age'])

const isAbout = (actual: unknown, expected: number, toleranceMs = 10_000): boolean =>
  Math.abs(Number(actual) - expected) < toleranceMs

const registerTests = async () => {
  const skewed = await startSkewed()
  const { replicas, behind, pass, now } = skewed
  const database = await openDatabase(behind.service)

  describe('replicas whose clocks are off by up to a minute', { concurrency: 1 }, () => {
    test('a session that begins at one is valid at the others, with tokens that last half a minute', async () => {
      for (const { service } of replicas) await assertUsableEverywhere(skewed, (await signedUp(service)).agent)
    })

    test('the times of a session, and the cookies’ Max-Age, follow the clock of the database', async () => {
      for (const { name, service } of replicas) {
        const { agent, person } = await signedUp(service)
        const answer = await logIn(agent, person)
        assert.ok(isAbout(maxAge(answer, 'svc_access'), ACCESS_MS / 1000, 2), name)
        assert.ok(isAbout(maxAge(answer, 'svc_refresh'), IDLE_MS / 1000, 2), name)
        const id = agent.cookies.get('svc_refresh')?.split('.')[0] ?? ''
        const [row = {}] = await database.rows('SELECT * FROM sessions WHERE id = ?', id)
        for (const column of ['created_at', 'last_seen_at', 'authenticated_at'])
          assert.ok(isAbout(row[column], now()), `${column} by the one that is ${name}`)
        assert.ok(isAbout(row.expires_at, now() + IDLE_MS), name)
        agent.cookies.delete('svc_csrf')
        assert.ok(isAbout(maxAge(await agent.get('/auth/account'), 'svc_csrf'), IDLE_MS / 1000, 4), name)
      }
    })

    test('tabs that refresh at all of them at once, 30 rounds: nobody is logged out', async () => {
      const { agent } = await signedUp(behind.service)
      for (let round = 0; round < 30; round++) {
        const tabs = Array.from({ length: 6 }, (_, index) => replicas[(index + round) % 3]?.service ?? assert.fail())
        const cookie = agent.cookies.header('/auth/') ?? ''
        const answers = await Promise.all(tabs.map((tab) => at(tab, agent).refresh('audience=app', { cookie })))
        assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]), `round ${round}`)
        if (round % 5 === 0) await pass(20_000)
      }
      await assertUsableEverywhere(skewed, agent)
    })

    test('a replay within the grace period is an honest tab, at every replica', async () => {
      const tabs: (() => Promise<void>)[] = []
      for (const [here, there] of pairs(skewed)) {
        const { agent } = await signedUp(here.service)
        const tab = at(there.service, agent.copy())
        assert.equal((await agent.refresh()).status, 200)
        tabs.push(async () => {
          const answer = await tab.refresh()
          assert.equal(answer.status, 200, `replaced by the one that is ${here.name}, replayed at ${there.name}`)
          await assertSignedIn(agent)
        })
      }
      await pass(GRACE_MS - 8000)
      for (const tab of tabs) await tab()
    })

    test('a replay after the grace period is theft, at every replica', async () => {
      const thefts: (() => Promise<void>)[] = []
      for (const [here, there] of pairs(skewed)) {
        const { agent } = await signedUp(here.service)
        const thief = at(there.service, agent.copy())
        assert.equal((await agent.refresh()).status, 200)
        thefts.push(async () => {
          const where = `replaced by the one that is ${here.name}, replayed at ${there.name}`
          assert.equal((await thief.refresh()).status, 401, where)
          await assertSignedOut(agent)
        })
      }
      await pass(GRACE_MS + 2000)
      for (const theft of thefts) await theft()
    })

    test('an access token and a session expire at the same time everywhere', async () => {
      const agents: UserAgent[] = []
      for (const { service } of replicas) agents.push((await signedUp(service)).agent)
      await pass(ACCESS_MS - 8000)
      for (const agent of agents) await assertStatusEverywhere(skewed, agent, 200)
      await pass(9000)
      for (const agent of agents) await assertStatusEverywhere(skewed, agent, 401)
      await pass(IDLE_MS - ACCESS_MS)
      for (const [index, agent] of agents.entries()) {
        const { service } = replicas[(index + 1) % 3] ?? assert.fail()
        assertJsonError(await at(service, agent).refresh(), 401, 'unauthorized')
      }
    })

    test('cookies that a login has just replaced are kept within the grace period, and cleared after it', async () => {
      const lates: UserAgent[] = []
      for (const [here, there] of pairs(skewed)) {
        const { agent, person } = await signedUp(here.service)
        lates.push(at(there.service, agent.copy()))
        assert.equal((await logIn(agent, person)).status, 303)
      }
      await pass(GRACE_MS - 8000)
      for (const late of lates) assert.deepEqual((await late.copy().refresh()).setCookies, [])
      await pass(10_000)
      for (const late of lates)
        assert.deepEqual((await late.refresh()).cleared.sort(), [
          'svc_access',
          'svc_fresh',
          'svc_refresh',
          'svc_session',
        ])
    })

    test('a rotation of the keys by the replica that is behind invalidates no token, before, during and after it', async () => {
      const { agent } = await signedUp(behind.service)
      assert.equal((await behind.service.cli(['keys', 'rotate'])).code, 0)
      for (let passedMs = 0; passedMs < 300_000; passedMs += 25_000) {
        await pass(25_000)
        for (const { name, service } of replicas)
          assert.equal((await at(service, agent).get('/auth/api/v1/user')).status, 200, `${passedMs} ms at ${name}`)
        // By its clock, the old key signs for the longest time.
        assert.equal((await at(behind.service, agent).refresh()).status, 200)
      }
      await assertUsableEverywhere(skewed, agent)
    })
  })
}

const HUNDRED_DAYS = 100 * 24 * 3_600_000

// Nobody listens there.
const WEBHOOKS = { SVC_WEBHOOK_URL: 'http://127.0.0.1:9/', SVC_WEBHOOK_SECRET: 'x'.repeat(32) }

const registerCleanup = () => {
  test('a replica whose clock is a hundred days ahead deletes nothing, and says so', async (t) => {
    const cwd = temporaryDirectory(t)
    const right = await startService({ t, cwd, env: WEBHOOKS })
    const database = await openDatabase(right, t)
    const { person } = await signedUp(right)
    assert.equal((await right.cli(['users', 'reset-link', person.email])).code, 0)
    await database.rows('UPDATE webhook_events SET closed_at = created_at, problem = ?', 'it was given up')
    const counts = async () => {
      const tables = [
        'audit_events',
        'webhook_events',
        'links',
        'mail_messages',
        'sessions',
        'signing_keys',
        'counters',
      ]
      const found: Record<string, unknown> = {}
      for (const table of tables)
        found[table] = (await database.rows(`SELECT COUNT(*) AS count FROM ${table}`))[0]?.count
      return found
    }
    const before = await counts()
    assert.ok(Number(before.audit_events) > 0 && Number(before.webhook_events) > 0 && Number(before.links) > 0)
    const clock = turnedClock().skewed(HUNDRED_DAYS)
    const ahead = await startService({ t, cwd, env: { ...WEBHOOKS, SVC_CLEANUP_INTERVAL: '20ms' }, clock })
    const told = () => ahead.logLines().filter(({ message }) => message.endsWith('nothing is deleted'))
    await eventually('it says so', () => told().length > 0)
    // Long enough for many clean-ups.
    await sleep(300)
    assert.deepEqual(await counts(), before)
    assert.equal(told().length, 1, 'once in ten minutes')
    assert.ok(Number(told()[0]?.ahead_ms) > HUNDRED_DAYS - 60_000)
    const doctor = await ahead.cli(['doctor', 'http://127.0.0.1:1'], { clock })
    assert.match(doctor.stdout, /clock of the database is 8640000 s behind that of this machine/)
  })
}

// The replicas of SQLite are processes of one machine, which has one clock.
if (databaseChoice === 'postgres') {
  registerCleanup()
  await registerTests()
}
