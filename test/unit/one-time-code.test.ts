// Runs once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findStep, toAppSecret } from '../../src/second-factor/one-time-code.ts'
import { newRecoveryCodes, readRecoveryCode, showRecoveryCode } from '../../src/second-factor/recovery-code-sets.ts'
import { codeAt } from '../support/second-factor/authenticator-app.ts'

/** RFC 6238 appendix B, the column of SHA-1: seconds and the eight digits, of which an app shows the last six. */
const VECTORS = [
  [59, '94287082'],
  [1_111_111_109, '07081804'],
  [1_111_111_111, '14050471'],
  [1_234_567_890, '89005924'],
  [2_000_000_000, '69279037'],
  [20_000_000_000, '65353130'],
] as const
const SECRET = Buffer.from('12345678901234567890')
const { text: BASE32 } = toAppSecret(SECRET, { issuer: 'svc', account: 'user@example.com' })

test('the vectors of RFC 6238 for SHA-1, of svc and of the app in the tests', () => {
  for (const [seconds, digits] of VECTORS) {
    const nowMs = seconds * 1000
    const step = Math.floor(seconds / 30)
    assert.equal(findStep(SECRET, { code: digits.slice(2), nowMs, lastUsedStep: 0 }), step, digits)
    assert.equal(codeAt(BASE32, nowMs, 8), digits)
  }
})

test('one step either way, and none that was used up', () => {
  const nowMs = 1_795_000_005_000
  const step = Math.floor(nowMs / 30_000)
  const found = (offsetMs: number, lastUsedStep = 0) =>
    findStep(SECRET, { code: codeAt(BASE32, nowMs + offsetMs), nowMs, lastUsedStep })
  assert.equal(found(0), step)
  for (const offsetMs of [-29_000, -30_000]) assert.equal(found(offsetMs), step - 1)
  for (const offsetMs of [29_000, 30_000]) assert.equal(found(offsetMs), step + 1)
  for (const offsetMs of [-61_000, 61_000]) assert.equal(found(offsetMs), undefined)
  assert.equal(found(0, step), undefined)
  assert.equal(found(-30_000, step), undefined)
  assert.equal(found(30_000, step), step + 1)
})

test('the address of a secret has no parameter that an app must guess', () => {
  const { uri } = toAppSecret(SECRET, { issuer: 'A: ü & b', account: 'a+b@example.com' })
  const url = new URL(uri)
  assert.equal(url.protocol, 'otpauth:')
  assert.equal(url.host, 'totp')
  assert.equal(decodeURIComponent(url.pathname), '/A  ü & b:a+b@example.com')
  assert.deepEqual(Object.fromEntries(url.searchParams), {
    issuer: 'A  ü & b',
    secret: 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ',
    algorithm: 'SHA1',
    digits: '6',
    period: '30',
  })
})

test('recovery codes: ten of 75 random bits, read back however they are typed', () => {
  const codes = newRecoveryCodes()
  assert.deepEqual(
    codes.map(({ place }) => place),
    [...'0123456789'],
  )
  for (const code of codes) {
    const shown = showRecoveryCode(code)
    assert.match(shown, /^\d[\da-hjkmnp-tv-z]{3}(?:-[\da-hjkmnp-tv-z]{4}){3}$/)
    for (const typed of [shown, shown.toUpperCase(), ` ${shown.replaceAll('-', ' ')} `, code.text])
      assert.deepEqual(readRecoveryCode(typed), code)
    assert.deepEqual(readRecoveryCode(shown.replaceAll('0', 'O').replaceAll('1', 'l')), code)
  }
  assert.equal(new Set(codes.map(({ text }) => text.slice(1))).size, 10)
  for (const typed of ['', '123456', '0123-4567-89ab', '0123-4567-89ab-cdeu', `0${'a'.repeat(16)}`])
    assert.equal(readRecoveryCode(typed), undefined, typed)
})
