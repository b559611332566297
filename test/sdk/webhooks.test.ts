// Runs on SQLite, alone.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, mock, test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { verifyWebhook, WebhookVerificationError } from '../../sdk/src/webhooks.ts'
import { standardSignature } from '../../src/webhooks/signed-request.ts'
import { signedUp } from '../support/client/accounts.ts'
import { startWebhookReceiver } from '../support/network/webhook-receiver.ts'
import { startService } from '../support/service/service.ts'

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const OTHER = 'geheimnis: schlüssel 🔑'

const EVENT = {
  id: '01a1fde0-3668-7ac6-b80c-80fdb35c9a45',
  type: 'user.updated',
  created_at: '2026-11-21T11:31:32.155Z',
  data: { user_id: '01a1fde0-3668-7ac6-b80c-80fdb35c9a46', changed: ['roles'] },
}
const BODY = JSON.stringify(EVENT)

const nowSeconds = (): number => Math.floor(Date.now() / 1000)

/** The headers of a request that was signed with these secrets. */
const signed = (secrets = [SECRET], { timestamp = nowSeconds(), body = BODY, id = EVENT.id } = {}) => ({
  'webhook-id': id,
  'webhook-timestamp': String(timestamp),
  'webhook-signature': standardSignature(secrets, { id, timestamp, body }),
})

const refused = (call: Promise<unknown>, message: RegExp): Promise<void> =>
  assert.rejects(call, (error) => error instanceof WebhookVerificationError && message.test(error.message))

describe('what is taken', () => {
  test('every event of a running svc, with either of two secrets', async () => {
    const receiver = await startWebhookReceiver()
    const service = await startService({
      env: { SVC_WEBHOOK_URL: receiver.url, SVC_WEBHOOK_SECRET: SECRET, SVC_WEBHOOK_SECRET_PREVIOUS: OTHER },
    })
    const { agent, person } = await signedUp(service)
    await agent.post('/auth/account/username', { username: `${person.username}x` })
    await agent.post('/auth/account/delete', { password: person.password })
    await receiver.received(3)
    assert.equal((await service.cli(['webhooks', 'test'])).code, 0)
    const deliveries = await receiver.received(4)
    for (const secret of [SECRET, OTHER]) {
      const events = await Promise.all(deliveries.map(({ body, headers }) => verifyWebhook(body, headers, secret)))
      assert.deepEqual(
        events,
        deliveries.map(({ event }) => event),
      )
      assert.deepEqual(
        events.map((event) => [event.type, 'changed' in event.data ? event.data.changed : undefined]),
        [
          ['user.created', undefined],
          ['user.updated', ['username']],
          ['user.deleted', undefined],
          ['webhook.test', undefined],
        ],
      )
    }
  })

  const bytes = new TextEncoder().encode(BODY)
  // A view into a larger buffer, as Node's pool gives it.
  const view = Buffer.concat([Buffer.from('{}'), bytes, Buffer.from('{}')]).subarray(2, 2 + bytes.length)
  for (const [what, body] of Object.entries({ text: BODY, bytes, view, buffer: bytes.buffer }))
    test(`a body as ${what}`, async () => {
      assert.deepEqual(await verifyWebhook(body, signed(), SECRET), EVENT)
    })

  const headers = signed()
  const capitals = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]))
  const lists = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]))
  for (const [what, given] of Object.entries({ Headers: new Headers(headers), capitals, lists }))
    test(`headers as ${what}`, async () => {
      assert.deepEqual(await verifyWebhook(BODY, given, SECRET), EVENT)
    })

  test('what a library of Standard Webhooks has signed', async () => {
    const headers = signed()
    const sentAt = new Date(Number(headers['webhook-timestamp']) * 1000)
    const signature = new Webhook(SECRET).sign(EVENT.id, sentAt, BODY)
    assert.deepEqual(await verifyWebhook(BODY, { ...headers, 'webhook-signature': signature }, SECRET), EVENT)
  })

  test('one of several secrets; one of several signatures; other versions beside', async () => {
    assert.deepEqual(await verifyWebhook(BODY, signed([OTHER]), [SECRET, OTHER]), EVENT)
    const both = signed([OTHER, SECRET])
    assert.deepEqual(await verifyWebhook(BODY, both, SECRET), EVENT)
    const versions = `v1a,abcDEF v2,AAAA ${both['webhook-signature']} v1,!!! v1,AAAA`
    assert.deepEqual(await verifyWebhook(BODY, { ...both, 'webhook-signature': versions }, SECRET), EVENT)
  })

  for (const secret of [
    'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS',
    'whsec_',
    'whsec_no base64',
    'whsec_-_-_',
    'MfKQ9r8G',
    OTHER,
  ])
    test(`the same key as svc makes of ${secret}`, async () => {
      assert.deepEqual(await verifyWebhook(BODY, signed([secret]), secret), EVENT)
    })
})

describe('what is refused', () => {
  const wrong: Record<string, [body: string, headers: Record<string, string | string[]>, message: RegExp]> = {
    'another body': [BODY.replace('roles', 'email'), signed(), /No signature/],
    'a space more': [`${BODY} `, signed(), /No signature/],
    'no body': ['', signed(), /No signature/],
    'another id': [BODY, { ...signed(), 'webhook-id': 'x' }, /No signature/],
    'another time': [BODY, { ...signed(), 'webhook-timestamp': String(nowSeconds() - 7) }, /No signature/],
    'another secret': [BODY, signed([OTHER]), /No signature/],
    'a signature that was cut': [
      BODY,
      { ...signed(), 'webhook-signature': signed()['webhook-signature'].slice(0, -5) },
      /No signature/,
    ],
    'an empty signature': [BODY, { ...signed(), 'webhook-signature': 'v1,' }, /malformed/],
    'the signature without its version': [
      BODY,
      { ...signed(), 'webhook-signature': signed()['webhook-signature'].slice(3) },
      /malformed/,
    ],
    'the signature of another version': [
      BODY,
      { ...signed(), 'webhook-signature': signed()['webhook-signature'].replace('v1,', 'v2,') },
      /No signature/,
    ],
    'two signatures with a comma between': [
      BODY,
      { ...signed(), 'webhook-signature': `v1,AAAA, ${signed()['webhook-signature']}` },
      /repeated/,
    ],
    'a repeated id': [BODY, { ...signed(), 'webhook-id': [EVENT.id, EVENT.id] }, /webhook-id is malformed or repeated/],
    'a repeated time': [
      BODY,
      { ...signed(), 'webhook-timestamp': ['1', String(nowSeconds())] },
      /webhook-timestamp is malformed or repeated/,
    ],
    'a repeated signature': [
      BODY,
      { ...signed(), 'webhook-signature': ['v1,AAAA', signed()['webhook-signature']] },
      /webhook-signature is malformed or repeated/,
    ],
    'the header twice in different letters': [
      BODY,
      { ...signed(), 'Webhook-Id': EVENT.id },
      /webhook-id is malformed or repeated/,
    ],
    'a signed body that is no JSON': ['{', signed([SECRET], { body: '{' }), /no event/],
    'a signed body that is no event': ['{"id":"1"}', signed([SECRET], { body: '{"id":"1"}' }), /no event/],
    'a signed null': ['null', signed([SECRET], { body: 'null' }), /no event/],
  }
  for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature']) {
    const others = Object.fromEntries(Object.entries(signed()).filter(([each]) => each !== name))
    wrong[`no ${name}`] = [BODY, others, new RegExp(`${name} is missing`)]
    wrong[`an empty ${name}`] = [BODY, { ...others, [name]: '' }, new RegExp(`${name} is missing`)]
  }
  for (const timestamp of ['1e9', '0x1', '-1', '1.5', ' 1', 'now', '01', '9'.repeat(13), 'NaN', 'Infinity'])
    wrong[`the time ${timestamp}`] = [
      BODY,
      { ...signed(), 'webhook-timestamp': timestamp },
      /webhook-timestamp is malformed/,
    ]

  for (const [what, [body, headers, message]] of Object.entries(wrong))
    test(what, () => refused(verifyWebhook(body, headers, SECRET), message))

  test('X-Svc-Signature alone, which does not say when', () =>
    refused(verifyWebhook(BODY, { 'x-svc-signature': 'sha256=00' }, SECRET), /webhook-id is missing/))
})

const verifyAt = (timestamp: number, options = {}) =>
  verifyWebhook(BODY, signed([SECRET], { timestamp }), SECRET, options)

describe('the time', () => {
  test('five minutes in either direction, to the second', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: 1_795_260_692_999 })
    const now = 1_795_260_692
    for (const timestamp of [now - 300, now, now + 300]) assert.deepEqual(await verifyAt(timestamp), EVENT)
    await refused(verifyAt(now - 301), /too long ago/)
    await refused(verifyAt(now + 301), /in the future/)
    assert.deepEqual(await verifyAt(now - 60, { toleranceSeconds: 60 }), EVENT)
    await refused(verifyAt(now - 61, { toleranceSeconds: 60 }), /too long ago/)
  })
})

test('the secret is SVC_WEBHOOK_SECRET where none is given', async (t) => {
  t.after(() => delete process.env.SVC_WEBHOOK_SECRET)
  await assert.rejects(verifyWebhook(BODY, signed()), { name: 'TypeError', message: /SVC_WEBHOOK_SECRET/ })
  process.env.SVC_WEBHOOK_SECRET = SECRET
  assert.deepEqual(await verifyWebhook(BODY, signed()), await verifyWebhook(BODY, signed(), SECRET))
})

describe('a mistake in the call is a TypeError', () => {
  const unset = undefined as unknown as string
  const calls: Record<string, () => Promise<unknown>> = {
    'no secret': () => verifyWebhook(BODY, signed(), unset),
    'an empty secret': () => verifyWebhook(BODY, signed(), ''),
    'no secrets': () => verifyWebhook(BODY, signed(), []),
    'a secret that is not set among others': () => verifyWebhook(BODY, signed(), [SECRET, unset]),
    'a parsed body': () => verifyWebhook(EVENT as unknown as string, signed(), SECRET),
    'no body': () => verifyWebhook(unset, signed(), SECRET),
    'no tolerance': () => verifyWebhook(BODY, signed(), SECRET, { toleranceSeconds: 0 }),
    'a tolerance that is no number': () => verifyWebhook(BODY, signed(), SECRET, { toleranceSeconds: Number.NaN }),
  }
  for (const [what, call] of Object.entries(calls)) test(what, () => assert.rejects(call, TypeError))
})

test('signatures are compared by Web Crypto, in constant time, and every one of them', async () => {
  const verify = mock.method(crypto.subtle, 'verify')
  await refused(verifyWebhook(BODY, signed([OTHER, OTHER]), [SECRET, 'a third one']), /No signature/)
  assert.equal(verify.mock.callCount(), 4)
  verify.mock.restore()
})

const requestWith = (headers: Record<string, string>): Request =>
  new Request('http://localhost/', { method: 'POST', headers, body: BODY })

test('the example of the document is checked as it stands', async () => {
  const document = readFileSync(new URL('../../sdk/docs/webhooks.md', import.meta.url), 'utf8')
  const [, example = ''] = /```js\n(.*?)```/s.exec(document) ?? []
  const source = example
    .replace("'@svc/sdk/webhooks'", JSON.stringify(new URL('../../sdk/src/webhooks.ts', import.meta.url).href))
    .replace('process.env.SVC_WEBHOOK_SECRET', JSON.stringify(SECRET))
    .replace('forget(', 'globalThis.forget(')
  const { POST }: { POST: (request: Request) => Promise<Response> } = await import(
    `data:text/javascript,${encodeURIComponent(source)}`
  )
  assert.equal((await POST(requestWith(signed()))).status, 204)
  assert.equal((await POST(requestWith(signed([OTHER])))).status, 401)
})
