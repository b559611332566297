// Runs once.
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { decodeJwt, jwtVerify } from 'jose'
import { createAppleSecret } from '../../src/oauth/providers/openid-configuration.ts'

const T0 = 1_795_000_000_000
const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
let nowMs = T0
const parts = { teamId: 'ABCDE12345', keyId: '12345ABCDE', clientId: 'com.example.web', privateKey: pem }
const secret = createAppleSecret({ ...parts, clock: { now: () => nowMs } })

test('Apple’s client secret is a JWT with the claims that Apple requires, signed with the developer’s key', async () => {
  const { payload, protectedHeader } = await jwtVerify(secret(), publicKey, {
    algorithms: ['ES256'],
    issuer: parts.teamId,
    subject: parts.clientId,
    audience: 'https://appleid.apple.com',
    currentDate: new Date(T0),
  })
  assert.equal(protectedHeader.alg, 'ES256')
  assert.equal(protectedHeader.kid, parts.keyId)
  assert.deepEqual(payload, {
    iss: parts.teamId,
    iat: T0 / 1000,
    exp: T0 / 1000 + 300,
    aud: 'https://appleid.apple.com',
    sub: parts.clientId,
  })
})

test('each secret is new, and lasts for five minutes', () => {
  nowMs = T0 + 3_600_999
  const { iat, exp } = decodeJwt(secret())
  assert.deepEqual([iat, exp], [T0 / 1000 + 3600, T0 / 1000 + 3900])
})

test('it does not verify with another key', async () => {
  const { publicKey: other } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  await assert.rejects(jwtVerify(secret(), other, { currentDate: new Date(nowMs) }))
})
