// Runs on SQLite and PostgreSQL.
import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { newAgent, newPerson, signedUp, signUp } from '../../support/client/accounts.ts'
import { assertCanLogIn, assertJsonError, assertSignedIn, assertSignedOut } from '../../support/client/assertions.ts'
import { turnedClock } from '../../support/clock/turned-clock.ts'
import { startService } from '../../support/service/service.ts'

const HOUR = 3_600_000

for (const [what, jumpMs] of [
  ['forward', HOUR],
  ['back', -HOUR],
] as const) {
  const clock = turnedClock()
  const service = await startService({ clock })

  describe(`the clock jumps an hour ${what}`, () => {
    let jumpedMs = 0
    let passedMs = 0
    const jump = () => {
      jumpedMs += jumpMs
      clock.setWallClockTo(passedMs + jumpedMs)
    }
    /** Time passes by every clock; that of the service stays off. */
    const pass = async (ms: number) => {
      passedMs += ms
      await clock.turnTo(passedMs)
      clock.setWallClockTo(passedMs + jumpedMs)
    }

    test('sessions go on, and users sign up and log in', async () => {
      const { agent, person } = await signedUp(service)
      jump()
      assert.equal((await agent.refresh()).status, 200)
      await assertSignedIn(agent)
      await assertCanLogIn(service, person)
      assert.equal((await signUp(newAgent(service), newPerson())).status, 303)
      jump()
      assert.equal((await agent.refresh()).status, 200)
      await assertSignedIn(agent)
    })

    test('a refresh whose response was lost before is repeated after it', async () => {
      const { agent } = await signedUp(service)
      const lost = agent.copy()
      assert.equal((await agent.refresh()).status, 200)
      jump()
      assert.equal((await lost.refresh()).status, 200)
      await assertSignedIn(lost)
      assert.equal((await agent.refresh()).status, 200)
    })

    test('a token that was replaced before it is no longer good when its grace has passed', async () => {
      const { agent } = await signedUp(service)
      const thief = agent.copy()
      assert.equal((await agent.refresh()).status, 200)
      jump()
      await pass(31_000)
      assertJsonError(await thief.refresh(), 401, 'unauthorized')
      await assertSignedOut(agent)
    })

    test('a new signing key is used, and the old one stays good', async () => {
      const { agent } = await signedUp(service)
      const { code } = await service.cli(['keys', 'rotate'], { clock })
      assert.equal(code, 0)
      jump()
      if (jumpMs < 0) await assertSignedIn(agent)
      assert.equal((await agent.refresh()).status, 200)
      await assertSignedIn(agent)
      const { agent: other } = await signedUp(service)
      await assertSignedIn(other)
    })
  })
}
