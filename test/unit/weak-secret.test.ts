// Runs once.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { findWeakness } from '../../src/lib/weak-secret.ts'

const asHex = (text: string) => ({ text, bytes: Buffer.from(text, 'hex') })
const asBase64 = (text: string) => ({ text, bytes: Buffer.from(text, 'base64') })

const GUESSABLE: Record<string, { text: string; bytes: Buffer }> = {
  'one byte, as hex': asHex('00'.repeat(32)),
  'one byte, as base64': asBase64(Buffer.alloc(32, 7).toString('base64')),
  'one letter, as base64': asBase64('a'.repeat(43)),
  'a short sequence over and over': asHex('deadbeef'.repeat(8)),
  'a word over and over': asBase64('changeme'.repeat(6)),
  'a word over and over, cut off': asBase64('Changeme1'.repeat(5).slice(0, 44)),
  'half of it twice': asHex('00112233445566778899aabbccddeeff'.repeat(2)),
  'hex digits in their order': asHex('0123456789abcdef'.repeat(4)),
  'bytes that count up': asHex(Buffer.from(Array.from({ length: 32 }, (_, index) => index)).toString('hex')),
  'bytes that count down by two': asHex(
    Buffer.from(Array.from({ length: 40 }, (_, at) => 250 - 2 * at)).toString('hex'),
  ),
  'the alphabet': asBase64('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'),
  'words with hyphens': asBase64('please-change-this-secret-before-production-2026'),
  WORDS_WITH_UNDERSCORES: asBase64('PLEASE_CHANGE_THIS_SECRET_BEFORE_PRODUCTION_NOW_'),
  'a sentence, as base64': asBase64(Buffer.from('This is my very secret secret, really!').toString('base64')),
  'a sentence, as hex': asHex(Buffer.from('this is my very secret secret, really!').toString('hex')),
  'few bytes among many': asHex('00'.repeat(40) + randomBytes(8).toString('hex')),
}

describe('a root secret that could be guessed', () => {
  for (const [what, { text, bytes }] of Object.entries(GUESSABLE)) {
    test(`is found: ${what}`, () => {
      assert.ok(bytes.length >= 32, 'long enough')
      assert.equal(typeof findWeakness(text, bytes), 'string')
    })
  }

  test('is not reported for 20,000 secrets like those of openssl rand or svc itself, in any spelling', () => {
    for (let round = 0; round < 2500; round++) {
      for (const length of [32, 33, 48, 64]) {
        const random = randomBytes(length)
        assert.equal(findWeakness(random.toString('hex'), random), undefined, random.toString('hex'))
        const text = random.toString(round % 2 ? 'base64' : 'base64url')
        assert.equal(findWeakness(text, random), undefined, text)
      }
    }
  })

  test('is not reported for random text that is encoded twice: hex or letters and digits, as base64 again', () => {
    for (let round = 0; round < 2500; round++) {
      for (const text of [randomBytes(32).toString('hex'), randomBytes(30).toString('base64url')]) {
        const bytes = Buffer.from(text)
        assert.equal(findWeakness(bytes.toString('base64'), bytes), undefined, text)
      }
    }
  })
})
