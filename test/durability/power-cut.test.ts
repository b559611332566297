// Runs on SQLite.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Person, logOut, newPerson, signedUp } from '../support/client/accounts.ts'
import { assertCanLogIn, assertCannotLogIn, assertSignedOut } from '../support/client/assertions.ts'
import type { UserAgent } from '../support/client/user-agent.ts'
import { type Disk, watchDisk } from '../support/service/disk.ts'
import { type ServiceProcess, startServiceProcess } from '../support/service/service-process.ts'

const secret = { SVC_SECRET: randomBytes(32).toString('hex') }

type Promises = {
  signedUp: Person[]
  loggedOut: UserAgent[]
  refreshed: UserAgent[]
  changed: { old: Person; now: Person }[]
  deleted: Person[]
}

/** Signs up and makes one more request, again and again. Acknowledged changes are kept in `promised`. */
const live = async (service: ServiceProcess, promised: Promises, first: number, goesOn: () => boolean) => {
  for (let turn = first; goesOn(); turn++) {
    const { agent, person } = await signedUp(service)
    const kept = agent.copy()
    if (turn % 5 === 0) promised.signedUp.push(person)
    else if (turn % 5 === 1 && (await agent.refresh()).status === 200) promised.refreshed.push(agent)
    else if (turn % 5 === 2 && (await logOut(agent)).status === 303) promised.loggedOut.push(kept)
    else if (turn % 5 === 3) {
      const { password } = newPerson()
      const form = { current_password: person.password, new_password: password }
      if ((await agent.post('/auth/account/password', form)).status === 303)
        promised.changed.push({ old: person, now: { ...person, password } })
    } else if ((await agent.post('/auth/account/delete', { password: person.password })).status === 303)
      promised.deleted.push(person)
  }
}

/** Loads the service with ten users until enough changes of each kind are acknowledged, then cuts the power. */
const loadUntilPowerCut = async (service: ServiceProcess, ofEach: number): Promise<Promises> => {
  const promised: Promises = { signedUp: [], loggedOut: [], refreshed: [], changed: [], deleted: [] }
  let goesOn = true
  const visitors = Array.from({ length: 10 }, (_, index) => live(service, promised, index, () => goesOn))
  const outcomes = Promise.allSettled(visitors)
  const isEnough = () => Object.values(promised).every(({ length }) => length >= ofEach)
  while (!isEnough()) await Promise.race([sleep(20), Promise.all(visitors)])
  await service.kill()
  goesOn = false
  for (const outcome of await outcomes)
    if (outcome.status === 'rejected') assert.ok(!(outcome.reason instanceof assert.AssertionError), outcome.reason)
  return promised
}

/** Checks that the request is not answered while syncs are held, and is answered once they are released. */
const assertWaitsForDisk = async (disk: Disk, ask: () => Promise<{ status: number }>, status: number) => {
  const { begun } = disk.syncs()
  disk.hold()
  const answer = ask()
  const state = { answered: false }
  void answer.then(() => (state.answered = true)).catch(() => {})
  await disk.begun(begun + 1)
  await sleep(250)
  assert.equal(state.answered, false, 'no answer leaves before its commit is synced')
  disk.letGo()
  assert.equal((await answer).status, status)
}

describe('the power cut', { concurrency: 2 }, () => {
  for (const delayMs of [0, 25]) {
    test(`nothing is acknowledged that is not on disk (with syncs that take ${delayMs} ms more)`, async (t) => {
      const disk = watchDisk({ t, delayMs, images: true })
      const service = await startServiceProcess({ t, cwd: disk.directory, env: { ...disk.env, ...secret } })
      const promised = await loadUntilPowerCut(service, 6)
      const env = { ...secret, SVC_PORT: String(service.port) }
      const survivor = await startServiceProcess({ t, cwd: disk.afterPowerCut(), env })
      for (const person of promised.signedUp) await assertCanLogIn(survivor, person)
      for (const agent of promised.refreshed)
        assert.equal((await agent.refresh()).status, 200, 'the new token is known')
      for (const agent of promised.loggedOut) await assertSignedOut(agent)
      for (const person of promised.deleted) await assertCannotLogIn(survivor, person)
      for (const { old, now } of promised.changed) {
        await assertCannotLogIn(survivor, old)
        await assertCanLogIn(survivor, now)
      }
    })
  }

  test('no response to a signup, login, refresh, logout or deletion is sent before a sync that began after its commit has ended', async (t) => {
    const disk = watchDisk({ t })
    const service = await startServiceProcess({ t, cwd: disk.directory, env: disk.env })
    const { agent, person } = await signedUp(service)
    const changes = { current_password: person.password, new_password: newPerson().password }
    const now = { ...person, password: changes.new_password }
    const visitor = agent.copy()
    visitor.cookies.clear()
    await visitor.get('/auth/login')
    await assertWaitsForDisk(disk, () => visitor.post('/auth/signup', newPerson()), 303)
    await assertWaitsForDisk(disk, () => agent.refresh(), 200)
    await assertWaitsForDisk(disk, () => agent.post('/auth/account/password', changes), 303)
    await assertWaitsForDisk(disk, () => visitor.post('/auth/login', now), 303)
    await assertWaitsForDisk(disk, () => logOut(visitor), 303)
    await assertWaitsForDisk(disk, () => agent.post('/auth/account/delete', { password: now.password }), 303)
  })

  test('a sync that was running before the commit does not count for it', async (t) => {
    const disk = watchDisk({ t, delayMs: 60 })
    const service = await startServiceProcess({ t, cwd: disk.directory, env: disk.env })
    const [first, second] = await Promise.all([signedUp(service), signedUp(service)])
    const { begun, ended } = disk.syncs()
    disk.hold()
    const early = first.agent.refresh()
    await disk.begun(begun + 1)
    const late = second.agent.refresh()
    await sleep(150)
    let lateAnswered = 0
    void late.then(() => (lateAnswered = disk.syncs().ended)).catch(() => {})
    disk.letGo()
    assert.deepEqual([(await early).status, (await late).status], [200, 200])
    assert.ok(lateAnswered >= ended + 2, `answered after ${lateAnswered - ended} syncs`)
  })

  test("the loser of a race does not get the winner's new token before that is on disk", async (t) => {
    const disk = watchDisk({ t })
    const service = await startServiceProcess({ t, cwd: disk.directory, env: disk.env })
    const { agent } = await signedUp(service)
    const { begun } = disk.syncs()
    disk.hold()
    const winner = agent.copy().refresh()
    await disk.begun(begun + 1)
    const state = { answered: false }
    const loser = agent.refresh()
    void loser.then(() => (state.answered = true)).catch(() => {})
    await sleep(250)
    assert.equal(state.answered, false)
    disk.letGo()
    assert.deepEqual([(await winner).status, (await loser).status], [200, 200])
  })

  test('many parallel requests share syncs', async (t) => {
    const disk = watchDisk({ t, delayMs: 20 })
    const service = await startServiceProcess({ t, cwd: disk.directory, env: disk.env })
    const people = await Promise.all(Array.from({ length: 40 }, () => signedUp(service)))
    const { begun } = disk.syncs()
    const answers = await Promise.all(people.map(({ agent }) => agent.refresh()))
    assert.ok(answers.every(({ status }) => status === 200))
    const syncs = disk.syncs().begun - begun
    assert.ok(syncs >= 1 && syncs <= 20, `${syncs} syncs for 40 refreshes`)
  })

  test('reading syncs nothing', async (t) => {
    const disk = watchDisk({ t })
    const service = await startServiceProcess({ t, cwd: disk.directory, env: disk.env })
    const { agent } = await signedUp(service)
    await agent.get('/auth/api/v1/user')
    const before = disk.syncs()
    for (let count = 0; count < 20; count++) await agent.get('/auth/api/v1/user')
    assert.ok(disk.syncs().begun - before.begun <= 2, 'twenty answers, and at most what housekeeping does beside them')
  })

  test('the revocation after a replay is on disk before the attacker is answered', async (t) => {
    const disk = watchDisk({ t })
    const env = { ...disk.env, SVC_REFRESH_GRACE: '1s' }
    const service = await startServiceProcess({ t, cwd: disk.directory, env })
    const { agent } = await signedUp(service)
    const thief = agent.copy()
    await agent.refresh()
    await sleep(1200)
    await assertWaitsForDisk(disk, () => thief.refresh(), 401)
    await assertSignedOut(agent)
  })
})
