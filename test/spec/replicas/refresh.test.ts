// Runs on PostgreSQL.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { logIn, signedUp } from '../../support/client/accounts.ts'
import { assertJsonError, assertSignedIn, assertSignedOut } from '../../support/client/assertions.ts'
import type { Answer, UserAgent } from '../../support/client/user-agent.ts'
import { turnedClock } from '../../support/clock/turned-clock.ts'
import { at, eachRound, inTurn, startReplicaProcesses, startReplicas } from '../../support/service/replicas.ts'

const clock = turnedClock()
const [replicas, later] = await Promise.all([startReplicaProcesses(), startReplicas({ clock })])
const [one, other] = replicas
/** The clocks of the processes and of the database are not turned at once: no request may be under way. */
const pastGrace = () => clock.turnTo(clock.aheadMs() + 31_000)

const TABS = 6

/** The responses of a race reach the browser in any order; the cookies of the last one stay. */
const keepInSomeOrder = (agent: UserAgent, answers: Answer[], round: number) => {
  const order = answers.map((answer, index) => ({ answer, place: (index * 5 + round * 3) % 7 }))
  order.sort((a, b) => a.place - b.place)
  for (const { answer } of order) agent.cookies.keep(answer.setCookies)
}

const assertUsableAtBoth = async (agent: UserAgent) => {
  for (const replica of replicas) {
    await assertSignedIn(at(replica, agent))
    assert.equal((await at(replica, agent).refresh()).status, 200)
  }
}

describe('§3.2 refresh, raced by parallel requests across both replicas', { concurrency: 1 }, () => {
  test('15 rounds of 6 with one cookie: 0 logouts', async () => {
    const { agent } = await signedUp(one)
    const [here, there] = [at(one, agent), at(other, agent)]
    for (let round = 0; round < 15; round++) {
      const cookie = agent.cookies.header('/auth/') ?? ''
      const racers = Array.from({ length: TABS }, (_, index): UserAgent => ((index + round) % 2 ? here : there))
      const answers: Answer[] = await Promise.all(racers.map((racer) => racer.refresh('audience=app', { cookie })))
      assert.deepEqual(
        answers.map(({ status }) => status),
        Array.from({ length: TABS }, () => 200),
        `round ${round}`,
      )
      assert.deepEqual(
        answers.flatMap(({ cleared }) => cleared),
        [],
      )
      keepInSomeOrder(agent, answers, round)
      await assertSignedIn(round % 2 ? here : there)
    }
    await assertUsableAtBoth(agent)
  })

  test('every response of a race leaves valid cookies: each tab still works at both, 8 rounds', async () => {
    await eachRound(8, 4, async (round) => {
      const { agent } = await signedUp(round % 2 ? one : other)
      const racers = Array.from({ length: TABS }, (_, index) => at(index % 2 ? one : other, agent.copy()))
      await Promise.all(racers.map((racer) => racer.refresh()))
      for (const racer of racers) await assertUsableAtBoth(racer)
    })
  })

  test('a refresh that is repeated at the other replica after a lost response logs nobody out, 8 rounds', async () => {
    await eachRound(8, 8, async (round) => {
      const [here, there] = inTurn(replicas, round)
      const { agent } = await signedUp(here)
      assert.equal((await agent.copy().refresh()).status, 200)
      assert.equal((await at(there, agent).refresh()).status, 200)
      await assertUsableAtBoth(agent)
    })
  })

  test('a refresh that races a logout on the other replica never ends with a live session, 24 rounds', async () => {
    await eachRound(24, 6, async (round) => {
      const [here, there] = inTurn(replicas, round)
      const { agent } = await signedUp(here)
      const tabs = Array.from({ length: 3 }, (_, index) => at(index % 2 ? here : there, agent.copy()))
      const refreshes = tabs.map(async (tab) => {
        await sleep(Math.random() * 8)
        await tab.refresh()
      })
      await sleep(Math.random() * 8)
      const leaving = at(there, agent.copy())
      assert.equal((await leaving.post('/auth/logout')).status, 303)
      await Promise.all(refreshes)
      for (const tab of tabs) {
        assert.equal((await tab.get('/auth/api/v1/user')).status, 401, `round ${round}`)
        assert.equal((await tab.refresh()).status, 401, `round ${round}`)
      }
    })
  })
})

describe('§3.2 a session that a login has just replaced', { concurrency: 1 }, () => {
  test('is known to the other replica: a refresh with its cookies clears no cookie there, 10 rounds', async () => {
    await eachRound(10, 4, async (round) => {
      const [here, there] = inTurn(replicas, round)
      const { agent, person } = await signedUp(here)
      const late = at(there, agent.copy())
      if (round % 3 === 0) assert.equal((await late.copy().refresh()).status, 200)
      assert.equal((await logIn(agent, person)).status, 303)
      const answer = await late.refresh()
      assertJsonError(answer, 401, 'unauthorized')
      assert.deepEqual(answer.setCookies, [])
      await assertUsableAtBoth(agent)
    })
  })
})

describe('§3.2 reuse after the grace period on the other replica', { concurrency: 1 }, () => {
  test('ends the session on both, 8 times', async () => {
    const replays = await eachRound(8, 4, async (round) => {
      const [here, there] = inTurn(later, round)
      const { agent } = await signedUp(here)
      const thief = at(there, agent.copy())
      assert.equal((await agent.refresh()).status, 200)
      return { agent, thief }
    })
    await pastGrace()
    for (const { agent, thief } of replays) {
      assertJsonError(await thief.refresh(), 401, 'unauthorized')
      for (const replica of later) await assertSignedOut(at(replica, agent.copy()))
    }
  })

  test('of several simultaneous replays on both replicas none succeeds, and the session has ended', async () => {
    const replays = await eachRound(6, 3, async (round) => {
      const [here] = inTurn(later, round)
      const { agent } = await signedUp(here)
      const thieves = Array.from({ length: 6 }, (_, index) => at(later[index % 2 ? 0 : 1], agent.copy()))
      for (let time = 0; time < 3; time++) assert.equal((await agent.refresh()).status, 200)
      return { agent, thieves }
    })
    await pastGrace()
    for (const { agent, thieves } of replays) {
      const answers = await Promise.all(thieves.map((thief) => thief.refresh()))
      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([401]))
      for (const replica of later) await assertSignedOut(at(replica, agent.copy()))
    }
  })
})
