import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { assertJsonError, assertRedirect, assertSignedIn, assertSignedOut } from '../support/assertions.ts'
import { logOut, signedUp } from '../support/people.ts'
import { loggedLine } from '../support/request-log.ts'
import { startService } from '../support/service.ts'
import type { Answer, UserAgent } from '../support/user-agent.ts'

const service = await startService()
const impatient = await startService({ env: { SVC_REFRESH_GRACE: '2s' } })
const pastGrace = () => sleep(2300)

const assertUsable = async (agent: UserAgent) => {
  await assertSignedIn(agent)
  assert.equal((await agent.refresh()).status, 200)
  await assertSignedIn(agent)
}

describe('rotation', { concurrency: 8 }, () => {
  test('every refresh hands out a new refresh token', async () => {
    const { agent } = await signedUp(service)
    const seen = new Set([agent.cookies.get('svc_refresh')])
    for (let round = 1; round <= 5; round++) {
      assert.equal((await agent.refresh()).status, 200)
      seen.add(agent.cookies.get('svc_refresh'))
      assert.equal(seen.size, round + 1)
    }
  })

  test('within the grace window the token just replaced is still good: a lost answer that is tried again', async () => {
    const { agent } = await signedUp(service)
    const lost = agent.copy()
    assert.equal((await lost.refresh()).status, 200)
    assert.equal((await agent.refresh()).status, 200)
    await assertUsable(agent)
  })

  test('within the grace window a token replaced twice over is no theft: the slow tab of a busy browser', async () => {
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
    const { agent } = await signedUp(impatient)
    const lost = agent.copy()
    await lost.refresh()
    await agent.refresh()
    await pastGrace()
    await assertUsable(agent)
  })

  test('past the grace window presenting a replaced token is theft: the whole session is revoked and logged', async () => {
    const { agent } = await signedUp(impatient)
    const thief = agent.copy()
    await agent.refresh()
    await pastGrace()
    const answer = await thief.refresh()
    assertJsonError(answer, 401, 'unauthorized')
    assert.ok(answer.cleared.includes('svc_access') && answer.cleared.includes('svc_refresh'))
    await assertSignedOut(agent)
    await loggedLine(impatient, (line) => line.level === 'warn' && /reuse|replay|replaced/i.test(JSON.stringify(line)))
  })

  test('past the grace window theft ends the one session, not the others of the user', async () => {
    const { agent, person } = await signedUp(impatient)
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

  test('the thief who refreshes first is found out when the owner comes', async () => {
    const { agent } = await signedUp(impatient)
    const thief = agent.copy()
    await thief.refresh()
    await pastGrace()
    assertJsonError(await agent.refresh(), 401, 'unauthorized')
    await assertSignedOut(thief)
  })

  test('an old token is theft also after many rotations', async () => {
    const { agent } = await signedUp(impatient)
    const thief = agent.copy()
    for (let round = 0; round < 12; round++) await agent.refresh()
    await pastGrace()
    await agent.refresh()
    assertJsonError(await thief.refresh(), 401, 'unauthorized')
    await assertSignedOut(agent)
  })

  test('a current token that nobody used for longer than the grace window is no theft', async () => {
    const { agent } = await signedUp(impatient)
    await agent.refresh()
    await pastGrace()
    await assertUsable(agent)
  })

  test('the visitor whose access token has run out is renewed on the way to return_to, at login and signup', async () => {
    for (const path of ['/auth/login', '/auth/signup']) {
      const { agent } = await signedUp(service)
      agent.cookies.delete('svc_access')
      assertRedirect(await agent.get(`${path}?return_to=%2Fshop%3Fa%3D1`), '/shop?a=1')
      await assertUsable(agent)
    }
  })

  test('renewal on the way: the token just replaced is good there too, and past the grace window it is theft', async () => {
    const { agent } = await signedUp(impatient)
    agent.cookies.delete('svc_access')
    const [tab, thief] = [agent.copy(), agent.copy()]
    assertRedirect(await agent.get('/auth/login?return_to=%2Fa'), '/a')
    assertRedirect(await tab.get('/auth/login?return_to=%2Fb'), '/b')
    await assertSignedIn(tab)
    await pastGrace()
    assert.equal((await thief.get('/auth/login?return_to=%2Fc')).status, 200)
    await assertSignedOut(agent)
  })

  test('renewal on the way is for a good refresh token only: after logout the login page is shown', async () => {
    const { agent } = await signedUp(service)
    const before = agent.copy()
    await logOut(agent)
    before.cookies.delete('svc_access')
    assert.equal((await before.get('/auth/login?return_to=%2Fshop')).status, 200)
  })

  test('a visitor of login or signup who is signed in is sent on at once', async () => {
    const { agent } = await signedUp(service)
    for (const path of ['/auth/login', '/auth/signup']) {
      assertRedirect(await agent.get(`${path}?return_to=%2Fshop`), '/shop')
      assertRedirect(await agent.get(path), '/')
    }
  })
})

const tabs = 5

/** The answers of a race reach the browser in any order; the last one's cookies stay. */
const keepInSomeOrder = (agent: UserAgent, answers: Answer[], round: number) => {
  const order = answers.map((answer, index) => ({ answer, place: (index * 7 + round * 3) % tabs }))
  order.sort((a, b) => a.place - b.place)
  for (const { answer } of order) agent.cookies.keep(answer.setCookies)
}

test('1,000 rounds of 5 parallel refreshes with one cookie: 0 logouts', async () => {
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

test('no answer of a race leaves its bearer with something worse: each of five tabs ends up usable', async () => {
  const { agent } = await signedUp(service)
  const racers = Array.from({ length: tabs }, () => agent.copy())
  await Promise.all(racers.map((racer) => racer.refresh()))
  for (const racer of racers) await assertUsable(racer)
})

test("a gateway's parallel sub-requests through the login page: 0 logouts", async () => {
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
