// Runs on SQLite.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import { signedUp } from '../../support/client/accounts.ts'
import { turnedClock } from '../../support/clock/turned-clock.ts'
import { type Delivery, startWebhookReceiver } from '../../support/network/webhook-receiver.ts'
import type { Environment } from '../../support/service/command.ts'
import { startService } from '../../support/service/service.ts'
import { runCommand } from '../../support/service/warm-command.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const PREVIOUS = 'geheimnis: schlüssel 🔑'

const receiver = await startWebhookReceiver()
const clock = turnedClock()
const env = { SVC_WEBHOOK_URL: receiver.url, SVC_WEBHOOK_SECRET: SECRET, SVC_WEBHOOK_SECRET_PREVIOUS: PREVIOUS }
const service = await startService({ clock, env })
await signedUp(service)
const created = await receiver.receivedEvent(({ event }) => event.type === 'user.created')

type Headers = Record<string, string>
const standardHeaders = ({ headers }: Delivery): Headers =>
  Object.fromEntries(
    ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => [name, String(headers[name])]),
  )

const verifiers = {
  standardwebhooks: new Webhook(SECRET),
  svix: new SvixWebhook(SECRET),
  'standardwebhooks with the previous secret, which is no whsec_': new Webhook(Buffer.from(PREVIOUS), {
    format: 'raw',
  }),
}
for (const [name, verifier] of Object.entries(verifiers)) {
  describe(`§6.4 ${name} from npm`, () => {
    test('takes what was sent', () => {
      assert.doesNotThrow(() => verifier.verify(created.body, standardHeaders(created)))
    })

    test('refuses another body, id or time', () => {
      const headers = standardHeaders(created)
      assert.throws(() => verifier.verify(`${created.body} `, headers))
      assert.throws(() => verifier.verify(created.body, { ...headers, 'webhook-id': `${headers['webhook-id']}0` }))
      const later = String(Number(headers['webhook-timestamp']) + 1)
      assert.throws(() => verifier.verify(created.body, { ...headers, 'webhook-timestamp': later }))
    })
  })
}

test('§6.4 webhook-id is the id of the event, and webhook-signature has the new signature before the old one', () => {
  const headers = standardHeaders(created)
  assert.equal(headers['webhook-id'], created.event.id)
  assert.match(headers['webhook-signature'] ?? '', /^v1,[A-Za-z0-9+/]{43}= v1,[A-Za-z0-9+/]{43}=$/)
  const [first, second] = (headers['webhook-signature'] ?? '').split(' ')
  const at = new Date(Number(headers['webhook-timestamp']) * 1000)
  assert.equal(first, new Webhook(SECRET).sign(created.event.id, at, created.body))
  assert.equal(second, new Webhook(Buffer.from(PREVIOUS), { format: 'raw' }).sign(created.event.id, at, created.body))
})

test('§6.4 X-Svc-Signature is made with the new secret alone, as it is written', () => {
  const expected = createHmac('sha256', SECRET).update(created.body).digest('hex')
  assert.equal(created.headers['x-svc-signature'], `sha256=${expected}`)
})

test('§6.4 webhook-timestamp is that of the attempt, and webhook-id stays the same', async () => {
  const tenMinutesMs = 600_000
  await clock.turnTo(tenMinutesMs)
  const { id } = created.event
  const before = receiver.deliveries.length
  const { code, stderr } = await service.cli(['webhooks', 'redeliver', id])
  assert.equal(code, 0, stderr)
  const again = (await receiver.received(before + 1))[before]
  assert.ok(again)
  assert.deepEqual(again.body, created.body)
  const [first, second] = [created, again].map(standardHeaders)
  assert.equal(second?.['webhook-id'], id)
  const seconds = Number(second?.['webhook-timestamp']) - Number(first?.['webhook-timestamp'])
  assert.ok(seconds >= 600, String(seconds))
  assert.notEqual(second?.['webhook-signature'], first?.['webhook-signature'])
  await clock.turnTo(0)
})

test('§6.4 svc webhooks test signs as the service does', async () => {
  const { code, stderr } = await service.cli(['webhooks', 'test'])
  assert.equal(code, 0, stderr)
  const sent = await receiver.receivedEvent(({ event }) => event.type === 'webhook.test')
  for (const verifier of Object.values(verifiers))
    assert.doesNotThrow(() => verifier.verify(sent.body, standardHeaders(sent)))
})

test('§6.4 without a previous secret there is one signature', async (t) => {
  const one = await startService({ t, env: { SVC_WEBHOOK_URL: receiver.url, SVC_WEBHOOK_SECRET: PREVIOUS } })
  const before = receiver.deliveries.length
  await signedUp(one)
  const sent = (await receiver.received(before + 1))[before]
  assert.ok(sent)
  assert.match(standardHeaders(sent)['webhook-signature'] ?? '', /^v1,[A-Za-z0-9+/]{43}=$/)
  new Webhook(Buffer.from(PREVIOUS), { format: 'raw' }).verify(sent.body, standardHeaders(sent))
})

describe('§6.2 SVC_WEBHOOK_SECRET_PREVIOUS', () => {
  const url = 'https://hooks.example.com/svc'
  const directory = temporaryDirectory()
  const file = path.join(directory, 'previous')
  writeFileSync(file, `${SECRET}\n`)
  const check = (settings: Environment) => runCommand({ args: ['config'], cwd: directory, env: settings })

  const refused: Record<string, [Environment, RegExp]> = {
    'without a new one': [{ SVC_WEBHOOK_SECRET_PREVIOUS: PREVIOUS }, /^svc: SVC_WEBHOOK_SECRET is missing/m],
    'the same as the new one': [
      { SVC_WEBHOOK_URL: url, SVC_WEBHOOK_SECRET: SECRET, SVC_WEBHOOK_SECRET_PREVIOUS: SECRET },
      /^svc: SVC_WEBHOOK_SECRET_PREVIOUS and SVC_WEBHOOK_SECRET are the same/m,
    ],
    'the same as the new one, by a file': [
      { SVC_WEBHOOK_URL: url, SVC_WEBHOOK_SECRET: SECRET, SVC_WEBHOOK_SECRET_PREVIOUS_FILE: file },
      /^svc: SVC_WEBHOOK_SECRET_PREVIOUS and SVC_WEBHOOK_SECRET are the same/m,
    ],
  }
  for (const [what, [settings, message]] of Object.entries(refused)) {
    test(`${what} is a configuration error`, async () => {
      const { code, stderr, stdout } = await check(settings)
      assert.equal(code, 78, stdout)
      assert.match(stderr, message)
      assert.ok(!stderr.includes(SECRET) && !stderr.includes(PREVIOUS))
    })
  }

  test('may be in a file; secrets that are short or misspelt are warned about', async () => {
    const settings = { SVC_WEBHOOK_URL: url, SVC_WEBHOOK_SECRET_PREVIOUS_FILE: file }
    const good = await check({ ...settings, SVC_WEBHOOK_SECRET: PREVIOUS })
    assert.equal(good.code, 0, good.stderr)
    assert.ok(!good.stderr.includes('WEBHOOK'), good.stderr)
    assert.ok(!good.stdout.includes(SECRET) && !good.stdout.includes(PREVIOUS), good.stdout)
    // 18 characters, of which 9 bytes are the key.
    const short = await check({ ...settings, SVC_WEBHOOK_SECRET: 'whsec_c2VjcmV0IDE5' })
    assert.match(short.stderr, /SVC_WEBHOOK_SECRET is shorter than 16 bytes/)
    const misspelt = await check({ ...settings, SVC_WEBHOOK_SECRET: 'whsec_no base64 at all' })
    assert.match(misspelt.stderr, /SVC_WEBHOOK_SECRET begins with "whsec_"/)
  })
})
