// Runs on SQLite.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync, renameSync, rmSync } from 'node:fs'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterwards } from '../support/cleanup.ts'
import { type Person, logIn, newAgent, newPerson, signedUp, signUp } from '../support/client/accounts.ts'
import { assertCanLogIn, assertErrorPage, assertJsonError, assertSignedIn } from '../support/client/assertions.ts'
import { type UserAgent, createUserAgent } from '../support/client/user-agent.ts'
import { databasePath, openDatabaseFile } from '../support/database/database-file.ts'
import { spawnSvc } from '../support/service/command.ts'
import { startServiceProcess } from '../support/service/service-process.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { eventually, within } from '../support/wait.ts'
import net from 'node:net'
import path from 'node:path'

const freePort = async (): Promise<number> => {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  assert.ok(typeof address === 'object' && address)
  return address.port
}

/** Requests GET /auth/health again and again while `goesOn`, and returns how many answers came in that time. */
const answersWhile = async (probe: UserAgent, goesOn: () => boolean): Promise<number> => {
  for (let answers = 0; ; answers++) {
    assert.equal((await probe.get('/auth/health')).status, 200)
    if (!goesOn()) return answers
    await sleep(5)
  }
}

/** Refreshes 200 times at once, and returns how often GET /auth/health was answered before the first of them was. */
const healthyWhileRefreshing = async (agent: UserAgent, probe: UserAgent): Promise<number> => {
  const many = 200
  let unanswered = many
  const refreshes = Array.from({ length: many }, () =>
    agent
      .copy()
      .refresh()
      .finally(() => (unanswered -= 1)),
  )
  const [healthy, answers] = await Promise.all([answersWhile(probe, () => unanswered === many), Promise.all(refreshes)])
  for (const answer of answers) if (answer.status !== 200) assertJsonError(answer, 503, 'unavailable')
  return healthy
}

describe('faults around the service', { concurrency: 2 }, () => {
  test('while another process holds the write lock, 200 refreshes wait or are 503, and block nothing else', async (t) => {
    const service = await startServiceProcess({ t, env: { SVC_DATABASE_TIMEOUT: '20s' } })
    const { agent } = await signedUp(service)
    const database = openDatabaseFile(service, t)
    const probe = createUserAgent(service)
    const release = database.lock()
    // A refresh that blocked the others while it waits would be answered before the next request is read: at most one
    // is read before the first refresh, and one with it. A busy machine may need more than one attempt.
    let healthy = 0
    for (let attempt = 0; healthy < 3 && attempt < 5; attempt++) healthy = await healthyWhileRefreshing(agent, probe)
    release()
    assert.ok(healthy >= 3, `${healthy} answers of GET /auth/health while all refreshes waited`)
    assert.equal((await agent.refresh()).status, 200)
    await assertSignedIn(agent)
  })

  test('a log that nobody reads blocks neither the service nor its stop', async (t) => {
    const port = await freePort()
    const env = { SVC_PORT: String(port), SVC_LOG_LEVEL: 'debug' }
    const child = spawnSvc({ args: ['serve'], cwd: temporaryDirectory(t), env })
    const ended = once(child, 'exit')
    afterwards(t, () => child.kill('SIGKILL'))
    const probe = createUserAgent({ url: `http://localhost:${port}` })
    await eventually('it serves', () =>
      probe.get('/auth/health').then(
        () => true,
        () => false,
      ),
    )
    // More than a pipe and the streams at its ends hold.
    for (let round = 0; round < 12; round++) {
      const many = Array.from({ length: 50 }, () => probe.get(`/auth/${'x'.repeat(20)}/`.repeat(8)))
      await within(60, 'answers', Promise.all(many))
    }
    await signedUp({ url: `http://localhost:${port}` })
    child.kill('SIGTERM')
    assert.deepEqual(await within(60, 'the stop', ended), [0, null])
  })

  test('a log that cannot be written blocks neither the service nor its stop', async (t) => {
    const port = await freePort()
    const cwd = temporaryDirectory(t)
    const child = spawnSvc({ args: ['serve'], cwd, env: { SVC_PORT: String(port) }, errorsTo: '/dev/full' })
    const ended = once(child, 'exit')
    afterwards(t, () => child.kill('SIGKILL'))
    const service = { url: `http://localhost:${port}` }
    const isUp = () =>
      createUserAgent(service)
        .get('/auth/health')
        .then(({ status }) => status === 200)
        .catch(() => false)
    await eventually('it serves', isUp)
    const { agent } = await within(60, 'a signup', signedUp(service))
    // More than the log buffers before it writes.
    for (let round = 0; round < 20; round++) {
      await within(60, 'a request', agent.get('/auth/login'))
      await sleep(50)
    }
    await within(60, 'a last request', assertSignedIn(agent))
    child.kill('SIGTERM')
    const [code, signal] = await within(60, 'the stop', ended)
    assert.deepEqual([code, signal], [0, null])
  })

  test('once its database files are removed, GET /auth/ready is 503 and names the database', async (t) => {
    const service = await startServiceProcess({ t })
    const { agent } = await signedUp(service)
    const folder = path.join(service.directory, 'data')
    for (const name of readdirSync(folder)) if (name.startsWith('svc.db')) rmSync(path.join(folder, name))
    const probe = createUserAgent(service)
    assert.match(assertJsonError(await probe.get('/auth/ready'), 503, 'unavailable'), /database/i)
    assert.equal((await probe.get('/auth/health')).status, 200)
    // Nothing is acknowledged that would be lost with the process.
    assertJsonError(await agent.refresh(), 503, 'unavailable')
  })

  test('a backup that is moved over the open database is served as it is after a restart, and nothing before', async (t) => {
    const service = await startServiceProcess({ t })
    const { person } = await signedUp(service)
    assert.equal((await service.cli(['backup', 'backup.db'])).code, 0)
    const late = await signedUp(service)
    renameSync(path.join(service.directory, 'backup.db'), databasePath(service.directory))
    const refused = newPerson()
    assertErrorPage(await signUp(newAgent(service), refused), 503)
    const probe = createUserAgent(service)
    assert.match(assertJsonError(await probe.get('/auth/ready'), 503, 'unavailable'), /removed or replaced/)
    await assertSignedIn(late.agent)
    // A command opens what has the name now.
    const list = await service.cli(['users', 'list', '--json'])
    assert.deepEqual(
      JSON.parse(list.stdout).map(({ email }: Person) => email),
      [person.email],
    )
    assert.equal(await service.stop(), 0)
    await service.restart()
    await assertCanLogIn(service, person)
    assert.equal((await logIn(newAgent(service), late.person)).status, 401)
    await signUp(newAgent(service), refused)
    await assertCanLogIn(service, refused)
    assert.equal(openDatabaseFile(service, t).rows('PRAGMA integrity_check')[0]?.integrity_check, 'ok')
  })
})
