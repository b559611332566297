// Runs once, alone.
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { createAdmin } from '../../sdk/src/admin.ts'
import { createGuard } from '../../sdk/src/guard/guard.ts'
import { type AuthOptions, createAuth, SvcUnavailableError } from '../../sdk/src/server.ts'

const NAMES = ['SVC_URL', 'SVC_BASE_URL', 'SVC_API_KEY', 'NODE_ENV'] as const
const before = { ...process.env }

const asks = (auth = createAuth()) => auth.getUser({ headers: {} })
const MISSING = { name: 'TypeError', message: /option "url" or set SVC_URL/ }

beforeEach(() => {
  for (const name of NAMES) delete process.env[name]
})
afterEach(() => void Object.assign(process.env, before))

test('without an address, the loopback address holds, except in production', async () => {
  assert.equal(await asks(), null)
  process.env.NODE_ENV = 'production'
  await assert.rejects(asks(), MISSING)
  process.env.SVC_URL = ''
  await assert.rejects(asks(), MISSING, 'an empty variable counts as unset')
  process.env.SVC_URL = 'http://svc:8080'
  assert.equal(await asks(), null)
})

test('modules that connect to svc load without the environment that they will run in, as in a build', async () => {
  process.env.NODE_ENV = 'production'
  const [auth, admin, guard] = [createAuth(), createAdmin(), createGuard({})]
  await assert.rejects(asks(auth), MISSING)
  await assert.rejects(auth.verifyAccessToken('x'), { name: 'TypeError', message: /set SVC_BASE_URL/ })
  await assert.rejects(guard.requireUser({ headers: {} }), MISSING)
  await assert.rejects(admin.users.get('1'), { name: 'TypeError', message: /option "apiKey" or set SVC_API_KEY/ })
  Object.assign(process.env, { SVC_URL: 'http://127.0.0.1:1', SVC_API_KEY: 'svc_sk_x' })
  assert.equal(await asks(auth), null)
  await assert.rejects(admin.users.get('1'), SvcUnavailableError)
})

test('a runtime without variables, or without a machine, has no svc on its loopback address', async (t) => {
  const { env } = process
  t.after(() => {
    process.env = env
    Reflect.deleteProperty(navigator, 'userAgent')
  })
  process.env = {}
  await assert.rejects(asks(), MISSING)
  process.env = env
  Object.defineProperty(navigator, 'userAgent', { value: 'Cloudflare-Workers', configurable: true })
  await assert.rejects(asks(), MISSING)
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
  process.env.SVC_API_KEY = 'secret'
  assert.throws(() => createAdmin({ url: 'http://svc:8080' }), /^TypeError: SVC_API_KEY must be a key/)
  delete process.env.SVC_API_KEY
  assert.ok(createAuth({ url: 'http://svc:8080/' }), 'the option counts, and a slash at its end is no path')
})

test('without an issuer, verifyAccessToken names the option and the variable', async () => {
  const { verifyAccessToken } = createAuth({ url: 'http://127.0.0.1:1' })
  await assert.rejects(verifyAccessToken('x'), { name: 'TypeError', message: /option "issuer" or set SVC_BASE_URL/ })
})
