// Runs once.
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { type AuthOptions, createAuth } from '../../sdk/src/server.ts'

const NAMES = ['SVC_URL', 'SVC_BASE_URL', 'NODE_ENV'] as const
const before = { ...process.env }

beforeEach(() => {
  for (const name of NAMES) delete process.env[name]
})
afterEach(() => void Object.assign(process.env, before))

test('without an address, the loopback address holds, except in production', () => {
  assert.ok(createAuth())
  process.env.NODE_ENV = 'production'
  assert.throws(() => createAuth(), /option "url" or set SVC_URL/)
  process.env.SVC_URL = ''
  assert.throws(() => createAuth(), /SVC_URL/, 'an empty variable counts as unset')
  process.env.SVC_URL = 'http://svc:8080'
  assert.ok(createAuth())
})

test('a wrong setting is named with what it accepts', () => {
  const wrong: [AuthOptions, RegExp][] = [
    [{ url: 'svc:8080' }, /^url must be an address of http or https without a path/],
    [{ url: 'http://svc:8080/auth' }, /^url must be/],
    [{ url: 'http://user:secret@svc:8080' }, /^url must be/],
    [{ url: '' }, /^url must be/],
    [{ issuer: 'example.com' }, /^issuer must be/],
    [{ timeoutMs: 0 }, /^timeoutMs must be/],
    [{ timeoutMs: Number.NaN }, /^timeoutMs must be/],
    [{ timeoutMs: Infinity }, /^timeoutMs must be/],
    [{ audience: '' }, /^audience must/],
  ]
  for (const [options, message] of wrong) assert.throws(() => createAuth(options), { name: 'TypeError', message })
  process.env.SVC_URL = 'ftp://svc'
  assert.throws(() => createAuth(), /^TypeError: SVC_URL must be/)
  assert.ok(createAuth({ url: 'http://svc:8080/' }), 'the option counts, and a slash at its end is no path')
})

test('without an issuer, verifyAccessToken names the option and the variable', async () => {
  const { verifyAccessToken } = createAuth({ url: 'http://127.0.0.1:1' })
  await assert.rejects(verifyAccessToken('x'), { name: 'TypeError', message: /option "issuer" or set SVC_BASE_URL/ })
})
