// Runs once.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createRootSecret, type DerivedKeys, type SecretPair } from '../../src/lib/derived-keys.ts'

const secretOf = (byte: number) => Buffer.alloc(32, byte)
const keyOf = (keys: DerivedKeys, purpose = 'refresh tokens') => keys.for(purpose).export().toString('hex')
const currentKey = (current: Uint8Array) => keyOf(createRootSecret({ current }).keys)

describe('keys that are derived from the root secret', () => {
  test('have known values: HKDF-SHA256 (RFC 5869) of secret, salt "svc" and purpose', () => {
    const { keys } = createRootSecret({ current: secretOf(7) })
    assert.deepEqual(
      ['refresh tokens', 'signing keys', 'oauth state'].map((purpose) => keyOf(keys, purpose)),
      [
        'c369f303ab2d0b66e61701a5854865fb2e21e4aed49191cf8972f9968e207992',
        'aae762aaa321d4a9a8ace6b50c0517d50ccf0a297b4d3d617ece9b3c9e6c8124',
        'd4d5621fc03d00c4b044dbcd1a31247121108926a322e733877724606de41c35',
      ],
    )
  })

  test('are tried with the current secret, then with the previous one; a value that neither has made is not found', () => {
    const secret = createRootSecret({ current: secretOf(1), previous: secretOf(2) })
    const tried: string[] = []
    const find = (wanted: string) =>
      secret.find((keys) => {
        tried.push(keyOf(keys))
        return keyOf(keys) === wanted ? 'found' : undefined
      })
    const [one, two, three] = [1, 2, 3].map((byte) => currentKey(secretOf(byte)))
    assert.deepEqual([find(one ?? ''), find(two ?? ''), find(three ?? '')], ['found', 'found', undefined])
    assert.deepEqual(tried, [one, one, two, one, two])
    assert.equal(keyOf(secret.keys), one, 'new tokens come from the current one')
  })

  test('a secret that was rotated in the meantime is read when no known secret fits, and not before', () => {
    let pair: SecretPair | undefined
    let looks = 0
    const secret = createRootSecret({ current: secretOf(1) }, () => {
      looks += 1
      const next = pair
      pair = undefined
      return next
    })
    const knows = (byte: number) =>
      secret.find((keys) => keyOf(keys) === currentKey(secretOf(byte)) || undefined) ?? false
    assert.equal(knows(1), true)
    assert.equal(looks, 0)
    assert.equal(knows(2), false)
    pair = { current: secretOf(2), previous: secretOf(1) }
    assert.equal(knows(2), true)
    assert.equal(knows(1), true)
    assert.equal(keyOf(secret.keys), currentKey(secretOf(2)))
    assert.equal(looks, 2)
  })
})
