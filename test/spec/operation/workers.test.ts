// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import cluster from 'node:cluster'
import { randomBytes } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import net from 'node:net'
import { availableParallelism } from 'node:os'
import path from 'node:path'
import type { TestContext } from 'node:test'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { readConfig } from '../../../src/config/config.ts'
import { createLog } from '../../../src/lib/log.ts'
import { createBackoff, createWorkers } from '../../../src/serve/workers.ts'
import { afterwards } from '../../support/cleanup.ts'
import { logIn, logOut, signedUp } from '../../support/client/accounts.ts'
import { assertJsonError, assertSignedIn } from '../../support/client/assertions.ts'
import type { Answer, UserAgent } from '../../support/client/user-agent.ts'
import { createUserAgent, urlEncoded } from '../../support/client/user-agent.ts'
import { testOnSqlite } from '../../support/database/database-choice.ts'
import { connectRaw } from '../../support/network/raw-connection.ts'
import { runSvc, spawnSvc } from '../../support/service/command.ts'
import { loggedLine, loggedRequest } from '../../support/service/request-log.ts'
import type { ServiceProcess } from '../../support/service/service-process.ts'
import { startServiceProcess } from '../../support/service/service-process.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { eventually, within } from '../../support/wait.ts'

const TWO = { SVC_WORKERS: '2' }

const read = (env: Record<string, string>) => readConfig(env, () => '')

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Sends requests on new connections until `count` processes have answered, and resolves to their pids. */
const meetWorkers = async (service: ServiceProcess, count = 2): Promise<Set<number>> => {
  const met = new Set<number>()
  await eventually(`${count} workers answer`, async () => {
    const answer = await createUserAgent(service).get('/auth/login', { connection: 'close' })
    assert.equal(answer.status, 200)
    const { pid } = await loggedRequest(service, answer)
    if (typeof pid === 'number') met.add(pid)
    return met.size === count
  })
  return met
}

const workersOf = async (service: ServiceProcess, t: TestContext): Promise<[number, number]> => {
  const pids = [...(await meetWorkers(service))]
  // A test that fails leaves no worker behind: workers end with their supervisor, or else here.
  afterwards(t, () => pids.filter(isAlive).forEach((pid) => process.kill(pid, 'SIGKILL')))
  const [one, other] = pids
  assert.ok(one !== undefined && other !== undefined)
  return [one, other]
}

/** An agent for each of two workers, with a fixed connection. */
const agentsAtWorkers = async (service: ServiceProcess): Promise<[UserAgent, UserAgent]> => {
  const met = new Map<unknown, UserAgent>()
  await eventually('two workers answer', async () => {
    const agent = createUserAgent(service)
    const { pid } = await loggedRequest(service, await agent.get('/auth/logout'))
    met.set(pid, agent)
    return met.size === 2
  })
  const [one, other] = met.values()
  assert.ok(one && other)
  return [one, other]
}

/** Copies the cookies of one agent to another. */
const copySession = (from: UserAgent, to: UserAgent): void => {
  to.cookies.clear()
  for (const [name, path] of Object.entries({ svc_access: '/', svc_refresh: '/auth', svc_csrf: '/' }))
    to.cookies.set(name, from.cookies.get(name) ?? '', path)
}

const head = (method: string, more: string) => `${method} /auth/login HTTP/1.1\r\nHost: localhost\r\n${more}\r\n`

/** A login with half of its body sent: it is in flight in the worker `pid` until `finish`. */
const halfLogin = async (service: ServiceProcess, t: TestContext) => {
  const { person } = await signedUp(service)
  const csrf_token = 'x'.repeat(43)
  const body = urlEncoded({ email: person.email, password: person.password, csrf_token })
  const connection = await connectRaw(service, t)
  connection.write(head('GET', ''))
  const [, requestId] = /^x-request-id: (\S+)/im.exec(await connection.answer(/<\/html>/)) ?? []
  const { pid } = await loggedLine(service, (line) => line.request_id === requestId)
  const type = `Cookie: svc_csrf=${csrf_token}\r\nContent-Type: application/x-www-form-urlencoded\r\n`
  connection.write(`${head('POST', `${type}Content-Length: ${body.length}\r\n`)}${body.slice(0, 10)}`)
  return {
    pid: Number(pid),
    /** Sends the rest, and resolves to the response to the login, which may be empty. */
    finish: async () => {
      connection.write(body.slice(10))
      const all = await connection.answer(/HTTP\/1\.1 303[^]*\r\n\r\n/)
      return all.slice(all.indexOf('</html>'))
    },
  }
}

const isTaken = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1', () => resolve(true))
    socket.once('error', () => resolve(false)).once('connect', () => socket.destroy())
  })

const assertLoggedIn = (answer: string): void => {
  assert.match(answer, /HTTP\/1\.1 303/)
  assert.match(answer, /Set-Cookie: svc_access=/i)
}

/** Preloads code into every process of a service. The code can use `isWorker`. */
const preload = (t: TestContext, code: string) => {
  const folder = temporaryDirectory(t)
  const file = path.join(folder, 'tap.mjs')
  const head = `import fs from 'node:fs'\nimport net from 'node:net'\nimport cluster from 'node:cluster'\n`
  writeFileSync(
    file,
    `${head}const isBroken = () => fs.existsSync(${JSON.stringify(path.join(folder, 'broken'))})\n${code}`,
  )
  return {
    env: { NODE_OPTIONS: `--import ${file}` },
    break: () => writeFileSync(path.join(folder, 'broken'), ''),
    mend: () => rmSync(path.join(folder, 'broken')),
  }
}

const failingStart = `if (cluster.isWorker && isBroken()) process.exit(7)\n`
const failingListen = `if (cluster.isWorker && isBroken()) net.Server.prototype.listen = function () {
  process.nextTick(() => this.emit('error', Object.assign(new Error('taken'), { code: 'EADDRINUSE' })))
  return this
}\n`

/** Workers that run `code` in place of svc, and their log. */
const startFakeWorkers = (t: TestContext, code: string, pingEveryMs: number) => {
  const exec = path.join(temporaryDirectory(t), 'fake-worker.mjs')
  writeFileSync(exec, code)
  cluster.setupPrimary({ exec, args: [], serialization: 'advanced' })
  const lines: string[] = []
  const log = createLog('info', { write: (line) => void lines.push(line) })
  const workers = createWorkers({ config: read({}), log, stopWithinMs: 0, pingEveryMs })
  const end = (): Promise<void> => {
    const stopped = workers.stop()
    workers.kill()
    return stopped
  }
  afterwards(t, end)
  return { workers, end, logged: (text: string) => lines.filter((line) => line.includes(text)) }
}

const saysThatItServes = `process.send({ kind: 'serving', listen: 'nowhere' })\n`
const doesNothing = `setInterval(() => {}, 1000)\n`

describe('a worker that is alive but stuck', () => {
  testOnSqlite('a worker that never serves is killed', async (t) => {
    const { workers, logged } = startFakeWorkers(t, doesNothing, 10)
    await assert.rejects(within(20, 'the end', workers.start()), { message: 'A worker does not begin to serve.' })
    assert.equal(logged('worker does not begin to serve: it is killed').length, 1)
    await eventually('none of them is left', () => [...workers.alive()].length === 0)
  })

  testOnSqlite('a worker that does not answer is killed and replaced', async (t) => {
    // Long enough for the process to start on a busy machine.
    const { workers, end, logged } = startFakeWorkers(t, saysThatItServes + doesNothing, 300)
    assert.equal(await workers.start(), 'nowhere')
    await eventually('another one serves', () => logged('worker serves').length > 0)
    assert.ok(logged('worker does not answer: it is killed').length > 0)
    assert.ok(logged('"problem":"A worker does not answer."').length > 0)
    await end()
    assert.deepEqual([...workers.alive()], [])
  })
})

describe('processes on one machine sharing the port', { concurrency: 2 }, () => {
  testOnSqlite('the output at the start is that of one service, and each worker logs its pid', async (t) => {
    const service = await startServiceProcess({
      t,
      env: { ...TWO, SVC_TYPO: 'x', SVC_ARGON2: 'm=24576,t=2,p=1', SVC_HASHES_AT_ONCE: '3' },
    })
    const workers = await meetWorkers(service)
    assert.equal(workers.size, 2)
    const lines = service.logLines()
    const serving = lines.filter(({ message }) => message === 'svc is serving')
    assert.deepEqual(
      serving.map((line) => [line.workers, line.password_hashes]),
      [[2, 'm=24576,t=2,p=1; at most 6 at once, in 144 MiB']],
    )
    assert.equal(lines.filter(({ message }) => message.includes('SVC_TYPO')).length, 1)
    assert.ok(lines.every(({ message, pid }) => message === 'request' || pid === undefined))
    await service.stop()
    const last = service.logLines().filter(({ message }) => message.startsWith('stop'))
    assert.deepEqual(
      last.map(({ message, signal }) => [message, signal]),
      [
        ['stopping', 'SIGTERM'],
        ['stopped', undefined],
      ],
    )
  })

  testOnSqlite('a single process has no supervisor, and logs no pid', async (t) => {
    const service = await startServiceProcess({ t })
    const answer = await createUserAgent(service).get('/auth/login')
    assert.equal((await loggedRequest(service, answer)).pid, undefined)
    assert.ok(service.logLines().every((line) => line.workers === undefined))
  })

  test('a worker that dies is replaced, while the others keep serving', async (t) => {
    const service = await startServiceProcess({ t, env: TWO })
    const [victim, other] = await workersOf(service, t)
    for (let round = 0; round < 3; round++) {
      const before = service.logLines().length
      const target =
        round === 0 ? victim : Number(service.logLines().findLast((l) => l.message === 'worker serves')?.pid)
      process.kill(target, 'SIGKILL')
      await eventually('the process is gone', () => !isAlive(target))
      for (let count = 0; count < 30; count++) {
        const answer = await createUserAgent(service).get('/auth/ready', { connection: 'close' })
        assert.equal(answer.status, 200)
      }
      const { signal } = await loggedLine(service, (line) => line.message === 'worker ended' && line.pid === target)
      assert.equal(signal, 'SIGKILL')
      await eventually('another one serves', () =>
        service
          .logLines()
          .slice(before)
          .some(({ message }) => message === 'worker serves'),
      )
    }
    const now = await workersOf(service, t)
    assert.ok(now.includes(other) && !now.includes(victim))
    assert.equal(await service.stop(), 0)
    assert.deepEqual(now.filter(isAlive), [])
  })

  testOnSqlite(
    'SIGTERM to one worker: it finishes its requests, and another worker takes its place before that',
    async (t) => {
      const service = await startServiceProcess({ t, env: TWO })
      const half = await halfLogin(service, t)
      process.kill(half.pid, 'SIGTERM')
      const replaced = await loggedLine(service, ({ message }) => message === 'worker serves')
      assert.notEqual(replaced.pid, half.pid)
      assert.ok(isAlive(half.pid))
      assertLoggedIn(await half.finish())
      const ended = await loggedLine(service, ({ message }) => message === 'worker ended')
      assert.deepEqual([ended.pid, ended.code, ended.level], [half.pid, 0, 'info'])
      await meetWorkers(service)
      assert.equal(await service.stop(), 0)
    },
  )

  test('SIGTERM: all workers finish their requests, exit 0, and no process is left', async (t) => {
    const service = await startServiceProcess({ t, env: TWO })
    const pids = await workersOf(service, t)
    const halves = await Promise.all(Array.from({ length: 6 }, () => halfLogin(service, t)))
    const ended = service.ended()
    service.signal('SIGTERM')
    await loggedLine(service, ({ message }) => message === 'stopping')
    for (const half of halves) assertLoggedIn(await half.finish())
    assert.equal(await within(11, 'the stop', ended), 0)
    assert.deepEqual(pids.filter(isAlive), [])
  })

  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    testOnSqlite(
      `${signal} to every process at once, as from a terminal or systemd, interrupts no request`,
      async (t) => {
        const service = await startServiceProcess({ t, env: TWO })
        const pids = await workersOf(service, t)
        const halves = await Promise.all(Array.from({ length: 6 }, () => halfLogin(service, t)))
        const ended = service.ended()
        for (const pid of pids) process.kill(pid, signal)
        service.signal(signal)
        await loggedLine(service, ({ message }) => message === 'stopping')
        for (const pid of pids) process.kill(pid, signal)
        for (const half of halves) assertLoggedIn(await half.finish())
        assert.equal(await within(11, 'the stop', ended), 0)
        assert.deepEqual(pids.filter(isAlive), [])
      },
    )
  }

  testOnSqlite('a second SIGTERM ends everything at once', async (t) => {
    const service = await startServiceProcess({ t, env: TWO })
    const pids = await workersOf(service, t)
    await halfLogin(service, t)
    const ended = service.ended()
    service.signal('SIGTERM')
    await loggedLine(service, ({ message }) => message === 'stopping')
    service.signal('SIGTERM')
    assert.equal(await within(4, 'the end', ended), 1)
    await eventually('none of them is left', () => !pids.some(isAlive))
  })

  testOnSqlite(
    'a supervisor that is killed leaves no worker behind, and the workers finish their requests',
    async (t) => {
      const service = await startServiceProcess({ t, env: TWO })
      const pids = await workersOf(service, t)
      const half = await halfLogin(service, t)
      const killed = service.kill()
      await eventually('the port is free', async () => !(await isTaken(service.port)))
      assertLoggedIn(await half.finish())
      await within(10, 'all of them end', killed)
      await eventually('none of them is left', () => !pids.some(isAlive))
      await service.restart()
      await assertSignedIn((await signedUp(service)).agent)
    },
  )

  testOnSqlite('a taken port is one clear line, even if another svc with workers has it', async (t) => {
    const service = await startServiceProcess({ t, env: TWO })
    for (const workers of ['1', '2']) {
      const env = { SVC_PORT: String(service.port), SVC_WORKERS: workers }
      const { code, stderr } = await runSvc({ args: ['serve'], cwd: temporaryDirectory(t), env })
      assert.equal(code, 1)
      const said = stderr.split('\n').filter((line) => line.startsWith('svc: '))
      assert.deepEqual(said, [`svc: Port ${service.port} on 127.0.0.1 is taken: set SVC_PORT to another.`])
    }
    assert.equal((await meetWorkers(service)).size, 2)
  })

  testOnSqlite('an error at the start is printed once, with the exit code of one process', async (t) => {
    const cwd = temporaryDirectory(t)
    writeFileSync(path.join(cwd, 'letter.txt'), 'Dear Ada, this is no database at all.\n'.repeat(100))
    const run = (env: Record<string, string>) => runSvc({ args: ['serve'], cwd, env: { SVC_PORT: '0', ...env } })
    const noDatabase = { SVC_DATABASE_URL: 'sqlite:letter.txt', SVC_SECRET: randomBytes(32).toString('hex') }
    for (const env of [noDatabase, { SVC_HOST: '256.1.1.1' }, { SVC_DRAIN: 'never' }]) {
      const [alone, together] = [await run(env), await run({ ...env, ...TWO })]
      assert.ok(alone.code !== 0 && alone.code !== null)
      assert.deepEqual(together, alone)
    }
    assert.equal((await run({ SVC_WORKERS: '0' })).code, 78)
  })

  testOnSqlite('if no worker can start, the supervisor ends with their error', async (t) => {
    const crash = preload(t, failingStart)
    const taken = preload(t, failingListen)
    for (const [tap, words] of [
      [crash, /^svc: A worker ended before it could serve \(exit code 7\)\.\n$/],
      [taken, /^svc: Port \d+ on 127\.0\.0\.1 is taken: set SVC_PORT to another\.\n$/],
    ] as const) {
      tap.break()
      const env = { ...TWO, ...tap.env, SVC_PORT: '0', SVC_LOG_LEVEL: 'error' }
      const { code, stderr } = await runSvc({ args: ['serve'], cwd: temporaryDirectory(t), env })
      assert.equal(code, 1)
      assert.match(stderr, words)
    }
  })

  testOnSqlite('a replacement that cannot start is retried until it can', async (t) => {
    const tap = preload(t, failingListen)
    const service = await startServiceProcess({ t, env: { ...TWO, ...tap.env } })
    const [victim] = await workersOf(service, t)
    tap.break()
    process.kill(victim, 'SIGKILL')
    const failed = () => service.logLines().filter(({ problem }) => String(problem).startsWith('Port '))
    await eventually('three tries fail', () => failed().length >= 3)
    assert.equal((await createUserAgent(service).get('/auth/ready')).status, 200)
    tap.mend()
    await loggedLine(service, ({ message }) => message === 'worker serves')
    await meetWorkers(service)
    assert.equal(await service.stop(), 0)
  })

  testOnSqlite('only the worker that is stuck is killed and replaced', async (t) => {
    const service = await startServiceProcess({ t, env: TWO })
    const [victim, other] = await workersOf(service, t)
    process.kill(victim, 'SIGSTOP')
    // It is not killed before.
    await sleep(15_000)
    await loggedLine(service, ({ message }) => message === 'worker serves')
    const lines = service.logLines().filter(({ message }) => /^worker (?!serves)/.test(message))
    assert.deepEqual(
      lines.map(({ level, message, pid, signal }) => [level, message, pid, signal]),
      [
        ['warn', 'worker does not answer: it is killed', victim, undefined],
        ['warn', 'worker ended', victim, 'SIGKILL'],
      ],
    )
    const now = await workersOf(service, t)
    assert.ok(now.includes(other) && !now.includes(victim))
    assert.equal(await service.stop(), 0)
  })

  testOnSqlite('a process that is not a child of a supervisor cannot be a worker', async (t) => {
    const { code, stderr } = await runSvc({ args: ['worker'], cwd: temporaryDirectory(t) })
    assert.equal(code, 2)
    assert.match(stderr, /unknown command 'worker'/)
  })

  testOnSqlite('a stop while a replacement starts, or waits to be started, is no failure', async (t) => {
    const tap = preload(t, failingStart)
    const service = await startServiceProcess({ t, env: { ...TWO, ...tap.env } })
    const [victim] = await workersOf(service, t)
    tap.break()
    process.kill(victim, 'SIGKILL')
    await eventually('two tries fail', () => service.logLines().filter(({ code }) => code === 7).length >= 2)
    assert.equal(await service.stop(), 0)
  })

  testOnSqlite(
    'the delay before a replacement: none, then doubled from 100 ms to 10 s, and none again after a long run',
    () => {
      const pause = createBackoff()
      const young = Array.from({ length: 10 }, () => pause(50))
      assert.deepEqual(young, [0, 100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000])
      assert.deepEqual([pause(3_600_000), pause(50), pause(50)], [0, 100, 200])
    },
  )

  test('logout in one worker is refused by the other on the next request', async (t) => {
    const service = await startServiceProcess({ t, env: TWO })
    const agents = await agentsAtWorkers(service)
    const { person } = await signedUp(service)
    const answers: Answer[] = []
    for (let trial = 0; trial < 50; trial++) {
      const [here, there] = trial % 2 === 0 ? agents : [agents[1], agents[0]]
      await logIn(here, person)
      copySession(here, there)
      await assertSignedIn(there)
      assert.equal((await logOut(here)).status, 303)
      answers.push(await there.get('/auth/api/v1/user'))
    }
    for (const answer of answers) assertJsonError(answer, 401, 'unauthorized')
    const pids = await Promise.all(answers.map(async (answer) => (await loggedRequest(service, answer)).pid))
    assert.ok(pids.every((pid, trial) => pid === pids[trial % 2]) && pids[0] !== pids[1], pids.join(' '))
  })

  testOnSqlite('log lines of several processes are never mixed, even if they are read slowly', async (t) => {
    const service = await startServiceProcess({ t })
    await service.stop()
    const env = { ...service.env, ...TWO, SVC_LOG_LEVEL: 'debug' }
    const child = spawnSvc({ args: ['serve'], cwd: service.directory, env })
    afterwards(t, () => child.kill('SIGKILL'))
    let output = ''
    child.stderr.on('data', (text: string) => (output += text))
    await eventually('it serves', () => output.includes('svc is serving'))
    // Nothing is read, so that both processes have much to write at once.
    child.stderr.pause()
    const agents = Array.from({ length: 32 }, () => createUserAgent(service))
    const rounds = Array.from({ length: 60 })
    await Promise.all(
      agents.map(async (agent) => {
        for (const _ of rounds) assert.equal((await agent.get('/auth/health')).status, 200)
      }),
    )
    child.stderr.resume()
    const ended = new Promise((resolve) => child.once('close', resolve))
    const requests = () => output.split('\n').filter((line) => line.includes('"/auth/health"')).length
    await eventually('all is written', () => requests() >= agents.length * rounds.length)
    child.kill('SIGTERM')
    assert.equal(await ended, 0)
    const lines = output.split('\n').slice(0, -1)
    const pids = new Set(lines.map((line) => JSON.parse(line).pid))
    assert.equal(pids.size, 3, 'two workers, and the supervisor without')
  })

  testOnSqlite(
    'SVC_WORKERS is auto or a number, and the workers share the number of concurrent password hashes',
    () => {
      assert.equal(read({}).workers, 1)
      assert.equal(read({}).hashesAtOnce, availableParallelism())
      assert.equal(read({ SVC_WORKERS: 'auto' }).workers, availableParallelism())
      assert.equal(read({ SVC_WORKERS: 'auto' }).hashesAtOnce, 1)
      assert.equal(read({ SVC_WORKERS: '256' }).hashesAtOnce, Math.max(1, Math.floor(availableParallelism() / 256)))
      assert.equal(read({ SVC_WORKERS: '2', SVC_HASHES_AT_ONCE: '3' }).hashesAtOnce, 3)
      for (const wrong of ['0', '257', '-1', 'many', '1.5'])
        assert.throws(() => read({ SVC_WORKERS: wrong }), /SVC_WORKERS/)
    },
  )
})
