// Runs on SQLite.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { verifyWebhook } from '../../../sdk/src/webhooks.ts'
import { signedUp } from '../../support/client/accounts.ts'
import { startDevHere } from '../../support/dev/dev.ts'
import { eventually } from '../../support/wait.ts'

type Webhook = {
  id: string
  type: string
  data: { user_id: string }
  headers: Record<string, string>
  body: string
  passed_on: { url: string; status?: number; problem?: string } | null
}

const received: { body: string; headers: Record<string, string> }[] = []
let status = 204
const app = createServer(async (request, response) => {
  received.push({ body: await text(request), headers: request.headers as Record<string, string> })
  response.writeHead(status).end()
}).listen(0, '127.0.0.1')
after(() => app.close().closeAllConnections())
await once(app, 'listening')
const receiver = `http://127.0.0.1:${(app.address() as AddressInfo).port}/webhooks`
const dev = await startDevHere({ options: { webhook: receiver } })

const webhooks = async (): Promise<Webhook[]> =>
  (await dev.get('/auth/dev/webhooks.json')).json<{ webhooks: Webhook[] }>().webhooks

/** The deliveries about a new user, once there are so many. */
const deliveriesOf = async (userId: string, count: number): Promise<Webhook[]> => {
  const own = async () => (await webhooks()).filter(({ data }) => data.user_id === userId)
  await eventually('the deliveries', async () => (await own()).length >= count, 20)
  return own()
}

const newUserId = async (): Promise<string> => {
  const { agent } = await signedUp(dev)
  return (await agent.get('/auth/api/v1/user')).json<{ id: string }>().id
}

test('an event arrives with its signature, and is passed on to the application as it came', async () => {
  const [webhook = assert.fail()] = await deliveriesOf(await newUserId(), 1)
  assert.equal(webhook.type, 'user.created')
  assert.deepEqual(webhook.passed_on, { url: receiver, status: 204 })
  const passedOn = received.find(({ body }) => body === webhook.body) ?? assert.fail()
  for (const { body, headers } of [webhook, passedOn]) {
    const event = await verifyWebhook(body, headers, dev.webhookSecret)
    assert.equal(event.id, webhook.id)
  }
})

test('a button sends it again, with a signature of now', async () => {
  const userId = await newUserId()
  await deliveriesOf(userId, 1)
  const list = (await dev.get('/auth/dev/webhooks')).text
  const [, address = assert.fail()] = new RegExp(`User ${userId}[^]*?data-send="([^"]+)"`).exec(list) ?? []
  status = 500
  assert.equal((await dev.post(address)).status, 204)
  const [first, second = assert.fail()] = await deliveriesOf(userId, 2)
  status = 204
  assert.deepEqual([second.id, second.body], [first?.id, first?.body])
  assert.equal(second.passed_on?.status, 500)
  await verifyWebhook(second.body, second.headers, dev.webhookSecret)
  assert.match((await dev.get('/auth/dev/webhooks')).text, /the application answered 500/)
  assert.equal((await dev.post('/auth/dev/webhooks/999/send')).status, 404)
})

test('what svc has not signed is refused', async () => {
  const before = (await webhooks()).length
  const event = { id: '1', type: 'user.deleted', created_at: '', data: { user_id: '1' } }
  for (const headers of [{}, { 'x-svc-signature': `sha256=${'0'.repeat(64)}` }])
    assert.equal((await dev.post('/auth/dev/webhooks', event, headers)).status, 401)
  assert.equal((await webhooks()).length, before)
})

test('an application that does not answer is said so', async (t) => {
  const alone = await startDevHere({ options: { webhook: 'http://127.0.0.1:1/webhooks' }, t })
  const all = async () => (await alone.get('/auth/dev/webhooks.json')).json<{ webhooks: Webhook[] }>().webhooks
  await eventually('the events of the start', async () => (await all()).length === 2, 20)
  assert.equal((await all())[0]?.passed_on?.problem, 'ECONNREFUSED')
})
