// Runs on SQLite.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from 'jose'
import { loggedIn, signedUp } from '../../support/client/accounts.ts'
import { assertJsonError, assertSignedIn } from '../../support/client/assertions.ts'
import type { UserAgent } from '../../support/client/user-agent.ts'
import { type TurnedClock, turnedClock } from '../../support/clock/turned-clock.ts'
import { openDatabase } from '../../support/database/database.ts'
import { accessToken, publishedKeys } from '../../support/service/access-tokens.ts'
import { runSvc } from '../../support/service/command.ts'
import { runCommandOf, runJsonCommandOf } from '../../support/service/operator-commands.ts'
import { at, startReplicas } from '../../support/service/replicas.ts'
import { type Service, startService } from '../../support/service/service.ts'
import { eventually } from '../../support/wait.ts'

interface Key {
  id: string
  state: string
  created_at: string
  signs_at: string
  retired_at: string | null
  revoked_at: string | null
}

const SECOND = 1000
const MINUTE = 60 * SECOND

/** How long the JWK Set may be cached, in milliseconds. */
const MAX_AGE = 60 * SECOND
/** How much the clocks of two replicas may differ. */
const CLOCK_DIFFERENCE = 60 * SECOND

const list = (service: Service) => runJsonCommandOf<Key[]>(service, ['keys', 'list'])
const rotate = (service: Service, ...options: string[]) =>
  runJsonCommandOf<Key>(service, ['keys', 'rotate', ...options])
/** By an operator whose clock is wrong. */
const rotateWith = async (service: Service, clock: TurnedClock, ...options: string[]): Promise<Key> => {
  const { code, stdout, stderr } = await service.cli(['keys', 'rotate', '--json', ...options], { clock })
  assert.equal(code, 0, stderr)
  return JSON.parse(stdout)
}
const states = async (service: Service) => (await list(service)).map(({ id, state }) => [id, state])
const kidOf = (agent: UserAgent) => decodeProtectedHeader(accessToken(agent)).kid
const publishedIds = async (service: Service) => (await publishedKeys(service)).keys.map(({ kid }) => kid)
const newest = async (service: Service) => (await list(service))[0] ?? assert.fail('a key')

const refreshed = async (agent: UserAgent) => {
  assert.equal((await agent.refresh()).status, 200)
  return kidOf(agent)
}

describe('§3.1 svc keys rotate', () => {
  test('publishes the new key at once and signs with it once every verifier knows it, without a restart', async (t) => {
    const clock = turnedClock()
    const service = await startService({ t, clock })
    const { agent, person } = await signedUp(service)
    const old = kidOf(agent)
    const fetchedBefore = createLocalJWKSet(await publishedKeys(service))
    const began = Date.now()
    const key = await rotate(service)
    assert.equal(key.state, 'published')
    assert.deepEqual(await publishedIds(service), [key.id, old])
    assert.deepEqual(await states(service), [
      [key.id, 'published'],
      [old, 'signs'],
    ])

    // A verifier that fetched the keys just before the rotation may cache them for this time.
    for (const aheadMs of [0, MAX_AGE, MAX_AGE + CLOCK_DIFFERENCE - SECOND]) {
      await clock.turnTo(aheadMs)
      assert.equal(await refreshed(agent), old)
      assert.equal(kidOf(await loggedIn(service, person)), old)
      await jwtVerify(accessToken(agent), fetchedBefore, { currentDate: new Date(began + aheadMs) })
    }

    await clock.turnTo(Date.parse(key.signs_at) - Date.now())
    assert.equal(await refreshed(agent), key.id)
    assert.equal(kidOf(await loggedIn(service, person)), key.id)
    assert.deepEqual(await states(service), [
      [key.id, 'signs'],
      [old, 'retired'],
    ])
    assert.deepEqual(await publishedIds(service), [key.id, old], 'tokens of the old key stay good for their time')
  })

  test('prints the time from which the new key signs', async (t) => {
    const service = await startService({ t })
    const [old] = await list(service)
    const text = await runCommandOf(service, ['keys', 'rotate'])
    const key = await newest(service)
    const time = key.signs_at.slice(0, 19).replace('T', ' ')
    assert.ok(text.startsWith(`Key ${key.id} is published, and signs from ${time} UTC.\n`), text)
    const table = await runCommandOf(service, ['keys', 'list'])
    assert.match(table, new RegExp(`${key.id} +published +\\S+ \\S+ +${time}`))
    assert.match(table, new RegExp(`${old?.id} +signs +\\S+ \\S+ +\\S+ \\S+ +${time}`))
    assert.deepEqual([old?.retired_at, key.retired_at, key.revoked_at], [null, null, null])
  })

  test('three times within the margin: each key signs in turn, and tokens of all keys are valid', async (t) => {
    const clock = turnedClock()
    const service = await startService({ t, clock })
    const { agent } = await signedUp(service)
    const keys: Key[] = []
    for (const aheadMs of [0, 20 * SECOND, 40 * SECOND]) {
      await clock.turnTo(aheadMs)
      keys.push(await rotate(service))
    }
    const tokens = [accessToken(agent)]
    for (const key of keys) {
      await clock.turnTo(Date.parse(key.signs_at) - Date.now() + SECOND)
      assert.equal(await refreshed(agent), key.id)
      tokens.push(accessToken(agent))
    }
    for (const token of tokens) {
      const answer = await agent.get('/auth/api/v1/user', { cookie: `svc_access=${token}` })
      assert.equal(answer.status, 200, String(decodeProtectedHeader(token).kid))
    }
    assert.equal((await list(service)).filter(({ state }) => state === 'signs').length, 1)
  })

  test('by an operator whose clock is a minute behind: the keys sign one after the other all the same', async (t) => {
    const clock = turnedClock()
    const service = await startService({ t, clock })
    const { agent } = await signedUp(service)
    const first = await rotate(service)
    const second = await rotateWith(service, clock.skewed(-CLOCK_DIFFERENCE))
    assert.ok(second.signs_at >= first.signs_at, `${second.signs_at} after ${first.signs_at}`)
    for (const aheadMs of [1, 10 * MINUTE]) {
      await clock.turnTo(Date.parse(second.signs_at) - Date.now() + aheadMs)
      assert.equal(await refreshed(agent), second.id)
    }
  })

  test('two at once, on replicas: one key signs at a time, and both replicas agree which', async (t) => {
    const clock = turnedClock()
    const replicas = await startReplicas({ t, clock })
    const [one, two] = replicas
    const { agent } = await signedUp(one)
    const rotations = await Promise.all(
      replicas.map(({ directory, env }) => runSvc({ args: ['keys', 'rotate', '--json'], cwd: directory, env })),
    )
    const keys = rotations.map(({ stdout }): Key => JSON.parse(stdout))
    await clock.turnTo(10 * MINUTE)
    const signing = await refreshed(agent)
    assert.ok(keys.some(({ id }) => id === signing))
    assert.equal(await refreshed(at(two, agent)), signing)
    for (const replica of replicas) assert.equal((await publishedIds(replica)).length, 3)
    assert.equal((await list(one)).filter(({ state }) => state === 'signs').length, 1)
  })
})

describe('§3.1 svc keys rotate --now', () => {
  test('every replica refuses tokens of the old key from then on, and no user is logged out', async (t) => {
    const replicas = await startReplicas({ t })
    const [one, two] = replicas
    const { agent } = await signedUp(one)
    const [old] = await publishedIds(one)
    // Both replicas have verified this token, and have cached it.
    for (const replica of replicas) await assertSignedIn(at(replica, agent))
    const key = await rotate(one, '--now')
    assert.equal(key.state, 'signs')
    for (const replica of replicas) {
      assertJsonError(await at(replica, agent).get('/auth/api/v1/user'), 401, 'unauthorized')
      assert.deepEqual(await publishedIds(replica), [key.id])
    }
    const there = at(two, agent)
    assert.equal(await refreshed(there), key.id)
    for (const replica of replicas) await assertSignedIn(at(replica, there))
    const [first, second] = await list(one)
    assert.deepEqual([first?.id, first?.state, second?.id, second?.state], [key.id, 'signs', old, 'retired'])
    assert.ok(second?.revoked_at && second.retired_at === second.revoked_at, JSON.stringify(second))
  })

  test('while another key is published, and after a rotation: all previous keys are refused', async (t) => {
    const clock = turnedClock()
    const service = await startService({ t, clock })
    const { agent } = await signedUp(service)
    await rotate(service)
    const tokens = [accessToken(agent)]
    await clock.turnTo(5 * MINUTE)
    await refreshed(agent)
    tokens.push(accessToken(agent))
    const statuses = () =>
      Promise.all(
        tokens.map(async (token) => {
          const { status } = await agent.get('/auth/api/v1/user', { cookie: `svc_access=${token}` })
          return status
        }),
      )
    assert.deepEqual(await statuses(), [200, 200])
    await rotate(service)
    const key = await rotate(service, '--now')
    assert.deepEqual(await statuses(), [401, 401])
    assert.deepEqual(await publishedIds(service), [key.id])
    assert.equal(await refreshed(agent), key.id)
    await clock.turnTo(20 * MINUTE)
    assert.equal(await refreshed(agent), key.id, 'the key that was published never signs')
  })

  test('of many requests at once with a token of the old key, none is served because another has read the new keys', async (t) => {
    const service = await startService({ t })
    const { agent } = await signedUp(service)
    const browsers = Array.from({ length: 40 }, () => agent.copy())
    for (let round = 0; round < 5; round += 1) {
      await refreshed(agent)
      const cookie = `svc_access=${accessToken(agent)}`
      await Promise.all(browsers.map((browser) => browser.get('/auth/api/v1/user', { cookie })))
      await rotate(service, '--now')
      const answers = await Promise.all(browsers.map((browser) => browser.get('/auth/api/v1/user', { cookie })))
      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([401]))
    }
  })

  test('by an operator whose clock is ahead: a replica that is behind signs with the new key at once', async (t) => {
    const clock = turnedClock()
    const service = await startService({ t, clock })
    const { agent } = await signedUp(service)
    const key = await rotateWith(service, clock.skewed(CLOCK_DIFFERENCE), '--now')
    assert.equal(await refreshed(agent), key.id)
    await assertSignedIn(agent)
  })

  test('the version before reads the rows so that the newest key signs, and a revoked one retired long ago', async (t) => {
    const service = await startService({ t })
    const database = await openDatabase(service, t)
    const rowsOfKeys = () => database.rows('SELECT id, retired_at FROM signing_keys ORDER BY created_at DESC')
    const next = await rotate(service)
    const [published, signing] = await rowsOfKeys()
    assert.deepEqual([published?.id, published?.retired_at], [next.id, null])
    assert.equal(Number(signing?.retired_at), Date.parse(next.signs_at))
    const key = await rotate(service, '--now')
    const [now, ...revoked] = await rowsOfKeys()
    assert.deepEqual([now?.id, now?.retired_at], [key.id, null])
    assert.deepEqual(
      revoked.map(({ retired_at }) => Number(retired_at)),
      [0, 0],
    )
  })

  test('a revoked key is deleted like a retired one', async (t) => {
    const clock = turnedClock()
    const service = await startService({ t, clock, env: { SVC_CLEANUP_INTERVAL: '200ms' } })
    const key = await rotate(service, '--now')
    await clock.turnTo(25 * MINUTE)
    await eventually('it is deleted', async () => (await list(service)).length === 1)
    assert.deepEqual(await states(service), [[key.id, 'signs']])
  })
})
