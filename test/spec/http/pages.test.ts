// Runs on SQLite.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { newPerson, signedUp, signUp } from '../../support/client/accounts.ts'
import { assertPage } from '../../support/client/assertions.ts'
import type { Answer } from '../../support/client/user-agent.ts'
import { createUserAgent } from '../../support/client/user-agent.ts'
import { startService } from '../../support/service/service.ts'

const service = await startService()
const anonymous = createUserAgent(service)
const { agent } = await signedUp(service)

const pages: [string, () => Promise<Answer>][] = [
  ['login', () => anonymous.get('/auth/login')],
  ['signup', () => anonymous.get('/auth/signup')],
  ['account', () => agent.get('/auth/account')],
  ['logout', () => agent.get('/auth/logout')],
  ['400', () => anonymous.get('/auth/login?return_to=//x')],
  ['403', () => anonymous.post('/auth/login', { csrf_token: 'x' })],
  ['404', () => anonymous.get('/auth/nothing')],
  ['405', () => anonymous.send({ method: 'PUT', path: '/auth/login' })],
  ['422', () => signUp(anonymous, { ...newPerson(), email: 'x' })],
]

const directives = (policy: string) =>
  new Map(policy.split(';').map((part) => [part.trim().split(/\s+/)[0] ?? '', part.trim().split(/\s+/).slice(1)]))

for (const [name, open] of pages) {
  test(`${name}: Referrer-Policy is same-origin`, async () => {
    assert.equal((await open()).headers['referrer-policy'], 'same-origin')
  })

  test(`${name}: strict Content-Security-Policy: nothing inline, nothing from other origins, no framing`, async () => {
    const policy = directives(String((await open()).headers['content-security-policy']))
    assert.deepEqual(policy.get('default-src'), ["'none'"])
    assert.deepEqual(policy.get('frame-ancestors'), ["'none'"])
    assert.deepEqual(policy.get('base-uri'), ["'none'"])
    assert.ok(policy.has('form-action'))
    const allowed = [...policy.values()].flat()
    for (const source of ["'unsafe-inline'", "'unsafe-eval'", '*', 'http:', 'https:', 'data:'])
      assert.ok(!(policy.get('script-src') ?? []).includes(source) && !(policy.get('style-src') ?? []).includes(source))
    assert.ok(!allowed.includes("'unsafe-eval'"))
  })

  test(`${name}: no inline script, no event attribute, no inline style`, async () => {
    const { text } = await open()
    for (const [script] of text.matchAll(/<script\b[^>]*>[^<]*/gi))
      assert.match(script, /\bsrc="\/auth\/[^"]+"[^>]*>\s*$/)
    assert.doesNotMatch(text, /<[^>]+\son\w+\s*=/i)
    assert.doesNotMatch(text, /<[^>]+\sstyle\s*=/i)
    assert.doesNotMatch(text, /javascript:/i)
  })

  test(`${name}: is not cached, not sniffed, and declares its language`, async () => {
    const answer = await open()
    assert.match(answer.headers['cache-control'] ?? '', /no-store/)
    assert.equal(answer.headers['x-content-type-options'], 'nosniff')
    assert.match(answer.text, /<html lang="[a-z]{2}/)
    assert.match(answer.text, /<title>[^<]+<\/title>/)
    assert.match(answer.text, /<meta name="viewport"/)
  })
}

for (const [name, open, expected] of [
  ['login', () => anonymous.get('/auth/login'), { email: 'username webauthn', password: 'current-password' }],
  ['signup', () => anonymous.get('/auth/signup'), { email: 'email|username', password: 'new-password' }],
  ['account', () => agent.get('/auth/account'), { current_password: 'current-password', new_password: 'new-password' }],
] as const) {
  test(`${name}: has labels and autocomplete for users and password managers`, async () => {
    const { text } = await open()
    for (const [field, autocomplete] of Object.entries(expected)) {
      const input = new RegExp(`<input\\b[^>]*name="${field}"[^>]*>`).exec(text)?.[0] ?? ''
      assert.match(input, new RegExp(`autocomplete="(?:${autocomplete})"`), input)
      const id = /\bid="([^"]+)"/.exec(input)?.[1]
      assert.ok(id && text.includes(`for="${id}"`), `a label for ${field}`)
    }
  })
}

test('a password field has the type password and no value', async () => {
  for (const path of ['/auth/login', '/auth/signup']) {
    const { text } = await anonymous.post(path, { email: 'x', password: 'typed before' })
    const input = /<input\b[^>]*name="password"[^>]*>/.exec(text)?.[0] ?? ''
    assert.match(input, /type="password"/)
    assert.doesNotMatch(input, /\bvalue="[^"]/)
  }
})

test('a name that a user chose is shown as text', async () => {
  const visitor = createUserAgent(service)
  const email = "x'<b>@example.com"
  const answer = await signUp(visitor, { ...newPerson(), email })
  assertPage(answer, 422)
  assert.ok(!answer.text.includes('<b>'))
})

test('texts of done are from the catalogue: an unknown one is not echoed', async () => {
  for (const path of ['/auth/login', '/auth/account']) {
    const { text } = await agent.get(`${path}?done=%3Cscript%3Ealert(1)%3C/script%3E&return_to=%2F`)
    assert.doesNotMatch(text, /alert\(1\)/)
  }
  for (const done of ['__proto__', 'constructor', 'toString', 'hasOwnProperty'])
    assertPage(await agent.get(`/auth/account?done=${done}`))
})

test('the account page has the parts that well-known addresses of the application lead to', async () => {
  const document = readFileSync(path.join(import.meta.dirname, '../../../docs/integrate.md'), 'utf8')
  const parts = new Set([...document.matchAll(/\/auth\/account#([a-z-]+)/g)].map(([, id = '']) => id))
  assert.deepEqual([...parts].toSorted(), ['change-password', 'passkeys'])
  const { text } = await agent.get('/auth/account')
  for (const id of parts) assert.ok(text.includes(`id="${id}"`), id)
})

test('HEAD is answered like GET, without a body', async () => {
  const answer = await anonymous.send({ method: 'HEAD', path: '/auth/login' })
  assert.equal(answer.status, 200)
  assert.equal(answer.text, '')
})

for (const [name, open] of pages) {
  test(`${name}: has a description in its head, and no directives that browsers ignore`, async () => {
    const { text } = await open()
    const [, head = ''] = text.split(/<\/?head>/)
    assert.match(head, /<meta name="description" content="Log in to localhost, create an account, [^"]+">/)
    const fields = [...text.matchAll(/<input [^>]*>/g)].filter(([input]) => !input.includes(' readonly'))
    for (const [input] of fields) assert.equal(input.includes('autocapitalize'), input.includes('type="text"'), input)
  })
}
