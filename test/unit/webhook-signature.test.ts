// Runs once.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isMisspelt, webhookKey } from '../../src/lib/webhook-key.ts'
import { signBody, standardSignature } from '../../src/webhooks/signed-request.ts'

test('the example of Standard Webhooks, as the documentation of Svix prints it', () => {
  const message = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestamp: 1_614_265_330, body: '{"test": 2432232314}' }
  assert.equal(
    standardSignature(['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'], message),
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  )
})

test('X-Svc-Signature is keyed by the text of the secret, whsec_ or not: RFC 4231, test case 2', () => {
  const expected = '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843'
  assert.equal(signBody('Jefe', 'what do ya want for nothing?'), `sha256=${expected}`)
  assert.notEqual(signBody('whsec_SmVmZQ==', 'what do ya want for nothing?'), `sha256=${expected}`)
})

describe('the key of Standard Webhooks', () => {
  const decoded = { 'whsec_SmVmZQ==': 'Jefe', whsec_SmVmZQ: 'Jefe', 'whsec_c2VjcmV0cw==': 'secrets' }
  for (const [secret, key] of Object.entries(decoded))
    test(`${secret} is decoded`, () => {
      assert.equal(webhookKey(secret).toString(), key)
      assert.equal(isMisspelt(secret), false)
    })

  for (const secret of ['Jefe', 'SmVmZQ==', 'WHSEC_SmVmZQ==', ' whsec_SmVmZQ==', 'geheim: schlüssel 🔑'])
    test(`${secret} counts as raw bytes`, () => {
      assert.equal(webhookKey(secret).toString(), secret)
      assert.equal(isMisspelt(secret), false)
    })

  for (const secret of ['whsec_', 'whsec_SmVm ZQ==', 'whsec_a', 'whsec_-_-_', 'whsec_SmVmZQ===', 'whsec_Sm=mZQ=='])
    test(`${secret} counts as raw bytes, and a library would refuse it`, () => {
      assert.equal(webhookKey(secret).toString(), secret)
      assert.equal(isMisspelt(secret), true)
    })
})
