// Runs once.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createRootSecret } from '../../src/lib/derived-keys.ts'
import { createSealedTokens } from '../../src/lib/sealed-token.ts'
import { open, seal } from '../../src/lib/secrets.ts'

const T0 = 1_795_000_000_000
const MINUTE = 60_000
const rootSecret = Buffer.alloc(32, 7)
const browserSecret = 'B'.repeat(43)

const tokens = ({
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

describe('a sealed token', () => {
  test('has a known form', () => {
    const known =
      '7viKPDV1ADXj1cXXDZacc6u82WoAjgpjux2z7FGlWQhBmlY11OElstG1IWD5gVk8apqGDGf8nTouYDtPhz12Fk4dMSBUZzzpFpcGkCTvqO31uKM9' +
      'ORmqngsNTzhFl9z4J4UH72MbFVIoePviZe_wRwk5eP_Wnbtw74fDMNpgz5swSZfzpIwUsT9TQtef'
    assert.deepEqual(tokens().open(known, browserSecret), { content: { hello: 'wörld' }, problem: undefined })
  })

  test('of another version is not opened: its user begins again', () => {
    const keys = createRootSecret({ current: rootSecret }).keys.for('oauth state')
    const unversioned =
      'AQEBAQEBAQEBAQEBQWHPcsTicrC7h2le469X1m_PssENBFHTQ9Gd6jyRH4QhiDwGgeTCxw2CFToXiE9D8QzLGzlxymmyBTaB33ypCZ1OE2sl' +
      '-09-N6FZWr323FeYDVrXXFq4Fjo2rmmS0sP6pWbaFV8vWQNLazZQiJPZQ6eNoC4Rfv-x1cOPgUwkN52V'
    const content = open(keys, unversioned, 'oauth state') ?? assert.fail('it is a token of the same key')
    const sealedAs = (version: string) => seal(keys, content, `oauth state${version}`)
    assert.deepEqual(tokens().open(sealedAs(' 1'), browserSecret)?.content, { hello: 'wörld' })
    for (const token of [unversioned, sealedAs(' 0'), sealedAs(' 2')])
      assert.equal(tokens().open(token, browserSecret), undefined)
  })

  test('is opened by any process with the same root secret; no two are equal', () => {
    const content = { provider: 'corp', returnTo: '/日本?q="\'', list: [1, null] }
    const texts = [tokens().seal(content, browserSecret), tokens().seal(content, browserSecret)]
    assert.notEqual(texts[0], texts[1])
    for (const text of texts) {
      assert.match(text, /^[\w-]+$/)
      assert.deepEqual(tokens().open(text, browserSecret), { content, problem: undefined })
    }
  })

  test('is compressed, so that addresses that are not ASCII fit into it', () => {
    const returnTo = `/${encodeURIComponent('日'.repeat(1000))}`
    const text = tokens().seal({ returnTo }, browserSecret)
    assert.ok(text.length < 400, `${text.length} characters for ${returnTo.length}`)
    assert.deepEqual(tokens().open(text, browserSecret)?.content, { returnTo })
  })

  test('cannot be read without the root secret', () => {
    const text = tokens().seal({ returnTo: '/secret-place' }, browserSecret)
    const bytes = Buffer.from(text, 'base64url').toString('latin1')
    assert.ok(!bytes.includes('secret') && !bytes.includes(browserSecret))
  })

  test('cannot be changed: each bit counts', () => {
    const bytes = Buffer.from(tokens().seal('x', browserSecret), 'base64url')
    for (let index = 0; index < bytes.length; index += 1) {
      for (const bit of [1, 128]) {
        const changed = Buffer.from(bytes)
        changed[index] = (changed[index] ?? 0) ^ bit
        assert.equal(tokens().open(changed.toString('base64url'), browserSecret), undefined)
      }
    }
    for (let length = 0; length < bytes.length; length += 1) {
      assert.equal(tokens().open(bytes.toString('base64url', 0, length), browserSecret), undefined)
    }
  })

  test('of another purpose or installation is not opened', () => {
    const text = tokens().seal('x', browserSecret)
    assert.equal(tokens({ purpose: 'oauth pending identity' }).open(text, browserSecret), undefined)
    assert.equal(tokens({ secret: Buffer.alloc(32, 8) }).open(text, browserSecret), undefined)
    for (const none of [undefined, '', 'garbage', '%$§&', 'A'.repeat(10_000)]) {
      assert.equal(tokens().open(none, browserSecret), undefined)
    }
  })

  test('that was sealed with the previous root secret is opened, in its own browser alone', () => {
    const text = tokens().seal('x', browserSecret)
    const secret = Buffer.alloc(32, 8)
    const rotated = tokens({ secret, previous: rootSecret })
    assert.deepEqual(rotated.open(text, browserSecret), { content: 'x', problem: undefined })
    assert.equal(rotated.open(text, 'b'.repeat(43))?.problem, 'other_browser')
    assert.equal(
      tokens({ secret }).open(rotated.seal('y', browserSecret), browserSecret)?.content,
      'y',
      'new tokens are sealed with the new root secret',
    )
  })

  test('expires after its lifetime, to the millisecond', () => {
    const text = tokens().seal('x', browserSecret)
    const problem = (afterMs: number) => tokens({ atMs: T0 + afterMs }).open(text, browserSecret)?.problem
    assert.deepEqual([0, 10 * MINUTE - 1, 10 * MINUTE, 24 * 60 * MINUTE].map(problem), [
      undefined,
      undefined,
      'expired',
      'expired',
    ])
  })

  test('is good in its own browser alone; an absent or empty secret is no browser', () => {
    const text = tokens().seal('x', browserSecret)
    for (const other of [undefined, '', 'b'.repeat(43), `${browserSecret} `, browserSecret.slice(1)]) {
      assert.equal(tokens().open(text, other)?.problem, 'other_browser')
    }
  })

  test('that has expired is expired in another browser too, since the cookie is gone by then', () => {
    const text = tokens().seal('x', browserSecret)
    for (const other of [undefined, 'b'.repeat(43)]) {
      assert.equal(tokens({ atMs: T0 + 10 * MINUTE }).open(text, other)?.problem, 'expired')
    }
  })
})
