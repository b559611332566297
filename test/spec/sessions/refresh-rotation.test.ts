// Runs on SQLite.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { logOut, signedUp } from '../../support/client/accounts.ts'
import { assertJsonError, assertRedirect, assertSignedIn, assertSignedOut } from '../../support/client/assertions.ts'
import type { Answer, UserAgent } from '../../support/client/user-agent.ts'
import { turnedClock } from '../../support/clock/turned-clock.ts'
import { loggedLine } from '../../support/service/request-log.ts'
import { startService } from '../../support/service/service.ts'

const GRACE_MS = 30_000
const clock = turnedClock()
const service = await startService({ clock })

/** What was replaced by now is past its grace. */
const pastGrace = () => clock.turnTo(clock.aheadMs() + GRACE_MS + 1000)

const assertUsable = async (agent: UserAgent) => {
  await assertSignedIn(agent)
  assert.equal((await agent.refresh()).status, 200)
  await assertSignedIn(agent)
}

describe('§3.2 rotation', () => {
  test('every refresh issues a new refresh token', async () => {
    const { agent } = await signedUp(service)
    const seen = new Set([agent.cookies.get('svc_refresh')])
    for (let round = 1; round <= 5; round++) {
      assert.equal((await agent.refresh()).status, 200)
      seen.add(agent.cookies.get('svc_refresh'))
      assert.equal(seen.size, round + 1)
    }
  })

  test('within the grace period the token just replaced is accepted: a refresh is repeated after a lost response', async () => {
    const { agent } = await signedUp(service)
    const lost = agent.copy()
    assert.equal((await lost.refresh()).status, 200)
    assert.equal((await agent.refresh()).status, 200)
    await assertUsable(agent)
  })

  test('within the grace period a token that was replaced twice is no theft: a slow tab of a busy browser', async () => {
    const { agent } = await signedUp(service)
    const slowTab = agent.copy()
    await agent.refresh()
    await agent.refresh()
    const answer = await slowTab.refresh()
    assert.notEqual(answer.status, 401, 'an honest browser is not logged out')
    assert.deepEqual(answer.cleared, [])
    await assertUsable(slowTab)
    await assertUsable(agent)
  })

  test('the tokens issued for a just replaced token stay valid after the grace period', async () => {
    const { agent } = await signedUp(service)
    const lost = agent.copy()
    await lost.refresh()
    await agent.refresh()
    await pastGrace()
    await assertUsable(agent)
  })

  test('after the grace period a replaced token is theft: the whole session is revoked, and that is logged', async () => {
    const { agent } = await signedUp(service)
    const thief = agent.copy()
    await agent.refresh()
    await pastGrace()
    const answer = await thief.refresh()
    assertJsonError(answer, 401, 'unauthorized')
    assert.ok(answer.cleared.includes('svc_access') && answer.cleared.includes('svc_refresh'))
    await assertSignedOut(agent)
    await loggedLine(service, (line) => line.level === 'warn' && /reuse|replay|replaced/i.test(JSON.stringify(line)))
  })

  test('after the grace period theft ends this session, not the others of the user', async () => {
    const { agent, person } = await signedUp(service)
    const other = agent.copy()
    other.cookies.clear()
    await other.post('/auth/login', { email: person.email, password: person.password })
    const thief = agent.copy()
    await agent.refresh()
    await pastGrace()
    await thief.refresh()
    await assertSignedOut(agent)
    await assertUsable(other)
  })

  test('a thief who refreshes first is detected when the owner refreshes', async () => {
    const { agent } = await signedUp(service)
    const thief = agent.copy()
    await thief.refresh()
    await pastGrace()
    assertJsonError(await agent.refresh(), 401, 'unauthorized')
    await assertSignedOut(thief)
  })

  test('an old token is theft even after many rotations', async () => {
    const { agent } = await signedUp(service)
    const thief = agent.copy()
    for (let round = 0; round < 12; round++) await agent.refresh()
    await pastGrace()
    await agent.refresh()
    assertJsonError(await thief.refresh(), 401, 'unauthorized')
    await assertSignedOut(agent)
  })

  test('a current token that was unused for longer than the grace period is no theft', async () => {
    const { agent } = await signedUp(service)
    await agent.refresh()
    await pastGrace()
    await assertUsable(agent)
  })

  test('a user with an expired access token is refreshed on the way to return_to, at login and signup', async () => {
    for (const path of ['/auth/login', '/auth/signup']) {
      const { agent } = await signedUp(service)
      agent.cookies.delete('svc_access')
      assertRedirect(await agent.get(`${path}?return_to=%2Fshop%3Fa%3D1`), '/shop?a=1')
      await assertUsable(agent)
    }
  })

  test('refresh on the way: the token just replaced is accepted, and after the grace period it is theft', async () => {
    const { agent } = await signedUp(service)
    agent.cookies.delete('svc_access')
    const [tab, thief] = [agent.copy(), agent.copy()]
    assertRedirect(await agent.get('/auth/login?return_to=%2Fa'), '/a')
    assertRedirect(await tab.get('/auth/login?return_to=%2Fb'), '/b')
    await assertSignedIn(tab)
    await pastGrace()
    assert.equal((await thief.get('/auth/login?return_to=%2Fc')).status, 200)
    await assertSignedOut(agent)
  })

  test('refresh on the way requires a valid refresh token: after logout the login page is shown', async () => {
    const { agent } = await signedUp(service)
    const before = agent.copy()
    await logOut(agent)
    before.cookies.delete('svc_access')
    assert.equal((await before.get('/auth/login?return_to=%2Fshop')).status, 200)
  })

  test('a signed-in user at login or signup is redirected at once', async () => {
    const { agent } = await signedUp(service)
    for (const path of ['/auth/login', '/auth/signup']) {
      assertRedirect(await agent.get(`${path}?return_to=%2Fshop`), '/shop')
      assertRedirect(await agent.get(path), '/')
    }
  })
})

const tabs = 5

/** The responses of a race reach the browser in any order; the cookies of the last one stay. */
const keepInSomeOrder = (agent: UserAgent, answers: Answer[], round: number) => {
  const order = answers.map((answer, index) => ({ answer, place: (index * 7 + round * 3) % tabs }))
  order.sort((a, b) => a.place - b.place)
  for (const { answer } of order) agent.cookies.keep(answer.setCookies)
}

test('§3.2 1,000 rounds of 5 parallel refreshes with one cookie: 0 logouts', async () => {
  const { agent } = await signedUp(service)
  for (let round = 0; round < 1000; round++) {
    const before = agent.cookies.header('/auth/') ?? ''
    const answers = await Promise.all(
      Array.from({ length: tabs }, () => agent.refresh('audience=app', { cookie: before })),
    )
    assert.deepEqual(
      answers.map(({ status }) => status),
      Array.from({ length: tabs }, () => 200),
      `round ${round}`,
    )
    assert.deepEqual(
      answers.flatMap(({ cleared }) => cleared),
      [],
    )
    keepInSomeOrder(agent, answers, round)
  }
  await assertUsable(agent)
})

test('§3.2 every response of a race leaves valid cookies: each of five tabs still works', async () => {
  const { agent } = await signedUp(service)
  const racers = Array.from({ length: tabs }, () => agent.copy())
  await Promise.all(racers.map((racer) => racer.refresh()))
  for (const racer of racers) await assertUsable(racer)
})

test("§3.2 a gateway's parallel sub-requests through the login page: 0 logouts", async () => {
  const { agent } = await signedUp(service)
  for (let round = 0; round < 20; round++) {
    agent.cookies.delete('svc_access')
    const racers = Array.from({ length: tabs }, () => agent.copy())
    const answers = await Promise.all(racers.map((racer) => racer.get('/auth/login?return_to=%2Fx')))
    for (const answer of answers) assertRedirect(answer, '/x')
    keepInSomeOrder(agent, answers, round)
    await assertSignedIn(agent)
  }
})
