// Runs once.
import assert from 'node:assert/strict'
import { createHmac, hkdfSync } from 'node:crypto'
import { test } from 'node:test'
import { createCsrfTokens, namedSession } from '../../src/http/csrf-token.ts'
import { createRootSecret } from '../../src/lib/derived-keys.ts'

const current = Buffer.alloc(32, 1)
const previous = Buffer.alloc(32, 2)
const tokens = createCsrfTokens(createRootSecret({ current }))
const sid = '0193a1b2-c3d4-7e5f-8a6b-0123456789ab'
const other = '0193a1b2-c3d4-7e5f-8a6b-0123456789ac'
const jwt = (claims: unknown) => `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.x`

test('a token is 16 random bytes and the first 16 of an HMAC-SHA256 over session and random bytes', () => {
  const token = tokens.make(sid)
  assert.match(token, /^[\w-]{43}$/)
  const bytes = Buffer.from(token, 'base64url')
  assert.equal(bytes.length, 32)
  const key = Buffer.from(hkdfSync('sha256', current, 'svc', 'csrf tokens', 32))
  const random = bytes.subarray(0, 16)
  const mac = createHmac('sha256', key)
    .update(`csrf_token\n${sid}\n${random.toString('base64url')}`)
    .digest()
  assert.deepEqual(bytes.subarray(16), mac.subarray(0, 16))
})

test('a known token is valid for its session', () => {
  assert.equal(tokens.isGood('AAECAwQFBgcICQoLDA0OD6-rHIlMrZxwgzelTYUKOo4', sid), true)
  assert.equal(tokens.isGood('AAECAwQFBgcICQoLDA0OD6-rHIlMrZxwgzelTYUKOo4', other), false)
})

test('a token is valid for its own session only, and no two are the same', () => {
  const [one, two] = [tokens.make(sid), tokens.make(sid)]
  assert.notEqual(one.slice(0, 21), two.slice(0, 21))
  for (const token of [one, two]) {
    assert.equal(tokens.isGood(token, sid), true)
    assert.equal(tokens.isGood(token, other), false)
    assert.equal(tokens.isGood(token, sid.toUpperCase()), false)
    assert.equal(tokens.isGood(token, ''), false)
  }
})

test('with any character changed, or the spare bits of the last one, a token is valid for no session', () => {
  const token = tokens.make(sid)
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  for (let at = 0; at < token.length; at += 1) {
    const next = alphabet.charAt((alphabet.indexOf(token.charAt(at)) + 1) % 64)
    assert.equal(tokens.isGood(token.slice(0, at) + next + token.slice(at + 1), sid), false, String(at))
  }
})

test('without a session any token of the right format is valid, and nothing else is', () => {
  for (const token of [tokens.make(undefined), tokens.make(sid), 'x'.repeat(43)]) {
    assert.equal(tokens.isGood(token, undefined), true)
  }
  for (const text of [undefined, '', 'x'.repeat(42), 'x'.repeat(44), `${'x'.repeat(42)}=`, `${'x'.repeat(42)}\n`]) {
    assert.equal(tokens.isGood(text, undefined), false)
    assert.equal(tokens.isGood(text, sid), false)
  }
  assert.equal(tokens.isGood(tokens.make(undefined), sid), false)
})

test('the previous root secret counts until it is removed; new tokens are made with the current one', () => {
  const old = createCsrfTokens(createRootSecret({ current: previous })).make(sid)
  const rotated = createCsrfTokens(createRootSecret({ current, previous }))
  assert.equal(rotated.isGood(old, sid), true)
  assert.equal(rotated.isGood(old, other), false)
  assert.equal(tokens.isGood(old, sid), false)
  assert.equal(tokens.isGood(rotated.make(sid), sid), true)
})

test('the session is the one that the refresh token names, else the access token, else none', () => {
  const refresh = `${sid}.7.${'x'.repeat(43)}`
  assert.equal(namedSession({ refresh: refresh, access: jwt({ sid: other }) }), sid)
  assert.equal(namedSession({ refresh: 'nonsense', access: jwt({ sid }) }), sid)
  assert.equal(namedSession({ access: jwt({ sid }) }), sid)
  const nonsense = ['', '.', '..', 'x', 'a.b.c', jwt(null), jwt([]), jwt({}), jwt({ sid: 1 }), jwt({ sid: 'x' })]
  for (const access of [...nonsense, jwt({ sid: sid.toUpperCase() }), `${jwt({ sid })}${'x'.repeat(8192)}`]) {
    assert.equal(namedSession({ access: access }), undefined, access.slice(0, 60))
    assert.equal(namedSession({ refresh: access, access: access }), undefined)
  }
  assert.equal(namedSession({}), undefined)
})

test('after a rotation of the root secret a token is renewed: the same random bytes with the MAC of the new one', () => {
  const former = createCsrfTokens(createRootSecret({ current: previous }))
  const rotated = createCsrfTokens(createRootSecret({ current, previous }))
  const old = former.make(sid)
  const renewed = rotated.renew(old, sid) ?? assert.fail('it is good')
  assert.notEqual(renewed, old)
  assert.equal(renewed.slice(0, 21), old.slice(0, 21))
  assert.equal(rotated.renew(renewed, sid), renewed)
  assert.equal(tokens.isGood(renewed, sid), true, 'without the previous secret')
  assert.equal(rotated.isSame(old, renewed, sid), true)
  assert.equal(rotated.isSame(renewed, old, sid), true)
})

test('two tokens are not equal because both are valid, nor because both are invalid', () => {
  assert.equal(tokens.isSame(tokens.make(sid), tokens.make(sid), sid), false)
  const loose = [tokens.make(undefined), tokens.make(undefined)] as const
  assert.equal(tokens.isSame(loose[0], loose[1], sid), false)
  assert.equal(tokens.isSame(loose[0], loose[1], undefined), false)
  assert.equal(tokens.isSame('', undefined, sid), false)
  assert.equal(tokens.renew(loose[0], undefined), loose[0])
  assert.equal(tokens.renew(tokens.make(other), sid), undefined)
})
