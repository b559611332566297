// Runs on SQLite and PostgreSQL, alone.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signedUp } from '../../support/client/accounts.ts'
import { assertPage } from '../../support/client/assertions.ts'
import type { Answer } from '../../support/client/user-agent.ts'
import {
  allow,
  answerToClient,
  authorizePath,
  CLIENT_SETTINGS,
  consentForm,
  madeClient,
} from '../../support/clients/authorization.ts'
import { LOOPBACK_URI, startDocumentHost } from '../../support/clients/document-host.ts'
import {
  assertOAuthError,
  type ClientAnswer,
  newlyGranted,
  refresh,
  send,
  tokensIn,
} from '../../support/clients/tokens.ts'
import { turnedClock } from '../../support/clock/turned-clock.ts'
import { startService } from '../../support/service/service.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const host = await startDocumentHost()
const clock = turnedClock()
const env = { ...CLIENT_SETTINGS, SVC_RATE_LIMIT: 'on', SVC_CLIENT_HOSTS: 'localhost' }
const service = await startService({ clock, env })
const client = await madeClient(service)
const trusted = await madeClient(service, { name: 'Own app', options: ['--first-party'] })
const pass = (ms: number) => clock.turnTo(clock.aheadMs() + ms)

const assertWait = (seconds: string | null | undefined, mostMs: number): void => {
  assert.match(seconds ?? '', /^[1-9]\d*$/)
  assert.ok(Number(seconds) * 1000 <= mostMs, `${seconds} s`)
}

const assertLimited = (answer: Answer, windowMs: number): void => {
  assertPage(answer, 429)
  assertWait(answer.headers['retry-after'], windowMs)
  assert.equal(answer.headers.refresh, undefined)
}

const GUESS = { grant_type: 'refresh_token', refresh_token: 'x', client_secret: 'svc_cs_wrong' }

const assertWrongSecret = (answer: ClientAnswer) => assertOAuthError(answer, 401, 'invalid_client')

test('20 consents an hour that give a code: the question stands there again, and says when', async () => {
  const { agent } = await signedUp(service)
  const ask = () => agent.get(authorizePath(client.id, { prompt: 'consent' }))
  const used = await ask()
  assert.ok(answerToClient(await allow(agent, used)).get('code'))
  // A form that is used up gives no code, and neither does a user who says no.
  for (let count = 0; count < 21; count += 1) {
    assert.match((await allow(agent, used)).location ?? '', /^\/auth\/oauth2\/authorize\?/)
    const cancelled = await agent.post('/auth/oauth2/consent', { ...consentForm(used), allow: '0' })
    assert.equal(answerToClient(cancelled).get('error'), 'access_denied')
  }
  for (let count = 1; count < 20; count += 1) assert.ok(answerToClient(await allow(agent, await ask())).get('code'))
  const limited = await allow(agent, await ask())
  assertLimited(limited, HOUR_MS)
  assert.match(limited.text, /Too many attempts\. Try again in (?:1 hour|\d+ minutes)\./)
  const cancelled = await agent.post('/auth/oauth2/consent', { ...consentForm(await ask()), allow: '0' })
  assert.equal(answerToClient(cancelled).get('error'), 'access_denied')
  await pass(HOUR_MS + MINUTE_MS)
  assert.ok(answerToClient(await allow(agent, await ask())).get('code'))
})

test('60 requests a minute of a user: the client learns that svc cannot answer now', async () => {
  const { agent } = await signedUp(service)
  for (let count = 0; count < 60; count += 1) await agent.get(authorizePath(trusted.id))
  const told = answerToClient(await agent.get(authorizePath(trusted.id, { prompt: 'none' })))
  assert.equal(told.get('error'), 'temporarily_unavailable')
  assert.equal(told.get('state'), 'st4te')
  assert.match(told.get('error_description') ?? '', /^Too many tries\. Try again in \d+ seconds\.$/)
  const { agent: other } = await signedUp(service)
  assert.ok(answerToClient(await other.get(authorizePath(trusted.id))).get('code'), 'another user')
  await pass(MINUTE_MS + 1000)
  assert.ok(answerToClient(await agent.get(authorizePath(trusted.id))).get('code'), 'a minute later')
})

const ask = async (id: string, { agent }: Pick<Awaited<ReturnType<typeof signedUp>>, 'agent'>) =>
  agent.get(authorizePath(id, { redirect_uri: LOOPBACK_URI }))

test('10 documents an hour for a user, and 60 a minute for all of them', async () => {
  const users = []
  for (let number = 0; number < 6; number += 1) {
    const user = await signedUp(service)
    users.push(user)
    for (let count = 0; count < 10; count += 1)
      assert.notEqual((await ask(host.publish(`of-${number}-${count}`), user)).status, 429)
    assertLimited(await ask(host.publish(`of-${number}-11`), user), HOUR_MS)
  }
  const late = await signedUp(service)
  const [id, known] = [host.publish('late'), host.urlOf('of-0-0')]
  assertLimited(await ask(id, late), MINUTE_MS)
  assert.equal(host.requestsFor('late').length, 0)
  assert.notEqual((await ask(known, late)).status, 429, 'a document that is fresh')
  await pass(MINUTE_MS + 1000)
  assert.notEqual((await ask(id, late)).status, 429, 'a minute later')
  assert.equal(host.requestsFor('late').length, 1)
  const [first = late] = users
  assertLimited(await ask(host.urlOf('of-0-11'), first), HOUR_MS)
  await pass(HOUR_MS)
  assert.notEqual((await ask(host.urlOf('of-0-11'), first)).status, 429, 'an hour later')
})

test('10 wrong secrets a minute of a client: good ones pass all the while', async () => {
  const { tokens } = await newlyGranted(service, client)
  const guess = ({ id } = client) =>
    send(service, 'token', { ...GUESS, client_id: id }, { 'x-forwarded-for': '203.0.113.7' })
  for (let count = 0; count < 10; count += 1) assertWrongSecret(await guess())
  const limited = await guess()
  assertOAuthError(limited, 429, 'temporarily_unavailable')
  assertWait(limited.headers.get('retry-after'), MINUTE_MS)
  tokensIn(await refresh(service, client, tokens.refresh))
  assertWrongSecret(await guess(trusted))
  await pass(MINUTE_MS + 1000)
  assertWrongSecret(await guess())
})
