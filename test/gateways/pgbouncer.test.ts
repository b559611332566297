// Runs once.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { afterwards } from '../support/cleanup.ts'
import { logOut, newAgent, newPerson, signedUp, signUp } from '../support/client/accounts.ts'
import { createBackend } from '../support/client/backend.ts'
import { createUserAgent } from '../support/client/user-agent.ts'
import { postgresUrl } from '../support/database/database-choice.ts'
import { readDocument } from '../support/gateway/gateway-configuration.ts'
import { startPgBouncer } from '../support/postgres/pgbouncer.ts'
import { createDatabase } from '../support/postgres/postgres-databases.ts'
import { read } from '../support/revocations/feed.ts'
import { startService } from '../support/service/service.ts'
import { eventually } from '../support/wait.ts'

const ignored = /^ignore_startup_parameters *= *(\S+)$/m.exec(readDocument('scaling.md'))?.[1] ?? ''

const newDatabase = async (t: TestContext): Promise<string> => {
  const { url, drop } = await createDatabase(await postgresUrl())
  afterwards(t, drop)
  return url
}

const startBehind = (url: string, t: TestContext) =>
  startService({ t, env: { SVC_DATABASE_URL: url, SVC_SECRET: randomBytes(32).toString('hex') } })

const namesTheRemedy = /PgBouncer must be 1\.21 or later, with max_prepared_statements above 0/

test('PgBouncer in session mode, set up as docs/scaling.md says, serves', async (t) => {
  const bouncer = await startPgBouncer(
    await newDatabase(t),
    { pool_mode: 'session', ignore_startup_parameters: ignored },
    t,
  )
  const { agent } = await signedUp(await startBehind(bouncer.url, t))
  const answers = await Promise.all(Array.from({ length: 50 }, () => agent.get('/auth/api/v1/user')))
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
  assert.equal((await agent.refresh()).status, 200)
})

test('readers of revocations behind PgBouncer learn of endings at every replica', async (t) => {
  const settings = { pool_mode: 'session', ignore_startup_parameters: ignored } as const
  const { url } = await startPgBouncer(await newDatabase(t), settings, t)
  const env = { SVC_DATABASE_URL: url, SVC_SECRET: randomBytes(32).toString('hex'), SVC_BASE_URL: 'http://svc.example' }
  const [service, other] = [await startService({ t, env }), await startService({ t, env })]
  const backend = await createBackend(service, ['revocations:read'])
  const { next_cursor: cursor } = await read(backend)
  const waits = [service, other].map((replica) => read(backend.at(replica), { cursor, wait: 30 }))
  const { agent } = await signedUp(service)
  const id = agent.cookies.get('svc_refresh')?.split('.')[0]
  await logOut(agent)
  for (const page of await Promise.all(waits)) assert.deepEqual(page.events[0]?.session_ids, [id])
})

test('a start behind PgBouncer 1.18 in transaction mode fails with a message that names it and 1.21', async (t) => {
  const bouncer = await startPgBouncer(
    await newDatabase(t),
    { pool_mode: 'transaction', ignore_startup_parameters: ignored },
    t,
  )
  await assert.rejects(startBehind(bouncer.url, t), namesTheRemedy)
})

test('a PgBouncer that changes to transaction mode while svc runs causes 503, and the log names it', async (t) => {
  const settings = { ignore_startup_parameters: ignored }
  const bouncer = await startPgBouncer(await newDatabase(t), { ...settings, pool_mode: 'session' }, t)
  const service = await startBehind(bouncer.url, t)
  const { agent } = await signedUp(service)
  await bouncer.restart({ ...settings, pool_mode: 'transaction' })
  await eventually('the log names PgBouncer', async () => {
    // So many that their transactions overlap, however slow the machine hashes.
    const visitors = Array.from({ length: 20 }, () => newAgent(service))
    const answers = await Promise.all(visitors.map((visitor) => signUp(visitor, newPerson())))
    for (const { status, cleared } of answers) {
      assert.ok([303, 503].includes(status), String(status))
      assert.deepEqual(cleared, [])
    }
    return namesTheRemedy.test(service.logs())
  })
  assert.ok([200, 503].includes((await createUserAgent(service, agent.cookies).get('/auth/api/v1/user')).status))
})

test('a PgBouncer that refuses the startup parameters is named, with the setting that allows them', async (t) => {
  const bouncer = await startPgBouncer(await newDatabase(t), { pool_mode: 'session' }, t)
  await assert.rejects(startBehind(bouncer.url, t), new RegExp(`ignore_startup_parameters=${ignored} in PgBouncer`))
})
