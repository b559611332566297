// Runs on SQLite.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { currentUser, logIn, newAgent, signedUp } from '../../support/client/accounts.ts'
import { assertPage, assertRedirect } from '../../support/client/assertions.ts'
import type { Answer, UserAgent } from '../../support/client/user-agent.ts'
import { turnedClock } from '../../support/clock/turned-clock.ts'
import { codeAt } from '../../support/second-factor/authenticator-app.ts'
import { setUpApp } from '../../support/second-factor/app-set-up.ts'
import { startMeteredService } from '../../support/service/metrics.ts'
import { loggedLine } from '../../support/service/request-log.ts'

const clock = turnedClock()
const service = await startMeteredService({ clock, env: { SVC_TRUSTED_BROWSER_TTL: '0' } })
const CODE_PAGE = '/auth/login/code'

const lineOf = async ({ headers }: Answer) => {
  const {
    event,
    outcome,
    reason,
    method,
    user_id: userId,
  } = await loggedLine(
    service,
    (line) => line.message === 'account event' && line.request_id === headers['x-request-id'],
  )
  return { event, outcome, reason, method, userId }
}

const counted = async () => {
  const metrics = await service.scrape()
  return {
    succeeded: metrics.value('svc_logins_total', { outcome: 'succeeded' }),
    wrong: metrics.value('svc_logins_total', { outcome: 'wrong_credentials' }),
  }
}

const halfWay = async (person: Parameters<typeof logIn>[1]): Promise<[UserAgent, Answer]> => {
  const agent = newAgent(service)
  const answer = await logIn(agent, person)
  assertRedirect(answer, CODE_PAGE)
  return [agent, answer]
}

test('a login is counted and logged once, at its end; a wrong code is logged', async () => {
  const { agent: owner, person } = await signedUp(service)
  const { id: userId } = await currentUser(owner)
  const { secret } = await setUpApp(owner, clock.now())
  await clock.turnTo(30_000)
  const before = await counted()
  const [agent, first] = await halfWay(person)
  const about = { method: 'password', userId }
  const waits = { event: 'second_factor_request', outcome: 'succeeded', reason: undefined, ...about }
  assert.deepEqual(await lineOf(first), waits)
  assert.deepEqual(await counted(), before, 'nothing is counted yet')
  const wrong = await agent.post(CODE_PAGE, { code: '12345' })
  assertPage(wrong, 401)
  assert.deepEqual(await lineOf(wrong), { event: 'login', outcome: 'failed', reason: 'code_wrong', ...about })
  const right = await agent.post(CODE_PAGE, { code: codeAt(secret, clock.now()) })
  assertRedirect(right, '/')
  assert.deepEqual(await lineOf(right), { event: 'login', outcome: 'succeeded', reason: undefined, ...about })
  const after = await counted()
  assert.deepEqual(after, { succeeded: (before.succeeded ?? 0) + 1, wrong: (before.wrong ?? 0) + 1 })
})

test('with SVC_TRUSTED_BROWSER_TTL=0 trust is not offered, and not given; with SVC_SECOND_FACTOR=off nothing is asked for', async () => {
  const { agent: owner, person } = await signedUp(service)
  const { recoveryCodes } = await setUpApp(owner, clock.now())
  const [agent] = await halfWay(person)
  assert.doesNotMatch((await agent.get(CODE_PAGE)).text, /trust_browser/)
  assertRedirect(await agent.post(CODE_PAGE, { code: recoveryCodes[0] ?? '', trust_browser: '1' }), '/')
  assertRedirect(await logIn(agent, person), CODE_PAGE)
  await service.restart({ env: { SVC_SECOND_FACTOR: 'off' } })
  assertRedirect(await logIn(newAgent(service), person), '/')
})
