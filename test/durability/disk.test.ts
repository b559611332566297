// Runs on SQLite.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Person, logIn, newAgent, newPerson, signedUp, signUp } from '../support/client/accounts.ts'
import {
  assertCanLogIn,
  assertErrorPage,
  assertJsonError,
  assertSignedIn,
  assertSignedOut,
} from '../support/client/assertions.ts'
import { type Answer, createUserAgent } from '../support/client/user-agent.ts'
import { databasePath, openDatabaseFile } from '../support/database/database-file.ts'
import { canMount, runSvc, spawnSvc } from '../support/service/command.ts'
import { type Disk, watchDisk } from '../support/service/disk.ts'
import { type ServiceProcess, startServiceProcess } from '../support/service/service-process.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { eventually, within } from '../support/wait.ts'
import path from 'node:path'

const startOn = (disk: Disk, t: Parameters<typeof watchDisk>[0]['t'], env: Record<string, string> = {}) =>
  startServiceProcess({
    t,
    cwd: disk.directory,
    env: { ...disk.env, SVC_DATABASE_TIMEOUT: '400ms', SVC_REFRESH_GRACE: '1s', ...env },
  })

const isReady = (service: ServiceProcess) => async () =>
  (await createUserAgent(service).get('/auth/ready')).status === 200

const FAILED = 'a sync to disk failed: svc ends, and its next start goes on from what is on disk'

const messagesOf = (service: ServiceProcess) => service.logLines().map(({ message }) => message)

describe('the disk', { concurrency: 2 }, () => {
  test('that stalls: 503 within the time limit, reading goes on, and all is well when it answers again', async (t) => {
    const disk = watchDisk({ t })
    const service = await startOn(disk, t)
    const { agent, person } = await signedUp(service)
    const probe = createUserAgent(service)
    const copy = agent.copy()
    disk.hold()
    const caught = await within(60, 'an answer', agent.refresh())
    assertJsonError(caught, 503, 'unavailable')
    assert.deepEqual(caught.cleared, [])
    await assertSignedIn(agent)
    assert.match(assertJsonError(await probe.get('/auth/ready'), 503, 'unavailable'), /disk does not answer/)
    const { begun } = disk.syncs()
    assertErrorPage(await signUp(newAgent(service), newPerson()), 503)
    assertJsonError(await agent.refresh(), 503, 'unavailable')
    assert.equal(disk.syncs().begun, begun, 'nothing more is handed to a disk that does not answer')
    // Longer than the grace: the browser has never got the new token.
    await sleep(1200)
    disk.letGo()
    await eventually('the disk is back', isReady(service))
    assert.equal((await agent.refresh()).status, 200, 'the lost response is not theft')
    assert.equal((await agent.refresh()).status, 200)
    await assertCanLogIn(service, person)
    await signedUp(service)
    await sleep(1200)
    assertJsonError(await copy.refresh(), 401, 'unauthorized')
    await assertSignedOut(agent)
    assert.ok(messagesOf(service).includes('database does not answer'))
    assert.ok(messagesOf(service).includes('database answers again'))
  })

  test('that stalls in one process: another one that shares the database takes a refresh without an outcome for no theft', async (t) => {
    const disk = watchDisk({ t })
    const service = await startOn(disk, t)
    const env = { SVC_REFRESH_GRACE: '1s', SVC_DATABASE_URL: `sqlite:${databasePath(disk.directory)}` }
    const other = await startServiceProcess({ t, cwd: disk.directory, env })
    const { agent, person } = await signedUp(service)
    disk.hold()
    assertJsonError(await agent.refresh(), 503, 'unavailable')
    assertErrorPage(await logIn(newAgent(service), person), 503)
    await sleep(1200)
    disk.letGo()
    await eventually('the disk is back', isReady(service))
    // The row is changed half a second after the disk is back.
    await eventually('the row is changed', () =>
      String(openDatabaseFile(disk, t).rows('SELECT replaced_at FROM sessions')[0]?.replaced_at).includes(
        String(Number.MAX_SAFE_INTEGER),
      ),
    )
    const elsewhere = createUserAgent(other, agent.cookies.copy())
    assert.equal((await elsewhere.refresh()).status, 200)
    assert.equal((await elsewhere.refresh()).status, 200)
  })

  test('that stalls keeps the service from nothing when it is told to stop', async (t) => {
    const disk = watchDisk({ t })
    const service = await startOn(disk, t)
    const { agent, person } = await signedUp(service)
    disk.hold()
    assertJsonError(await agent.refresh(), 503, 'unavailable')
    const ended = service.ended()
    service.signal('SIGTERM')
    await within(60, 'the end', ended)
    disk.letGo()
    await service.restart()
    await assertCanLogIn(service, person)
  })

  for (const how of [undefined, 'drop'] as const) {
    const title = how ? 'and loses what it has not written' : 'and keeps it in memory'
    test(`that fails to sync ${title}: the process ends, and the next start has all that was acknowledged`, async (t) => {
      const disk = watchDisk({ t, log: true })
      const service = await startOn(disk, t)
      const { agent, person } = await signedUp(service)
      const made: Person[] = []
      const refused: Person[] = []
      const signUpUntilItEnds = async () => {
        for (;;) {
          const someone = newPerson()
          const answer = await signUp(newAgent(service), someone).catch(() => undefined)
          const isMade = answer?.status === 303
          const list = isMade ? made : refused
          list.push(someone)
          if (answer === undefined) return
          if (!isMade) assertErrorPage(answer, 503)
        }
      }
      const ended = service.ended()
      const signups = Array.from({ length: 4 }, signUpUntilItEnds)
      await eventually('some are made', () => made.length > 8)
      disk.failOnce(how)
      assert.equal(await ended, 1)
      await Promise.all(signups)
      const [first] = service.logLines().filter(({ level }) => level === 'error')
      assert.equal(first?.message, FAILED)
      assert.match(JSON.stringify(first?.err), /EIO/)

      await service.restart()
      for (const someone of [person, ...made]) await assertCanLogIn(service, someone)
      await assertSignedIn(agent)
      assert.equal((await agent.refresh()).status, 200)
      for (const someone of refused) {
        const { status } = await signUp(newAgent(service), someone)
        assert.ok(status === 303 || status === 409, 'what was refused has happened or not')
      }
      const { agent: later } = await signedUp(service)
      assert.equal(openDatabaseFile(service, t).rows('PRAGMA integrity_check')[0]?.integrity_check, 'ok')
      await service.kill()
      await service.restart()
      await assertSignedIn(later)
      assert.equal((await later.refresh()).status, 200)
    })
  }

  test('that fails a sync later than within the time limit: 503, and then the process ends', async (t) => {
    const disk = watchDisk({ t })
    const service = await startOn(disk, t)
    const { agent, person } = await signedUp(service)
    disk.hold()
    assertJsonError(await agent.refresh(), 503, 'unavailable')
    const ended = service.ended()
    disk.failOnce()
    disk.letGo()
    assert.equal(await ended, 1)
    assert.ok(messagesOf(service).includes(FAILED))
    await service.restart()
    await assertCanLogIn(service, person)
  })

  test('that fails to sync ends a command, too, which says why', async (t) => {
    const disk = watchDisk({ t })
    disk.failOnce()
    const { code, stderr } = await runSvc({ args: ['keys', 'rotate'], cwd: disk.directory, env: disk.env })
    assert.equal(code, 1)
    assert.match(stderr, /a sync to disk failed/)
    assert.equal((await runSvc({ args: ['keys', 'list'], cwd: disk.directory, env: disk.env })).code, 0)
  })

  test('a start moves the log of before into the database file: in memory it may be all there is of it', async (t) => {
    const disk = watchDisk({ t })
    const service = await startOn(disk, t)
    const { person } = await signedUp(service)
    const emails = () => {
      const alone = path.join(temporaryDirectory(t), 'svc.db')
      copyFileSync(databasePath(disk.directory), alone)
      const database = new DatabaseSync(alone)
      const rows = database.prepare("SELECT name FROM sqlite_master WHERE name = 'users'").all()
      const found = rows.length > 0 ? database.prepare('SELECT email FROM users').all() : []
      database.close()
      return found.map(({ email }) => email)
    }
    assert.deepEqual(emails(), [])
    await service.kill()
    await service.restart()
    assert.deepEqual(emails(), [person.email])
  })

  if (canMount())
    test('that is full at the start is named, by the service and by commands', async (t) => {
      const directory = temporaryDirectory(t)
      const smallDisk = { folder: path.join(directory, 'small'), sizeKiB: 64 }
      mkdirSync(smallDisk.folder)
      const env = { SVC_DATABASE_URL: `sqlite:${path.join(smallDisk.folder, 'svc.db')}` }
      for (const args of [['serve'], ['migrate'], ['users', 'list'], ['doctor', 'http://127.0.0.1:9']]) {
        const child = spawnSvc({ args, cwd: directory, env, smallDisk })
        let output = ''
        child.stdout.on('data', (text: Buffer) => (output += text.toString()))
        child.stderr.on('data', (text: Buffer) => (output += text.toString()))
        const [code] = await within(60, 'its end', once(child, 'close'))
        assert.equal(code, 1, output)
        assert.match(
          output,
          /disk is full: \d+ KB are left in \S+\/small|disk_low: 0 MB are left in \S+\/small/,
          args[0],
        )
      }
    })

  // Where the machine lets nobody mount one, as some containers do, RLIMIT_FSIZE stands for it (availability.test.ts).
  if (canMount())
    test('that is full: 503, reading goes on, and alive again as soon as there is room', async (t) => {
      const directory = temporaryDirectory(t)
      const folder = path.join(directory, 'small')
      mkdirSync(folder)
      const env = { SVC_DATABASE_URL: `sqlite:${path.join(folder, 'svc.db')}` }
      const service = await startServiceProcess({ t, cwd: directory, env, smallDisk: { folder, sizeKiB: 4096 } })
      const { agent, person } = await signedUp(service)
      // The folder as the service sees it.
      const ballast = path.join(`/proc/${service.pid()}/root`, folder, 'ballast')
      assert.throws(() => writeFileSync(ballast, Buffer.alloc(8 * 1024 * 1024)), { code: 'ENOSPC' })
      const made: Person[] = []
      const signUpUntilFull = async (): Promise<Answer> => {
        for (let tries = 0; tries < 500; tries++) {
          const someone = newPerson()
          const answer = await signUp(newAgent(service), someone)
          if (answer.status !== 303) return answer
          made.push(someone)
        }
        return assert.fail('the disk is never full')
      }
      const refused = await signUpUntilFull()
      assertErrorPage(refused, 503)
      assert.match(refused.headers['retry-after'] ?? '', /^[1-9]/)
      await assertSignedIn(agent)
      const refresh = await agent.refresh()
      if (refresh.status !== 200) assertJsonError(refresh, 503, 'unavailable')
      assert.deepEqual(refresh.cleared, [])
      rmSync(ballast)
      await signedUp(service)
      assert.equal((await agent.refresh()).status, 200)
      for (const someone of [person, ...made.slice(-3)]) await assertCanLogIn(service, someone)
    })
})
