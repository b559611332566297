// Runs on SQLite.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, test } from 'node:test'
import { verify } from '@octokit/webhooks-methods'
import { currentUser, signedUp } from '../../support/client/accounts.ts'
import { assertRedirect } from '../../support/client/assertions.ts'
import { openDatabase } from '../../support/database/database.ts'
import { startWebhookReceiver } from '../../support/network/webhook-receiver.ts'
import type { Environment } from '../../support/service/command.ts'
import { startService } from '../../support/service/service.ts'
import { startServiceProcess } from '../../support/service/service-process.ts'
import { runCommand } from '../../support/service/warm-command.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const secret = 'a secret of enough bytes'
const url = 'https://hooks.example.com/svc'
const directory = temporaryDirectory()
const serveWith = (env: Environment) => runCommand({ args: ['serve'], cwd: directory, env: { SVC_PORT: '0', ...env } })

const refused: [string, Environment, string][] = [
  ['SVC_WEBHOOK_URL without SVC_WEBHOOK_SECRET', { SVC_WEBHOOK_URL: url }, 'SVC_WEBHOOK_SECRET'],
  ['SVC_WEBHOOK_SECRET without SVC_WEBHOOK_URL', { SVC_WEBHOOK_SECRET: secret }, 'SVC_WEBHOOK_URL'],
  ['an empty secret counts as unset', { SVC_WEBHOOK_URL: url, SVC_WEBHOOK_SECRET: '' }, 'SVC_WEBHOOK_SECRET'],
  ['an empty URL counts as unset', { SVC_WEBHOOK_URL: '', SVC_WEBHOOK_SECRET: secret }, 'SVC_WEBHOOK_URL'],
  ...[
    'hooks.example.com/svc',
    '//hooks.example.com/svc',
    '/svc',
    'ftp://hooks.example.com',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'http:hooks.example.com',
    'http:/hooks.example.com',
    'http:///hooks.example.com',
    'http:\\\\hooks.example.com',
    'http://',
    'https://:8080/x',
    ' ',
  ].map((value): [string, Environment, string] => [
    `the URL must include the scheme http:// or https://, judged as written: ${JSON.stringify(value)}`,
    { SVC_WEBHOOK_URL: value, SVC_WEBHOOK_SECRET: secret },
    'SVC_WEBHOOK_URL',
  ]),
  ...['user.changed', 'User.Created', 'user.*', 'user.created user.deleted', 'user.created;user.deleted', 'all'].map(
    (value): [string, Environment, string] => [
      `event names are exact: ${value}`,
      { SVC_WEBHOOK_URL: url, SVC_WEBHOOK_SECRET: secret, SVC_WEBHOOK_ENABLED_EVENTS: value },
      'SVC_WEBHOOK_ENABLED_EVENTS',
    ],
  ),
]

describe('§6.2 a configuration error (exit 78)', () => {
  for (const [what, env, variable] of refused) {
    test(`§6.2 ${what}`, async () => {
      const { code, stderr } = await serveWith(env)
      assert.equal(code, 78, stderr)
      assert.ok(stderr.includes(variable), stderr)
      assert.ok(!stderr.includes(secret), 'the secret is not printed')
    })
  }
})

test('§6.2 neither URL nor secret: webhooks are off, and users are created and deleted without events', async (t) => {
  const service = await startService({ t, env: { SVC_WEBHOOK_URL: '', SVC_WEBHOOK_SECRET: '' } })
  const { agent, person } = await signedUp(service)
  assertRedirect(await agent.post('/auth/account/delete', { password: person.password }), '/auth/login?done=deleted')
  const refused = await service.cli(['users', 'show', person.email])
  assert.equal(refused.code, 1, refused.stdout)
  const database = await openDatabase(service, t)
  assert.deepEqual(await database.rows('SELECT id FROM webhook_events'), [])
})

test('§6.2 a secret under 16 bytes starts with a warning', async (t) => {
  const receiver = await startWebhookReceiver({ t })
  const service = await startServiceProcess({
    t,
    env: { SVC_WEBHOOK_URL: receiver.url, SVC_WEBHOOK_SECRET: 'fifteen bytes..' },
  })
  const warnings = service.logLines().filter(({ level }) => level === 'warn')
  assert.ok(
    warnings.some((line) => JSON.stringify(line).includes('SVC_WEBHOOK_SECRET')),
    service.logs(),
  )
  await signedUp(service)
  await receiver.received(1)
})

test('§6.2 a secret of 16 bytes (not characters) starts without a warning', async (t) => {
  const receiver = await startWebhookReceiver({ t })
  const service = await startServiceProcess({
    t,
    env: { SVC_WEBHOOK_URL: receiver.url, SVC_WEBHOOK_SECRET: 'éééééééé' },
  })
  assert.deepEqual(
    service.logLines().filter((line) => line.level === 'warn' && JSON.stringify(line).includes('WEBHOOK')),
    [],
  )
})

test('§6.2 enabled events default to all supported events', async (t) => {
  const receiver = await startWebhookReceiver({ t })
  const env = { SVC_WEBHOOK_URL: receiver.url, SVC_WEBHOOK_SECRET: secret, SVC_WEBHOOK_ENABLED_EVENTS: '' }
  const service = await startService({ t, env })
  const { agent, person } = await signedUp(service)
  await agent.post('/auth/account/delete', { password: person.password })
  const types = (await receiver.received(2)).map(({ event }) => event.type)
  assert.deepEqual(types, ['user.created', 'user.deleted'])
})

test('§6.2 comma-separated list of event types to send; spaces around commas are ignored', async (t) => {
  const receiver = await startWebhookReceiver({ t })
  const env = { SVC_WEBHOOK_URL: receiver.url, SVC_WEBHOOK_SECRET: secret }
  const service = await startService({
    t,
    env: { ...env, SVC_WEBHOOK_ENABLED_EVENTS: ' user.deleted , user.created ' },
  })
  const { agent, person } = await signedUp(service)
  await agent.post('/auth/account/delete', { password: person.password })
  assert.equal((await receiver.received(2)).length, 2)
})

test('§6.2 an event type that is not enabled is not sent, even when it is enabled later', async (t) => {
  const receiver = await startWebhookReceiver({ t })
  const env = { SVC_WEBHOOK_URL: receiver.url, SVC_WEBHOOK_SECRET: secret }
  const service = await startService({ t, env: { ...env, SVC_WEBHOOK_ENABLED_EVENTS: 'user.deleted' } })
  const { agent, person } = await signedUp(service)
  const { id } = await currentUser(agent)
  await agent.post('/auth/account/delete', { password: person.password })
  await receiver.received(1)
  assert.deepEqual(
    receiver.deliveries.map(({ event }) => [event.type, event.data.user_id]),
    [['user.deleted', id]],
  )
})

test('§6.2 any secret may be in the file of SVC_X_FILE: it signs like one from the variable', async (t) => {
  const receiver = await startWebhookReceiver({ t })
  const file = path.join(temporaryDirectory(t), 'secret')
  writeFileSync(file, `${secret}\n`)
  const service = await startService({ t, env: { SVC_WEBHOOK_URL: receiver.url, SVC_WEBHOOK_SECRET_FILE: file } })
  await signedUp(service)
  const [delivery] = await receiver.received(1)
  assert.ok(delivery && (await verify(secret, delivery.body, String(delivery.headers['x-svc-signature']))))
})
