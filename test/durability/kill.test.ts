// Runs on SQLite.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Person, newPerson, signedUp, signUp } from '../support/client/accounts.ts'
import { assertCanLogIn, assertSignedOut } from '../support/client/assertions.ts'
import { createUserAgent } from '../support/client/user-agent.ts'
import { turnedProcessClock } from '../support/clock/turned-process-clock.ts'
import { listUsers } from '../support/service/operator-commands.ts'
import { startServiceProcess } from '../support/service/service-process.ts'

const csrfToken = 'x'.repeat(43)

/** Runs work for each item of a list, a few at a time. */
const eachOf = async <T>(items: T[], atOnce: number, work: (item: T) => Promise<void>) => {
  const queue = items.values()
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (const item of queue) await work(item)
    }),
  )
}

describe('kill -9', { concurrency: 2 }, () => {
  test('10 times kill -9 during signups: no acknowledged user is lost', async (t) => {
    const service = await startServiceProcess({ t })
    const acknowledged: Person[] = []
    for (let round = 0; round < 10; round++) {
      const enough = Promise.withResolvers<void>()
      let answered = 0
      const attempts = Array.from({ length: 6 }, async () => {
        const person = newPerson()
        const visitor = createUserAgent(service)
        visitor.cookies.set('svc_csrf', csrfToken)
        const answer = await signUp(visitor, person)
        assert.equal(answer.status, 303, answer.text)
        acknowledged.push(person)
        answered += 1
        // Killed after a different number of responses each round, while the other requests are at different stages.
        if (answered === 1 + (round % 4)) enough.resolve()
      })
      await Promise.race([enough.promise, Promise.allSettled(attempts)])
      await service.kill()
      const outcomes = await Promise.allSettled(attempts)
      for (const outcome of outcomes)
        if (outcome.status === 'rejected') assert.ok(!(outcome.reason instanceof assert.AssertionError), outcome.reason)
      await service.restart()
    }
    assert.ok(acknowledged.length >= 20, String(acknowledged.length))
    const stored = new Set((await listUsers(service)).map(({ email }) => email))
    assert.deepEqual(
      acknowledged.filter(({ email }) => !stored.has(email)),
      [],
    )
    await eachOf(acknowledged, 4, (person) => assertCanLogIn(service, person))
  })

  test('a token that is replayed after the grace period: the session stays revoked after kill -9 and a restart', async (t) => {
    const clock = turnedProcessClock(t)
    const service = await startServiceProcess({ t, env: clock.env })
    for (let trial = 1; trial <= 2; trial++) {
      const { agent } = await signedUp(service)
      const thief = agent.copy()
      assert.equal((await agent.refresh()).status, 200)
      await clock.turnTo(trial * 31_000)
      assert.equal((await thief.refresh()).status, 401)
      await service.kill()
      await service.restart()
      await assertSignedOut(agent)
    }
  })

  test('a grace period continues after kill -9: a refresh that is repeated after a lost response logs nobody out', async (t) => {
    const service = await startServiceProcess({ t })
    const { agent } = await signedUp(service)
    const lost = agent.copy()
    assert.equal((await lost.refresh()).status, 200)
    await service.kill()
    await service.restart()
    assert.equal((await agent.refresh()).status, 200)
    assert.equal((await agent.refresh()).status, 200)
  })

  test('a first start killed at any point leaves nothing that blocks the next start', async (t) => {
    const service = await startServiceProcess({ t })
    const begunMs = performance.now()
    await service.restart({ env: { SVC_DATABASE_URL: 'sqlite:new/svc.db' } })
    const startMs = performance.now() - begunMs
    for (let trial = 1; trial <= 6; trial++) {
      const SVC_DATABASE_URL = `sqlite:new-${trial}/svc.db`
      const start = service.restart({ env: { SVC_DATABASE_URL } })
      const killed = sleep((startMs * trial) / 7).then(() => service.kill())
      await Promise.allSettled([start, killed])
      await service.restart()
      const { person } = await signedUp(service)
      await assertCanLogIn(service, person)
    }
  })
})
