// Runs on SQLite.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { currentUser, logIn, newPerson, signedUp, signUp } from '../../support/client/accounts.ts'
import { assertRedirect } from '../../support/client/assertions.ts'
import { type UserAgent, createUserAgent } from '../../support/client/user-agent.ts'
import { rootSecret } from '../../support/database/database.ts'
import { startWebhookReceiver, status } from '../../support/network/webhook-receiver.ts'
import { runCommandOf } from '../../support/service/operator-commands.ts'
import { loggedRequest } from '../../support/service/request-log.ts'
import { startServiceProcess } from '../../support/service/service-process.ts'

const receiver = await startWebhookReceiver()
const webhookSecret = 'webhook secret of this run'
const service = await startServiceProcess({
  env: {
    SVC_LOG_LEVEL: 'debug',
    SVC_WEBHOOK_URL: `${receiver.url}?token=in-the-url`,
    SVC_WEBHOOK_SECRET: webhookSecret,
  },
})

test('each request is one line with request id, route, status, duration, client address and user id', async () => {
  const { agent } = await signedUp(service)
  const { id } = await currentUser(agent)
  const answer = await agent.get('/auth/account?x=1')
  const line = await loggedRequest(service, answer)
  assert.equal(line.method, 'GET')
  assert.equal(line.route, '/auth/account')
  assert.equal(line.status, 200)
  assert.equal(typeof line.duration_ms, 'number')
  assert.equal(line.client, '127.0.0.1')
  assert.equal(line.user_id, id)
  assert.match(String(line.time), /^\d{4}-\d\d-\d\dT.*Z$/)
  const same = service.logLines().filter((entry) => entry.message === 'request' && entry.request_id === line.request_id)
  assert.equal(same.length, 1)
})

test('an unknown path has no route, and the log has no part of it that could be a secret', async () => {
  const answer = await createUserAgent(service).get('/auth/secret-in-the-path-4711-4711-4711-4711')
  const line = await loggedRequest(service, answer)
  assert.deepEqual([line.status, line.route, line.path], [404, undefined, '/auth/…'])
  assert.ok(!JSON.stringify(line).includes('4711'))
})

test('a line break in a request does not make a second line', async () => {
  const answer = await createUserAgent(service).post('/auth/login', {
    email: 'x@example.com\n{"level":"error","message":"forged"}',
    password: 'a\n{"message":"forged"}',
  })
  await loggedRequest(service, answer)
  assert.ok(!service.logLines().some(({ message }) => message === 'forged'))
})

/** Collects every secret that is sent or received. */
const secretsOf = (agent: UserAgent): string[] =>
  ['svc_access', 'svc_refresh', 'svc_csrf'].flatMap((name) => agent.cookies.get(name) ?? [])

test('structured logs, never a password, token, secret or full cookie: a whole run at level debug', async () => {
  const secrets: string[] = [webhookSecret]
  const remember = (agent: UserAgent) => secrets.push(...secretsOf(agent))
  const { agent, person } = await signedUp(service)
  secrets.push(person.password)
  remember(agent)
  for (let round = 0; round < 3; round++) {
    await agent.refresh()
    remember(agent)
  }
  const replay = agent.copy()
  await agent.refresh()
  await replay.refresh()
  for (const each of [agent, replay]) remember(each)

  const typo = newPerson()
  secrets.push(typo.password)
  await logIn(createUserAgent(service), { ...person, password: typo.password })
  await logIn(createUserAgent(service), { ...person, email: typo.password })
  await signUp(createUserAgent(service), { ...typo, email: 'not an email' })
  await agent.get(`/auth/login?password=${encodeURIComponent(typo.password)}&token=${secretsOf(agent)[0]}`)
  await agent.get(`/auth/nothing/${secretsOf(agent)[1]}`)
  await agent.get('/auth/api/v1/user', { authorization: `Bearer ${secretsOf(agent)[0]}` })
  await agent.get('/auth/api/v1/user', { cookie: `svc_access=${secretsOf(agent)[0]}; svc_access=x` })
  await agent.refresh('audience=app', { 'x-csrf-token': 'wrong' })
  await agent.refresh('', {})
  await agent.refresh('audience=app', { origin: 'https://evil.example' })
  const mangled = agent.copy()
  mangled.cookies.set('svc_access', `${secretsOf(agent)[0]}x`)
  mangled.cookies.set('svc_refresh', `${secretsOf(agent)[1]}x`, '/auth')
  await mangled.get('/auth/account')
  await mangled.refresh()
  await agent.post('/auth/login', { email: 'x'.repeat(20_000), password: typo.password })

  const next = newPerson()
  secrets.push(next.password)
  receiver.answerWith(status(500))
  const change = { current_password: person.password, new_password: next.password }
  assertRedirect(await agent.post('/auth/account/password', change), '/auth/account?done=password')
  remember(agent)
  const last = newPerson()
  secrets.push(last.password)
  await runCommandOf(service, ['users', 'set-password', person.email], last.password)
  const again = createUserAgent(service)
  await logIn(again, { ...person, password: last.password })
  remember(again)
  await again.post('/auth/account/delete', { password: last.password })
  await receiver.received(2)
  await service.stop()
  secrets.push(rootSecret(service))

  const logs = service.logs()
  assert.ok(service.logLines().filter(({ message }) => message === 'request').length > 15, 'the run is in the log')
  for (const secret of secrets.flatMap((each) => [each, encodeURIComponent(each)])) {
    assert.ok(!logs.includes(secret), `${secret} stands in the log`)
    const signature = secret.split('.').at(-1) ?? secret
    assert.ok(!logs.includes(signature), `${signature} stands in the log`)
  }
  assert.doesNotMatch(logs, /\$argon2|svc_(?:access|refresh|csrf)=|PRIVATE KEY|in-the-url/)
})
