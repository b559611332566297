// Runs on SQLite.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Person } from '../support/client/accounts.ts'
import { logIn, newAgent, newPerson, signedUp, signUp } from '../support/client/accounts.ts'
import {
  assertCanLogIn,
  assertErrorPage,
  assertJsonError,
  assertSignedIn,
  assertSignedOut,
} from '../support/client/assertions.ts'
import type { Answer } from '../support/client/user-agent.ts'
import { createUserAgent } from '../support/client/user-agent.ts'
import { databasePath, openDatabaseFile } from '../support/database/database-file.ts'
import { canMount, spawnSvc } from '../support/service/command.ts'
import type { Disk } from '../support/service/disk.ts'
import { watchDisk } from '../support/service/disk.ts'
import type { ServiceProcess } from '../support/service/service-process.ts'
import { startServiceProcess } from '../support/service/service-process.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { eventually, within } from '../support/wait.ts'

const startOn = (disk: Disk, t: Parameters<typeof watchDisk>[0]['t'], env: Record<string, string> = {}) =>
  startServiceProcess({
    t,
    cwd: disk.directory,
    env: { ...disk.env, SVC_DATABASE_TIMEOUT: '400ms', SVC_REFRESH_GRACE: '1s', ...env },
  })

const isReady = (service: ServiceProcess) => async () =>
  (await createUserAgent(service).get('/auth/ready')).status === 200

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
    test(`that fails to sync ${title}: 503, and alive again without a restart`, async (t) => {
      const disk = watchDisk({ t, log: true })
      const service = await startOn(disk, t)
      const { agent, person } = await signedUp(service)
      disk.failOnce(how)
      const refused = newPerson()
      assertErrorPage(await signUp(newAgent(service), refused), 503)
      await eventually('the disk takes writes', isReady(service))
      await assertSignedIn(agent)
      assert.equal((await agent.refresh()).status, 200)
      assert.equal((await signUp(newAgent(service), refused)).status, how ? 303 : 409, 'the signup was lost, or made')
      const { agent: later } = await signedUp(service)
      const database = openDatabaseFile(service, t)
      assert.equal(database.rows('PRAGMA integrity_check')[0]?.integrity_check, 'ok')
      await service.kill()
      await service.restart()
      await assertSignedIn(later)
      await assertCanLogIn(service, person)
      assert.equal((await later.refresh()).status, 200)
      assert.equal(messagesOf(service).includes('database upkeep failed'), how === 'drop')
    })
  }

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
