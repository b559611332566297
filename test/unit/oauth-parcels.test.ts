import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createRootSecret } from '../../src/lib/derived-keys.ts'
import { createSealedTokens } from '../../src/oauth/sealed-token.ts'

const T0 = 1_795_000_000_000
const MINUTE = 60_000
const rootSecret = Buffer.alloc(32, 7)
const binding = 'B'.repeat(43)

const parcels = ({
  atMs = T0,
  purpose = 'oauth state',
  secret = rootSecret,
  previous,
}: {
  atMs?: number
  purpose?: string
  secret?: Uint8Array
  previous?: Uint8Array
} = {}) =>
  createSealedTokens<unknown>({
    rootSecret: createRootSecret({ current: secret, previous }),
    clock: { now: () => atMs },
    purpose,
    lifetimeMs: 10 * MINUTE,
  })

describe('parcels travel through a browser and come back', () => {
  test('a known one can be opened: those under way survive an update', () => {
    const known =
      'AQEBAQEBAQEBAQEBQWHPcsTicrC7h2le469X1m_PssENBFHTQ9Gd6jyRH4QhiDwGgeTCxw2CFToXiE9D8QzLGzlxymmyBTaB33ypCZ1OE2sl' +
      '-09-N6FZWr323FeYDVrXXFq4Fjo2rmmS0sP6pWbaFV8vWQNLazZQiJPZQ6eNoC4Rfv-x1cOPgUwkN52V'
    assert.deepEqual(parcels().open(known, binding), { content: { hello: 'wörld' }, spoiled: undefined })
  })

  test('what was closed is opened, by any process with the same root secret; no two look alike', () => {
    const content = { provider: 'corp', target: '/日本?q="\'', list: [1, null] }
    const texts = [parcels().close(content, binding), parcels().close(content, binding)]
    assert.notEqual(texts[0], texts[1])
    for (const text of texts) {
      assert.match(text, /^[\w-]+$/)
      assert.deepEqual(parcels().open(text, binding), { content, spoiled: undefined })
    }
  })

  test('text that repeats itself is packed, so that addresses that are not ASCII fit into one', () => {
    const target = `/${encodeURIComponent('日'.repeat(1000))}`
    const text = parcels().close({ target }, binding)
    assert.ok(text.length < 400, `${text.length} characters for ${target.length}`)
    assert.deepEqual(parcels().open(text, binding)?.content, { target })
  })

  test('nobody else can read it', () => {
    const text = parcels().close({ target: '/secret-place' }, binding)
    const bytes = Buffer.from(text, 'base64url').toString('latin1')
    assert.ok(!bytes.includes('secret') && !bytes.includes(binding))
  })

  test('nobody can change it: each bit counts', () => {
    const bytes = Buffer.from(parcels().close('x', binding), 'base64url')
    for (let index = 0; index < bytes.length; index += 1) {
      for (const bit of [1, 128]) {
        const changed = Buffer.from(bytes)
        changed[index] = (changed[index] ?? 0) ^ bit
        assert.equal(parcels().open(changed.toString('base64url'), binding), undefined)
      }
    }
    for (let length = 0; length < bytes.length; length += 1) {
      assert.equal(parcels().open(bytes.toString('base64url', 0, length), binding), undefined)
    }
  })

  test('one of another purpose or another installation is none', () => {
    const text = parcels().close('x', binding)
    assert.equal(parcels({ purpose: 'oauth pending identity' }).open(text, binding), undefined)
    assert.equal(parcels({ secret: Buffer.alloc(32, 8) }).open(text, binding), undefined)
    for (const none of [undefined, '', 'garbage', '%$§&', 'A'.repeat(10_000)]) {
      assert.equal(parcels().open(none, binding), undefined)
    }
  })

  test('one that was closed with the previous root secret is opened, in its own browser alone', () => {
    const text = parcels().close('x', binding)
    const secret = Buffer.alloc(32, 8)
    const rotated = parcels({ secret, previous: rootSecret })
    assert.deepEqual(rotated.open(text, binding), { content: 'x', spoiled: undefined })
    assert.equal(rotated.open(text, 'b'.repeat(43))?.spoiled, 'other_browser')
    assert.equal(
      parcels({ secret }).open(rotated.close('y', binding), binding)?.content,
      'y',
      'new ones are of the new',
    )
  })

  test('it is good for as long as was said, to the millisecond', () => {
    const text = parcels().close('x', binding)
    const spoiled = (afterMs: number) => parcels({ atMs: T0 + afterMs }).open(text, binding)?.spoiled
    assert.deepEqual([0, 10 * MINUTE - 1, 10 * MINUTE, 24 * 60 * MINUTE].map(spoiled), [
      undefined,
      undefined,
      'expired',
      'expired',
    ])
  })

  test('it is good in its own browser alone; absent and empty are no browser', () => {
    const text = parcels().close('x', binding)
    for (const other of [undefined, '', 'b'.repeat(43), `${binding} `, binding.slice(1)]) {
      assert.equal(parcels().open(text, other)?.spoiled, 'other_browser')
    }
  })

  test('in another browser or none, and too late: too late, for the cookie is gone by then', () => {
    const text = parcels().close('x', binding)
    for (const other of [undefined, 'b'.repeat(43)]) {
      assert.equal(parcels({ atMs: T0 + 10 * MINUTE }).open(text, other)?.spoiled, 'expired')
    }
  })
})
