// Runs once.
import assert from 'node:assert/strict'
import { generateKeyPairSync, sign, verify } from 'node:crypto'
import { test } from 'node:test'
import { signEs256, verifyEs256 } from '../../src/sessions/tokens/es256.ts'
import { withSpareBit } from '../support/service/access-tokens.ts'

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const ieee = { dsaEncoding: 'ieee-p1363' } as const

// One signature in 256 has a number with a leading zero byte, and one in two a number with its top bit set.
test('signatures of every length of their numbers equal those of Node (RFC 7518 section 3.4)', () => {
  for (let round = 0; round < 1500; round += 1) {
    const message = `message ${round}`
    const bytes = Buffer.from(message)
    assert.ok(
      verify('sha256', bytes, { key: publicKey, ...ieee }, Buffer.from(signEs256(privateKey, message), 'base64url')),
    )
    const foreign = sign('sha256', bytes, { key: privateKey, ...ieee }).toString('base64url')
    assert.ok(verifyEs256(publicKey, message, foreign))
  }
})

test('the signature in RFC 7515 appendix A.3 is valid for its message only', async () => {
  const { createPublicKey } = await import('node:crypto')
  const key = createPublicKey({
    format: 'jwk',
    key: {
      kty: 'EC',
      crv: 'P-256',
      x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
      y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
    },
  })
  const message =
    'eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ'
  const signature = 'DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q'
  assert.equal(verifyEs256(key, message, signature), true)
  assert.equal(verifyEs256(key, `${message}x`, signature), false)
  assert.equal(verifyEs256(key, message, signature.slice(0, -4)), false)
  assert.equal(verifyEs256(key, message, ''), false)
})

test('a signature has one valid spelling: spare bits, padding and the other alphabet are refused', () => {
  for (let round = 0; round < 20; round += 1) {
    const signature = signEs256(privateKey, 'message')
    const others = [
      withSpareBit(signature),
      `${signature}==`,
      ` ${signature}`,
      `${signature}.`,
      Buffer.from(signature, 'base64url').toString('base64'),
    ]
    assert.equal(verifyEs256(publicKey, 'message', signature), true)
    for (const other of others) assert.equal(verifyEs256(publicKey, 'message', other), false, other)
  }
})
