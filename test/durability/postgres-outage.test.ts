import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { assertErrorPage, assertJsonError, assertPage, assertSignedIn, assertSignedOut } from '../support/assertions.ts'
import { eventually } from '../support/patience.ts'
import { logIn, logOut, newPerson, signUp, signedUp } from '../support/people.ts'
import { connect } from '../support/postgres-databases.ts'
import { startPostgres } from '../support/postgres.ts'
import { startService } from '../support/service.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'
import { type Answer, createUserAgent } from '../support/user-agent.ts'

const ROLE = 'svc_test'
const PASSWORD = 'open-sesame-4711'
const csrfToken = 'x'.repeat(43)

const postgres = await startPostgres({ settings: { max_connections: 30 } })
const operate = (sql: string) => postgres.query(postgres.url(), sql)
const database = new URL(await postgres.createDatabase()).pathname.slice(1)

/** From now on the role of the service needs its password; who operates the server needs none. */
const requirePassword = async () => {
  await operate(`CREATE ROLE ${ROLE} LOGIN PASSWORD '${PASSWORD}'`)
  await operate('CREATE ROLE crowd LOGIN')
  await operate(`ALTER DATABASE ${database} OWNER TO ${ROLE}`)
  const [row] = await postgres.query<{ hba_file: string }>(postgres.url(), 'SHOW hba_file')
  const rules = ['postgres 127.0.0.1/32 trust', 'crowd 127.0.0.1/32 trust', 'all 127.0.0.1/32 scram-sha-256']
  const lines = rules.map((rule) => `'host all ${rule}'`).join(', ')
  await operate(`COPY (SELECT unnest(ARRAY[${lines}])) TO '${row?.hba_file}'`)
  await operate('SELECT pg_reload_conf()')
}
await requirePassword()

const proxy = await startTcpProxy(postgres)
const service = await startService({
  env: {
    SVC_DATABASE_URL: `postgres://${ROLE}:${PASSWORD}@127.0.0.1:${proxy.port}/${database}`,
    SVC_DATABASE_TIMEOUT: '500ms',
    SVC_DATABASE_POOL: '6',
    SVC_SECRET: randomBytes(32).toString('base64'),
  },
})

/** People whom an outage finds in the middle of what they do. */
const gather = async () => {
  const [{ agent: reader, person }, { agent: leaver }] = await Promise.all([signedUp(service), signedUp(service)])
  return { reader, person, leaver }
}
type People = Awaited<ReturnType<typeof gather>>

const stranger = () => {
  const agent = createUserAgent(service)
  agent.cookies.set('svc_csrf', csrfToken)
  return agent
}

/** What every one of them is answered, all at once. */
const askAll = async ({ reader, person, leaver }: People) => {
  const [user, refresh, account, login, signup, logout] = await Promise.all([
    reader.get('/auth/api/v1/user'),
    reader.copy().refresh(),
    reader.get('/auth/account'),
    logIn(stranger(), person),
    signUp(stranger(), newPerson()),
    logOut(leaver.copy()),
  ])
  return { user, refresh, account, login, signup, logout }
}
type Question = keyof Awaited<ReturnType<typeof askAll>>

const USUAL: Record<Question, number> = { user: 200, refresh: 200, account: 200, login: 303, signup: 303, logout: 303 }
const isJson = (question: Question) => question === 'user' || question === 'refresh'
const WRITES: Question[] = ['refresh', 'login', 'signup', 'logout']
const ALL: Question[] = ['user', 'account', ...WRITES]

const assertRefused = (question: Question, answer: Answer) => {
  if (isJson(question)) assertJsonError(answer, 503, 'unavailable')
  else assertErrorPage(answer, 503)
  assert.match(answer.headers['retry-after'] ?? '', /^[1-9]\d*$/)
  assertHarmless(answer)
}

/** It changes nothing in the browser and tells nothing of the database. */
const assertHarmless = (answer: Answer) => {
  assert.deepEqual(answer.setCookies, [])
  assert.doesNotMatch(answer.text, new RegExp(`${PASSWORD}|${ROLE}|postgres:|127\\.0\\.0\\.1`))
}

const ready = () => createUserAgent(service).get('/auth/ready')

const assertAllUsual = async (people: People) => {
  for (const [question, answer] of Object.entries(await askAll(people))) {
    assert.equal(answer.status, USUAL[question as Question], `${question}: ${answer.text}`)
  }
  await assertSignedOut(people.leaver)
  assert.equal((await people.reader.refresh()).status, 200, 'the token of before the outage still works')
  await assertSignedIn(people.reader)
  assert.equal((await createUserAgent(service).get('/auth/health')).status, 200)
}

interface Outage {
  title: string
  begin: () => unknown
  end: () => unknown
  /** What cannot be answered meanwhile. */
  refused?: Question[]
  /** Whether the service as a whole cannot do its work. */
  isDown?: boolean
}

const disconnect = () => operate(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${ROLE}'`)
const inDatabase = (sql: string) => postgres.query(postgres.url(database), sql)

/** Holds something for as long as an outage lasts. */
const holding = (url: () => string, statements: string[]) => {
  let client: Awaited<ReturnType<typeof connect>> | undefined
  return {
    begin: async () => {
      client = await connect(url())
      for (const statement of statements) await client.query(statement)
    },
    end: () => client?.end(),
  }
}
const locking = (table: string) =>
  holding(() => postgres.url(database), ['BEGIN', `LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`])

const crowd: Awaited<ReturnType<typeof connect>>[] = []
const fillServer = async () => {
  const url = new URL(postgres.url())
  url.username = 'crowd'
  try {
    for (;;) crowd.push(await connect(url.href))
  } catch (error) {
    assert.equal((error as { code?: string }).code, '53300')
  }
}
const emptyServer = () => Promise.all(crowd.splice(0).map((client) => client.end()))

/** Every write of accounts and sessions does this first. */
const onWrite = (action: string) => ({
  begin: () =>
    inDatabase(`
      CREATE FUNCTION hinder() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${action}; RETURN NULL; END $$;
      CREATE TRIGGER hinder BEFORE INSERT OR UPDATE OR DELETE ON users EXECUTE FUNCTION hinder();
      CREATE TRIGGER hinder BEFORE INSERT OR UPDATE OR DELETE ON sessions EXECUTE FUNCTION hinder()`),
  end: () => inDatabase('DROP FUNCTION hinder() CASCADE'),
})

const readOnly = async (value: string) => {
  const client = await connect(postgres.url())
  await client.query('SET default_transaction_read_only = off')
  await client.query(`ALTER SYSTEM SET default_transaction_read_only = ${value}`)
  await client.query('SELECT pg_reload_conf()')
  await client.end()
}

const setAside = async () => {
  await operate(`ALTER DATABASE ${database} ALLOW_CONNECTIONS false`)
  await disconnect()
  await operate(`CREATE DATABASE aside TEMPLATE ${database}`)
  await operate(`DROP DATABASE ${database} WITH (FORCE)`)
}
const putBack = async () => {
  await operate(`CREATE DATABASE ${database} TEMPLATE aside OWNER ${ROLE}`)
  await operate('DROP DATABASE aside')
}

const alterRole = (change: string) => async () => {
  await operate(`ALTER ROLE ${ROLE} ${change}`)
  await disconnect()
}

const OUTAGES: Outage[] = [
  { title: 'shuts down', begin: () => postgres.stop('fast'), end: postgres.start },
  { title: 'crashes', begin: () => postgres.stop('immediate'), end: postgres.start },
  { title: 'is frozen', begin: postgres.freeze, end: postgres.thaw },
  { title: 'is behind a network that swallows everything', begin: proxy.swallow, end: proxy.mend },
  { title: 'is behind a network that breaks every connection', begin: proxy.reset, end: proxy.mend },
  {
    title: 'has no connections left',
    begin: async () => {
      await disconnect()
      await fillServer()
    },
    end: emptyServer,
  },
  { title: 'has another password', begin: alterRole(`PASSWORD 'x'`), end: alterRole(`PASSWORD '${PASSWORD}'`) },
  { title: 'lets the role in no more', begin: alterRole('NOLOGIN'), end: alterRole('LOGIN') },
  {
    title: 'takes no connections to this database',
    begin: async () => {
      await operate(`ALTER DATABASE ${database} ALLOW_CONNECTIONS false`)
      await disconnect()
    },
    end: () => operate(`ALTER DATABASE ${database} ALLOW_CONNECTIONS true`),
  },
  { title: 'has its database dropped, and it is restored', begin: setAside, end: putBack },
  { title: 'has users locked by somebody', ...locking('users'), isDown: false },
  { title: 'has sessions locked by somebody', ...locking('sessions'), isDown: false },
  { title: 'becomes read-only', begin: () => readOnly('on'), end: () => readOnly('off'), refused: WRITES },
  { title: 'is full', ...onWrite(`RAISE EXCEPTION USING ERRCODE = 'disk_full'`), refused: WRITES, isDown: false },
  { title: 'is slow beyond the timeout', ...onWrite('PERFORM pg_sleep(20)'), refused: WRITES, isDown: false },
]

describe('PostgreSQL', () => {
  for (const { title, begin, end, refused = ALL, isDown = true } of OUTAGES) {
    test(`${title}: 503 and nothing else, and then all goes on`, async () => {
      const people = await gather()
      await begin()
      // The first are those who find out; the second come when it is known.
      for (let round = 0; round < 2; round++) {
        for (const [name, answer] of Object.entries(await askAll(people))) {
          const question = name as Question
          if (refused.includes(question)) assertRefused(question, answer)
          else assert.equal(answer.status, USUAL[question], `${question}: ${answer.text}`)
        }
        assert.equal((await createUserAgent(service).get('/auth/health')).status, 200)
      }
      if (isDown) assert.match(assertJsonError(await ready(), 503, 'unavailable'), /database/)
      await end()
      await eventually('ready again', async () => (await ready()).status === 200)
      await assertAllUsual(people)
    })
  }

  test('is made anew without tables: nobody is logged out, and the service says that it is not ready', async () => {
    const people = await gather()
    await setAside()
    await operate(`CREATE DATABASE ${database} OWNER ${ROLE}`)
    for (const answer of Object.values(await askAll(people))) {
      assert.ok([500, 503].includes(answer.status), answer.text)
      assertHarmless(answer)
    }
    assert.match(assertJsonError(await ready(), 503, 'unavailable'), /tables/)
    await operate(`DROP DATABASE ${database} WITH (FORCE)`)
    await putBack()
    await eventually('ready again', async () => (await ready()).status === 200)
    await assertAllUsual(people)
  })

  test('ends connections again and again: each request is answered as usual or 503', async () => {
    const people = await gather()
    let isOver = false
    const ending = (async () => {
      while (!isOver) await disconnect()
    })()
    for (let round = 0; round < 15; round++) {
      for (const [name, answer] of Object.entries(await askAll(people))) {
        const question = name as Question
        if (answer.status === 503) assertRefused(question, answer)
        else if (question !== 'logout') assert.equal(answer.status, USUAL[question], `${question}: ${answer.text}`)
      }
    }
    isOver = true
    await ending
    await eventually('ready again', async () => (await ready()).status === 200)
    await assertAllUsual({ ...(await gather()), reader: people.reader })
  })

  test('commits a refresh whose answer is lost: the same token is good for another try', async () => {
    const { agent } = await signedUp(service)
    proxy.onSent((piece) => (piece.includes('UPDATE sessions SET generation') ? 'mute' : undefined))
    await disconnect()
    assertRefused('refresh', await agent.refresh())
    proxy.onSent(undefined)
    const [row] = await postgres.query<{ count: number }>(
      postgres.url(database),
      'SELECT COUNT(*) AS count FROM sessions WHERE generation = 2',
    )
    assert.ok(row && row.count > 0, 'it was committed')
    await eventually('ready again', async () => (await ready()).status === 200)
    assert.equal((await agent.refresh()).status, 200)
    assert.equal((await agent.refresh()).status, 200)
    await assertSignedIn(agent)
  })

  test('has a table altered: statements that were prepared before are prepared anew', async () => {
    const people = await gather()
    await Promise.all(Array.from({ length: 20 }, () => assertSignedIn(people.reader)))
    await inDatabase('ALTER TABLE sessions ADD COLUMN later TEXT')
    await inDatabase('ALTER TABLE sessions ALTER COLUMN user_agent TYPE VARCHAR')
    await inDatabase('ALTER TABLE users ALTER COLUMN email TYPE VARCHAR')
    await Promise.all(Array.from({ length: 20 }, () => assertSignedIn(people.reader)))
    await assertAllUsual(people)
  })

  test('has one table locked: who needs it not does not wait for who does', async () => {
    const { reader } = await gather()
    const lock = locking('users')
    await inDatabase('CREATE TABLE elsewhere ()')
    await inDatabase(`CREATE FUNCTION look() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN PERFORM FROM elsewhere; RETURN NULL; END $$`)
    await inDatabase('CREATE TRIGGER look BEFORE INSERT ON users EXECUTE FUNCTION look()')
    const held = locking('elsewhere')
    await held.begin()
    const signups = Array.from({ length: 40 }, () => signUp(stranger(), newPerson()))
    const reads: Answer[] = []
    const everySignup = Promise.all(signups).then(() => 'over' as const)
    while ((await Promise.race([everySignup, sleep(5)])) !== 'over') reads.push(await reader.get('/auth/api/v1/user'))
    assert.ok(reads.length > 20)
    assert.deepEqual(new Set(reads.map(({ status }) => status)), new Set([200]))
    for (const answer of await Promise.all(signups)) assertPage(answer, 503)
    await held.end()
    await inDatabase('DROP FUNCTION look() CASCADE')
    void lock
  })

  test('is never spoken of in the log with its password', () => {
    assert.doesNotMatch(service.logs(), new RegExp(PASSWORD))
    assert.doesNotMatch(service.logs(), /nobody expected|unhandled|Warning/i)
  })
})
