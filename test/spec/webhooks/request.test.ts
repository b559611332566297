// Runs on SQLite.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { sign, verify } from '@octokit/webhooks-methods'
import { currentUser, signedUp } from '../../support/client/accounts.ts'
import { startWebhookReceiver } from '../../support/network/webhook-receiver.ts'
import { startService } from '../../support/service/service.ts'

const secret = 'geheimnis: schlüssel 🔑 "\'\\'
const receiver = await startWebhookReceiver()
const service = await startService({
  env: { SVC_WEBHOOK_URL: `${receiver.url}?a=1&b=%20`, SVC_WEBHOOK_SECRET: secret },
})

const startedAtMs = Date.now()
const { agent, person } = await signedUp(service)
const { id: userId } = await currentUser(agent)
await agent.post('/auth/account/delete', { password: person.password })
const [created, deleted] = await receiver.received(2)
assert.ok(created && deleted)
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

for (const [type, delivery] of [
  ['user.created', created],
  ['user.deleted', deleted],
] as const) {
  const signature = String(delivery.headers['x-svc-signature'])

  test(`§6.3 ${type}: method POST to the configured URL with its query`, () => {
    assert.equal(delivery.method, 'POST')
    assert.equal(delivery.url, '/hook?a=1&b=%20')
  })

  test(`§6.3 ${type}: Content-Type is application/json`, () => {
    assert.equal(delivery.headers['content-type'], 'application/json')
  })

  test(`§6.3 ${type}: X-Svc-Event is the event type`, () => {
    assert.equal(delivery.headers['x-svc-event'], type)
    assert.equal(delivery.event.type, type)
  })

  test(`§6.3 ${type}: X-Svc-Delivery is the event id (same as body field id), a UUID`, () => {
    assert.equal(delivery.headers['x-svc-delivery'], delivery.event.id)
    assert.match(delivery.event.id, uuid)
  })

  test(`§6.3 ${type}: the body has id, type, created_at and data, and data holds user_id`, () => {
    assert.deepEqual(Object.keys(delivery.event).sort(), ['created_at', 'data', 'id', 'type'])
    assert.equal(delivery.event.data.user_id, userId)
    assert.match(delivery.event.data.user_id, uuid)
  })

  test(`§6.3 ${type}: created_at has milliseconds and Z, and is when the action was`, () => {
    assert.match(delivery.event.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    const createdAtMs = Date.parse(delivery.event.created_at)
    assert.ok(createdAtMs >= startedAtMs && createdAtMs <= delivery.arrivedAtMs, delivery.event.created_at)
  })

  test(`§6.3 ${type}: the request contains nothing about the user except the id`, () => {
    for (const value of [person.password, secret, '$argon2']) assert.ok(!delivery.body.includes(value))
  })

  test(`§6.4 ${type}: HMAC-SHA256 over the raw request body, in lower-case hex, prefixed with sha256=`, () => {
    assert.match(signature, /^sha256=[0-9a-f]{64}$/)
    assert.equal(signature, `sha256=${createHmac('sha256', secret).update(delivery.body).digest('hex')}`)
  })

  test(`§6.4 ${type}: the signature is accepted by a public library for such signatures`, async () => {
    assert.equal(await verify(secret, delivery.body, signature), true)
    assert.equal(await sign(secret, delivery.body), signature)
    assert.equal(await verify(secret, `${delivery.body} `, signature), false)
    assert.equal(await verify(`${secret}x`, delivery.body, signature), false)
  })
}

test('§6.3 id: unique event id', () => {
  assert.notEqual(created.event.id, deleted.event.id)
})
