// Runs on SQLite.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { logIn, signedUp } from '../../support/client/accounts.ts'
import { assertErrorPage, assertPage, assertRedirect, assertSignedIn } from '../../support/client/assertions.ts'
import { createUserAgent, type UserAgent } from '../../support/client/user-agent.ts'
import { turnedProcessClock } from '../../support/clock/turned-process-clock.ts'
import { loggedLine } from '../../support/service/request-log.ts'
import { startServiceProcess } from '../../support/service/service-process.ts'

const clock = turnedProcessClock()
const service = await startServiceProcess({ env: { ...clock.env, SVC_APP_NAME: 'Acme' } })

const loginFor = (target: string): string => `/auth/login?return_to=${encodeURIComponent(target)}`

const returnFiveTimes = async (agent: UserAgent, target: string): Promise<void> => {
  for (let times = 0; times < 5; times += 1) assertRedirect(await agent.get(loginFor(target)), target)
}

const loopLines = (): string[] =>
  service
    .logLines()
    .flatMap(({ level, message, return_to }) =>
      level === 'warn' && message.startsWith('redirect loop') ? [String(return_to)] : [],
    )

test('§4.6 an application that refuses the session causes no endless redirects: after five redirects there is a page', async () => {
  const { agent, person } = await signedUp(service)
  const target = '/members/a?token=secret&b=%2f#top'
  await returnFiveTimes(agent, target)
  const answer = await agent.get(loginFor(target))
  assertErrorPage(answer, 409)
  assert.equal(answer.location, undefined)
  assert.match(answer.headers['cache-control'] ?? '', /no-store/)
  assert.ok(answer.text.includes(person.email) && answer.text.includes('Acme'))
  assert.ok(answer.text.includes('<a class="svc-button first" href="/members/a?token=secret&amp;b=%2f#top">'))
  for (const way of ['/auth/account', '/auth/logout']) assert.ok(answer.text.includes(`href="${way}"`), way)

  const line = await loggedLine(service, ({ request_id }) => request_id === answer.headers['x-request-id'])
  assert.equal(line.level, 'warn')
  assert.equal(line.return_to, '/members/a')
  assert.equal(line.user_id, (await agent.get('/auth/api/v1/user')).json<{ id: string }>().id)
  assert.ok(typeof line.session_id === 'string' && line.client === '127.0.0.1')
  assert.doesNotMatch(service.logs(), /token=secret/)
})

test('§4.6 the page says what the application may expect: issuer, time and address', async () => {
  const { agent } = await signedUp(service)
  await returnFiveTimes(agent, '/details')
  const { text } = await agent.get(loginFor('/details'))
  const details = /<details>[^]*<\/details>/.exec(text)?.[0] ?? ''
  assert.ok(details.includes(`<code>${service.url}</code>`))
  assert.ok(details.includes('<code>/details</code>'))
  assert.match(details, /<code>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z<\/code>/)
})

test('§4.6 a loop is logged once, and its page is shown as long as it continues', async () => {
  const { agent } = await signedUp(service)
  await returnFiveTimes(agent, '/once')
  for (let times = 0; times < 5; times += 1) assert.equal((await agent.get(loginFor('/once'))).status, 409)
  assert.equal((await agent.get('/auth/signup?return_to=%2Fonce')).status, 409)
  assert.equal((await agent.send({ method: 'HEAD', path: loginFor('/once') })).status, 409)
  assert.equal((await agent.get(loginFor('/other'))).status, 303)
  assert.deepEqual(
    loopLines().filter((path) => path === '/once'),
    ['/once'],
  )
})

test('§4.6 the session stays valid, and other sessions, users and visitors are not affected', async () => {
  const { agent, person } = await signedUp(service)
  await returnFiveTimes(agent, '/shared')
  assert.equal((await agent.get(loginFor('/shared'))).status, 409)
  await assertSignedIn(agent)
  const device = createUserAgent(service)
  assertRedirect(await logIn(device, person, { return_to: '/shared' }), '/shared')
  assertRedirect(await device.get(loginFor('/shared')), '/shared')
  const { agent: neighbour } = await signedUp(service)
  assertRedirect(await neighbour.get(loginFor('/shared')), '/shared')
  const anonymous = createUserAgent(service)
  for (let times = 0; times < 8; times += 1) assertPage(await anonymous.get(loginFor('/shared')))
})

test('§4.6 a user who logs in with the form is redirected, however often', async () => {
  const { agent, person } = await signedUp(service)
  for (let times = 0; times < 7; times += 1) assertRedirect(await logIn(agent, person, { return_to: '/form' }), '/form')
})

test('§4.6 after ten seconds, regardless of the wall clock, the redirect is tried again', async () => {
  const { agent } = await signedUp(service)
  await returnFiveTimes(agent, '/later')
  clock.setWallClockTo(60_000)
  assert.equal((await agent.get(loginFor('/later'))).status, 409)
  await clock.turnTo(10_001)
  await returnFiveTimes(agent, '/later')
  assert.equal((await agent.get(loginFor('/later'))).status, 409)
})

test('§4.6 a redirect with a refresh of the session does not count: the application refused an old access token', async () => {
  const { agent } = await signedUp(service)
  for (let times = 0; times < 10; times += 1) {
    agent.cookies.delete('svc_access')
    assertRedirect(await agent.get(loginFor('/renewed')), '/renewed')
  }
  await returnFiveTimes(agent, '/renewed')
  assert.equal((await agent.get(loginFor('/renewed'))).status, 409)
})
