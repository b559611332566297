// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { copyFileSync, existsSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, test } from 'node:test'
import { decodeProtectedHeader } from 'jose'
import { loggedIn, logIn, signedUp } from '../../support/client/accounts.ts'
import { assertJsonError, assertRedirect, assertSignedIn } from '../../support/client/assertions.ts'
import { createUserAgent, type UserAgent } from '../../support/client/user-agent.ts'
import { type TurnedClock, turnedClock } from '../../support/clock/turned-clock.ts'
import { testOnSqlite } from '../../support/database/database-choice.ts'
import { startOpenIdProvider } from '../../support/provider/openid-provider.ts'
import { newOpenIdUser } from '../../support/provider/openid-provider-users.ts'
import { startServiceWith } from '../../support/provider/provider-service.ts'
import { returnFromProvider, startAt } from '../../support/provider/provider-sign-in.ts'
import { setUpApp } from '../../support/second-factor/app-set-up.ts'
import { codeAt } from '../../support/second-factor/authenticator-app.ts'
import { accessToken } from '../../support/service/access-tokens.ts'
import { runSvc, spawnSvc } from '../../support/service/command.ts'
import { runCommandOf, runJsonCommandOf } from '../../support/service/operator-commands.ts'
import { at, startReplicaProcesses, startReplicas } from '../../support/service/replicas.ts'
import { type Service, startService } from '../../support/service/service.ts'
import { eventually } from '../../support/wait.ts'

interface Status {
  secret: string
  previous: string | null
  rotated_at: string | null
  sessions: number
  needed_until: string | null
  authenticator_apps: number
}

const MINUTE = 60_000

const secretFile = ({ directory }: { directory: string }) => path.join(directory, 'data', 'svc.secret')
const previousFile = (service: { directory: string }) => `${secretFile(service)}.previous`
const readSecrets = (service: { directory: string }) =>
  [secretFile(service), previousFile(service)].map((file) => existsSync(file) && readFileSync(file, 'utf8'))

const rotate = (service: Service, ...options: string[]) =>
  runJsonCommandOf<Status>(service, ['secret', 'rotate', ...options])
const status = (service: Service) => runJsonCommandOf<Status>(service, ['secret', 'status'])

const assertRefreshes = async (agent: UserAgent) => {
  const answer = await agent.refresh()
  assert.equal(answer.status, 200, answer.text)
  await assertSignedIn(agent)
}

const noticed = ({ logLines }: Service) =>
  logLines().filter(({ message }) => message.startsWith('the root secret was rotated')).length

/** The CSRF token was made with a removed root secret, too, so the response sets another one. */
const assertLoggedOut = async (agent: UserAgent) => {
  assertJsonError(await agent.refresh(), 403, 'forbidden')
  assertJsonError(await agent.refresh(), 401, 'unauthorized')
}

/** A forged token of an existing session, which makes the service look for another secret. */
const askWithUnknownToken = async (service: Service, agent: UserAgent) => {
  const [id, generation, proof = ''] = (agent.cookies.get('svc_refresh') ?? '').split('.')
  const anonymous = createUserAgent(service, agent.cookies.copy())
  anonymous.cookies.set('svc_refresh', `${id}.${generation}.${[...proof].toReversed().join('')}`, '/auth')
  assertJsonError(await anonymous.refresh(), 401, 'unauthorized')
}

/** An account with an authenticator app, and a login with its code, for which half a minute passes. */
const withApp = async (service: Service, clock: TurnedClock) => {
  const { agent, person } = await signedUp(service)
  const { secret } = await setUpApp(agent, clock.now())
  return async () => {
    await clock.turnTo(clock.aheadMs() + MINUTE)
    const browser = createUserAgent(service)
    await logIn(browser, person)
    assertRedirect(await browser.post('/auth/login/code', { code: codeAt(secret, clock.now()) }), '/')
  }
}

describe('§8.1 svc secret rotate, with the file svc.secret', { concurrency: 2 }, () => {
  testOnSqlite(
    'writes a new secret and keeps the old one; the running service uses it, and no user is logged out',
    async (t) => {
      const service = await startService({ t })
      const { agent, person } = await signedUp(service)
      const idle = await loggedIn(service, person)
      const [old] = readSecrets(service)
      const found = await rotate(service)
      const [current, previous] = readSecrets(service)
      assert.equal(previous, old)
      assert.notEqual(current, old)
      for (const file of [secretFile(service), previousFile(service)]) assert.equal(statSync(file).mode & 0o777, 0o600)
      assert.deepEqual([found.secret, found.previous], [secretFile(service), previousFile(service)])
      assert.equal(found.sessions, 2)

      await assertSignedIn(agent)
      await askWithUnknownToken(service, agent)
      await eventually('the log says so', () => noticed(service) === 1)
      await assertRefreshes(agent)
      const late = await loggedIn(service, person)

      // Tokens of the new secret are valid without the old one; tokens of the old secret are not.
      rmSync(previousFile(service))
      await service.restart()
      for (const it of [agent, late]) await assertRefreshes(it)
      await assertLoggedOut(idle)
    },
  )

  testOnSqlite('a form from before the rotation can be sent after it, and the CSRF token is renewed', async (t) => {
    const service = await startService({ t })
    const { agent } = await signedUp(service)
    const shown = agent.cookies.get('svc_csrf') ?? ''
    await rotate(service)
    await askWithUnknownToken(service, agent)
    await assertRefreshes(agent)
    const renewed = agent.cookies.get('svc_csrf') ?? ''
    assert.notEqual(renewed, shown)
    const username = `u${randomBytes(4).toString('hex')}`
    assertRedirect(
      await agent.post('/auth/account/username', { username, csrf_token: shown }),
      '/auth/account?done=username',
    )
    assert.equal(agent.cookies.get('svc_csrf'), renewed)
    const { agent: stranger } = await signedUp(service)
    const foreign = stranger.cookies.get('svc_csrf') ?? ''
    assert.equal((await agent.post('/auth/account/username', { username: 'other', csrf_token: foreign })).status, 403)
  })

  testOnSqlite(
    'a token of the previous secret has its grace period, and a replay after it ends the session',
    async (t) => {
      const clock = turnedClock()
      const service = await startService({ t, clock })
      const { agent } = await signedUp(service)
      const [tab, thief] = [agent.cookies.copy(), agent.cookies.copy()].map((jar) => createUserAgent(service, jar))
      assert.ok(tab && thief)
      await rotate(service)
      await askWithUnknownToken(service, agent)
      await assertRefreshes(agent)
      await assertRefreshes(tab)
      await assertRefreshes(agent)
      await clock.turnTo(MINUTE)
      assertJsonError(await thief.refresh(), 401, 'unauthorized')
      assertJsonError(await agent.refresh(), 401, 'unauthorized')
      assert.ok(service.logLines().some(({ message }) => message === 'refresh token reused: session revoked'))
    },
  )

  testOnSqlite('a running service decrypts a signing key that was made after the rotation', async (t) => {
    const service = await startService({ t })
    const { agent } = await signedUp(service)
    await rotate(service)
    const { id } = await runJsonCommandOf<{ id: string }>(service, ['keys', 'rotate', '--now'])
    await assertRefreshes(agent)
    assert.equal(decodeProtectedHeader(accessToken(agent)).kid, id)
  })

  testOnSqlite('each of several processes loads it by itself', async (t) => {
    const replicas = await startReplicaProcesses({ t })
    const { agent } = await signedUp(replicas[0])
    await rotate(replicas[0])
    for (const each of replicas) await eventually('it has noticed', () => noticed(each) === 1)
    for (const each of [...replicas, ...replicas]) await assertRefreshes(at(each, agent))
    rmSync(previousFile(replicas[0]))
    await replicas[1].restart()
    await assertRefreshes(at(replicas[1], agent))
  })

  testOnSqlite('codes of an app are right after it, also without the old secret', async (t) => {
    const clock = turnedClock()
    const service = await startService({ t, clock })
    const logInWithCode = await withApp(service, clock)
    assert.equal((await rotate(service)).authenticator_apps, 0)
    await logInWithCode()
    rmSync(previousFile(service))
    await service.restart()
    await logInWithCode()
  })

  testOnSqlite('a pending sign-in with a provider succeeds', async (t) => {
    const corp = await startOpenIdProvider()
    const service = await startServiceWith({ corp }, { t })
    const agent = createUserAgent(service)
    const callback = await corp.visit(await startAt(agent, 'corp', { return_to: '/there' }), {
      person: newOpenIdUser(),
    })
    await rotate(service)
    await service.restart()
    assertRedirect(await returnFromProvider(agent, callback), '/there')
    await assertSignedIn(agent)
  })

  testOnSqlite('is refused while sessions need the secret that it would overwrite, unless it is forced', async (t) => {
    const clock = turnedClock()
    const service = await startService({ t, clock })
    const { agent, person } = await signedUp(service)
    const idle = await loggedIn(service, person)
    await rotate(service)
    const secrets = readSecrets(service)

    const early = await service.cli(['secret', 'rotate', '--force'])
    assert.deepEqual([early.code, early.stdout], [1, ''])
    assert.match(early.stderr, /less than a minute ago/)

    await clock.turnTo(2 * MINUTE)
    await askWithUnknownToken(service, agent)
    await assertRefreshes(agent)
    const { sessions, needed_until } = await status(service)
    assert.equal(sessions, 1)
    const days = (Date.parse(needed_until ?? '') - Date.now()) / 86_400_000
    assert.ok(days > 13 && days < 14.1, `${days} days`)
    assert.match(
      await runCommandOf(service, ['secret', 'status']),
      /previous needed +by one session, until \S+ \S+ UTC/,
    )

    const refused = await service.cli(['secret', 'rotate'])
    assert.deepEqual([refused.code, refused.stdout], [1, ''])
    assert.match(refused.stderr, /not refreshed since the last rotation \(1\) .* --force\.\n$/)
    assert.deepEqual(readSecrets(service), secrets)

    await rotate(service, '--force')
    await askWithUnknownToken(service, agent)
    await assertRefreshes(agent)
    await assertLoggedOut(idle)
  })

  testOnSqlite('is made once no session needs the previous secret, which is then removed', async (t) => {
    const clock = turnedClock()
    const service = await startService({ t, clock })
    const { agent } = await signedUp(service)
    for (let round = 1; round <= 3; round++) {
      const [old] = readSecrets(service)
      await rotate(service)
      await clock.turnTo(2 * round * MINUTE)
      await askWithUnknownToken(service, agent)
      await assertRefreshes(agent)
      assert.equal((await status(service)).sessions, 0)
      assert.equal(readSecrets(service)[1], old)
    }
    await eventually('the log says so each time', () => noticed(service) === 3)
  })

  testOnSqlite('killed at any moment, it leaves secrets that fit the database', async (t) => {
    const service = await startService({ t })
    const { agent } = await signedUp(service)
    await service.stop()
    for (let round = 0; round < 4; round++) {
      const child = spawnSvc({ args: ['secret', 'rotate', '--force'], cwd: service.directory, env: service.env })
      const before = readSecrets(service)[0]
      const ended = new Promise((resolve) => child.once('exit', resolve))
      // When the file changes, which is in the middle of the rotation; in some rounds not at all.
      while (child.exitCode === null && readSecrets(service)[0] === before) {
        await new Promise((resolve) => setImmediate(resolve))
      }
      if (round % 2 === 0) child.kill('SIGKILL')
      await ended
      await service.restart()
      await assertRefreshes(agent)
      await service.stop()
    }
  })

  for (const [moment, leave] of Object.entries({
    'after the previous secret was written': (service: Service) =>
      copyFileSync(secretFile(service), previousFile(service)),
    'after the new secret was written': (service: Service) => {
      copyFileSync(secretFile(service), previousFile(service))
      writeFileSync(secretFile(service), `${randomBytes(32).toString('base64url')}\n`)
    },
    'with a draft left behind': (service: Service) => writeFileSync(`${secretFile(service)}.AbCdEfGh`, 'draft'),
  })) {
    testOnSqlite(`a rotation that ended ${moment} is completed by the next start`, async (t) => {
      const service = await startService({ t })
      const { agent } = await signedUp(service)
      await service.stop()
      leave(service)
      await service.restart()
      await assertRefreshes(agent)
      // By now the keys are encrypted with the current secret.
      rmSync(previousFile(service), { force: true })
      await service.restart()
      await assertRefreshes(agent)
    })
  }

  testOnSqlite('two at once: one is made, and the other is made after it or refused', async (t) => {
    const service = await startService({ t })
    const { agent } = await signedUp(service)
    const [old] = readSecrets(service)
    const args = ['secret', 'rotate', '--force']
    const results = await Promise.all([1, 2, 3].map(() => runSvc({ args, cwd: service.directory, env: service.env })))
    assert.deepEqual(
      results.map(({ code }) => Number(code)).toSorted((a, b) => a - b),
      [0, 1, 1],
    )
    assert.equal(readSecrets(service)[1], old)
    await service.restart()
    await assertRefreshes(agent)
  })

  testOnSqlite('a symbolic link to the file is kept', async (t) => {
    const service = await startService({ t })
    const { agent } = await signedUp(service)
    await service.stop()
    const elsewhere = path.join(service.directory, 'elsewhere')
    copyFileSync(secretFile(service), elsewhere)
    rmSync(secretFile(service))
    symlinkSync(elsewhere, secretFile(service))
    const before = readFileSync(elsewhere, 'utf8')
    await rotate(service)
    assert.notEqual(readFileSync(elsewhere, 'utf8'), before)
    assert.equal(readSecrets(service)[0], readFileSync(elsewhere, 'utf8'))
    await service.restart()
    await assertRefreshes(agent)
  })

  testOnSqlite(
    'a file that is replaced by mistake while the service runs is not used, and the log says so',
    async (t) => {
      const service = await startService({ t })
      const { agent } = await signedUp(service)
      const [right] = readSecrets(service)
      writeFileSync(secretFile(service), `${randomBytes(32).toString('base64url')}\n`)
      for (let times = 0; times < 3; times++) await askWithUnknownToken(service, agent)
      await assertRefreshes(agent)
      const complaints = () =>
        service.logLines().filter(({ message }) => message === 'the changed root secret is not used').length
      await eventually('the log says so', () => complaints() > 0)
      assert.equal(complaints(), 1)
      assert.ok(!service.logs().includes(String(right).trim()))
      const { code, stderr } = await service.cli(['secret', 'rotate'])
      assert.equal(code, 1)
      assert.match(stderr, /SVC_SECRET is not the secret that this database was made with/)
    },
  )

  testOnSqlite('a backup from before the rotation can be restored with the previous secret', async (t) => {
    const service = await startService({ t })
    const { agent } = await signedUp(service)
    const backup = path.join(service.directory, 'backup.db')
    await runCommandOf(service, ['backup', backup])
    await rotate(service)
    await service.stop()
    for (const ending of ['-wal', '-shm'])
      rmSync(path.join(service.directory, 'data', `svc.db${ending}`), { force: true })
    copyFileSync(backup, path.join(service.directory, 'data', 'svc.db'))
    await service.restart()
    await assertRefreshes(agent)
  })
})

describe('§8.1 the root secret of SVC_SECRET', { concurrency: 2 }, () => {
  const [first = '', second = '', third = ''] = [1, 2, 3].map(() => randomBytes(32).toString('hex'))

  test('svc secret rotate refuses, changes nothing, and explains the use of SVC_SECRET_PREVIOUS', async (t) => {
    const service = await startService({ t, env: { SVC_SECRET: first } })
    const { code, stdout, stderr } = await service.cli(['secret', 'rotate'])
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, /^svc: the root secret comes from SVC_SECRET/)
    assert.match(stderr, /Set SVC_SECRET to the new secret and SVC_SECRET_PREVIOUS to the old one/)
    assert.ok(!existsSync(secretFile(service)) && !existsSync(previousFile(service)))
  })

  test('rotated as documented, with replicas that restart one after the other: no user is logged out', async (t) => {
    const replicas = await startReplicas({ t, env: { SVC_SECRET: first } })
    const agents = await Promise.all(replicas.map(async (replica) => (await signedUp(replica)).agent))
    const idle = await Promise.all(replicas.map(async (replica) => (await signedUp(replica)).agent))

    const assertNobodyLoggedOut = async () => {
      for (const agent of agents) for (const replica of replicas) await assertRefreshes(at(replica, agent))
      for (const replica of replicas) agents.push((await signedUp(replica)).agent)
    }
    const restartAll = async (env: Record<string, string | undefined>) => {
      for (const replica of replicas) {
        await replica.restart({ env })
        await assertNobodyLoggedOut()
      }
    }
    await restartAll({ SVC_SECRET: first, SVC_SECRET_PREVIOUS: second })
    await restartAll({ SVC_SECRET: second, SVC_SECRET_PREVIOUS: first })
    // A replica that restarts with the settings of the previous step must not make the keys unreadable.
    await replicas[0].restart({ env: { SVC_SECRET: first, SVC_SECRET_PREVIOUS: second } })
    await assertNobodyLoggedOut()
    await replicas[0].restart({ env: { SVC_SECRET: second, SVC_SECRET_PREVIOUS: first } })
    await assertNobodyLoggedOut()
    const found = await status(replicas[0])
    assert.deepEqual([found.secret, found.previous], ['SVC_SECRET', 'SVC_SECRET_PREVIOUS'])
    for (const agent of idle) await assertRefreshes(agent)
    await restartAll({ SVC_SECRET: second, SVC_SECRET_PREVIOUS: undefined })
  })

  test('codes of an app are right all the way, and the status says when the old secret can go', async (t) => {
    const clock = turnedClock()
    const service = await startService({ t, clock, env: { SVC_SECRET: first } })
    const logInWithCode = await withApp(service, clock)
    await service.stop()
    const env = { SVC_SECRET: second, SVC_SECRET_PREVIOUS: first }
    const waiting = await service.cli(['secret', 'status'], { env })
    assert.match(waiting.stdout, /previous needed +by one authenticator app, until a service starts/)
    await service.restart({ env })
    await logInWithCode()
    await eventually('its secret is sealed again', async () => (await status(service)).authenticator_apps === 0)
    await service.restart({ env: { SVC_SECRET_PREVIOUS: undefined } })
    await logInWithCode()
  })

  test('a start with neither the current nor the previous secret of the database fails and says what to do', async (t) => {
    const service = await startService({ t, env: { SVC_SECRET: first } })
    const env = { SVC_SECRET: second, SVC_SECRET_PREVIOUS: third }
    const { code, stderr } = await service.cli(['keys', 'rotate'], { env })
    assert.equal(code, 1)
    assert.match(stderr, /SVC_SECRET is not the secret that this database was made with.* SVC_SECRET_PREVIOUS/)
    const alone = await service.cli(['keys', 'list'], { env: { SVC_SECRET: undefined, SVC_SECRET_PREVIOUS: first } })
    assert.equal(alone.code, 78)
    assert.match(alone.stderr, /SVC_SECRET is missing: it must be set when SVC_SECRET_PREVIOUS is/)
    const moved = await service.cli(['keys', 'rotate'], { env: { SVC_SECRET: second, SVC_SECRET_PREVIOUS: first } })
    assert.equal(moved.code, 0, moved.stderr)
  })
})
