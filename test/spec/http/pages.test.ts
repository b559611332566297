// Runs on SQLite.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, test } from 'node:test'
import { accountDone } from '../../../src/web/site/account-done.ts'
import { logIn, newPerson, signedUp, signUp } from '../../support/client/accounts.ts'
import { assertPage, assertRedirect } from '../../support/client/assertions.ts'
import { type Answer, createUserAgent } from '../../support/client/user-agent.ts'
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

const messagesOf = ({ text }: Answer) =>
  [...text.matchAll(/<p class="box (?:done|note)"[^>]*>([^<]*)/g)].map(([, words = '']) => words)
const sectionOf = ({ text }: Answer, id: string) =>
  [...text.matchAll(/<section[^]*?<\/section>/g)]
    .map(([section]) => section)
    .find((one) => one.includes(` id="${id}"`)) ?? ''

describe('what a page says was done', () => {
  test('no link claims what was not done in this browser', async () => {
    const { agent: user } = await signedUp(service)
    for (const done of Object.keys(accountDone))
      assert.deepEqual(messagesOf(await user.get(`/auth/account?done=${done}#done`)), [], done)
    for (const done of ['deleted', 'sign_in_ended', 'check_mail'])
      assert.deepEqual(messagesOf(await anonymous.get(`/auth/login?done=${done}`)), [], done)
  })

  test('in the section that changed, to which the address leads; a reload and another tab say it as well', async () => {
    const { agent: user } = await signedUp(service)
    const changed = await user.post('/auth/account/username', { username: newPerson().username })
    assert.equal(changed.location, '/auth/account?done=username#profile')
    for (const tab of [user, user, user.copy()]) {
      const page = await tab.get('/auth/account?done=username')
      assert.deepEqual(messagesOf(page), ['Username changed.'])
      assert.match(sectionOf(page, 'username-section'), /<p class="box done" id="done" role="status" tabindex="-1"/)
    }
    for (const path of ['/auth/account', '/auth/account?done=password'])
      assert.deepEqual(messagesOf(await user.get(path)), [], path)
  })

  test('of one account, and not of the next one in the same browser', async () => {
    const { agent: user, person } = await signedUp(service)
    await user.post('/auth/account/sessions', { all_others: '1' })
    assert.deepEqual(messagesOf(await user.get('/auth/account?done=sessions')), ['All other devices logged out.'])
    await signUp(user, newPerson())
    assert.deepEqual(messagesOf(await user.get('/auth/account?done=sessions')), [])
    await logIn(user, person)
    const deleted = await user.post('/auth/account/delete', { password: person.password })
    assert.deepEqual(messagesOf(await user.get(deleted.location ?? '')), ['Your account was deleted.'])
  })

  test('after a confirmation, in the section that it was for, or at the top of the page', async () => {
    const { agent: user, person } = await signedUp(service)
    const confirm = (return_to: string) => user.post('/auth/account/confirm', { password: person.password, return_to })
    const confirmed = await confirm('/auth/account#email-section')
    assert.equal(confirmed.location, '/auth/account?done=confirmed&at=email-section#done')
    const page = await user.get(confirmed.location)
    assert.match(sectionOf(page, 'email-section'), /class="box done"/)
    const nowhere = await user.get((await confirm('/auth/account#nothing-here')).location ?? '')
    assert.equal(messagesOf(nowhere).length, 1)
    assert.doesNotMatch(nowhere.text, /<section[^]*class="box done"/)
    assert.equal((await confirm('/auth/account#a"b')).location, '/auth/account#a%22b')
    const visitor = createUserAgent(service)
    const asked = await visitor.get('/auth/account/confirm?return_to=%2Fauth%2Faccount%23email-section')
    assert.equal(asked.location, '/auth/login?return_to=%2Fauth%2Faccount%23email-section')
  })

  test('what is wrong with a form stands in its section', async () => {
    const { agent: user } = await signedUp(service)
    for (const [form, section] of [
      ['username', 'username-section'],
      ['password', 'change-password'],
      ['sessions', 'devices'],
      ['browsers', 'two-step'],
      ['passkeys', 'signing-in'],
      ['data', 'delete'],
      ['delete', 'delete-account'],
    ] as const) {
      const refused = await user.post(`/auth/account/${form}`, { csrf_token: 'x'.repeat(43) })
      assertPage(refused, 403)
      assert.match(sectionOf(refused, section), /<p class="box wrong"[^>]* autofocus/, form)
    }
  })
})

test('/auth and /auth/ lead to the account, or to the login', async () => {
  for (const path of ['/auth', '/auth/']) {
    assertRedirect(await agent.get(path), '/auth/account')
    assertRedirect(await anonymous.get(path), '/auth/login')
  }
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
    assert.match(head, /<meta name="description" content="Log in to localhost or manage your account\.">/)
    const fields = [...text.matchAll(/<input [^>]*>/g)].filter(([input]) => !input.includes(' readonly'))
    for (const [input] of fields) assert.equal(input.includes('autocapitalize'), input.includes('type="text"'), input)
  })
}

/** What the page says below its title, and its first button. */
const saidBy = ({ text }: Answer): string[] => {
  const [, title = ''] = /<h1>(.*)<\/h1>/.exec(text) ?? []
  const paragraphs = [...text.matchAll(/<p>([^<]+)<\/p>/g)].map(([, paragraph = '']) => paragraph)
  const [, href = '', button = ''] = /<a class="svc-button first" href="([^"]*)">([^<]*)/.exec(text) ?? []
  return [title, ...paragraphs, `${button}: ${href}`]
}

describe('the page of an error says what happened, once', () => {
  test('for a change that came too late it says which, and leads back to the account', async () => {
    const { agent: user } = await signedUp(service)
    const back = 'Back to your account: /auth/account'
    const late: [string, Record<string, string>, string][] = [
      ['sessions', { session_id: '01981111-2222-7333-8444-555555555555' }, 'This device is already logged out.'],
      ['identities', { identity_id: '01981111-2222-7333-8444-555555555555' }, 'This is already disconnected.'],
      ['email/verify', {}, 'Email confirmation is turned off here.'],
    ]
    for (const [form, fields, said] of late) {
      const answer = await user.post(`/auth/account/${form}`, fields)
      assertPage(answer, 404)
      assert.deepEqual(saidBy(answer), ['That didn’t work', said, back])
    }
  })

  test('for an address without a page it gives advice alone', async () => {
    const answer = await anonymous.get('/auth/nothing')
    assert.deepEqual(saidBy(answer).slice(0, 2), ['Page not found', 'Check the address.'])
    assert.doesNotMatch(answer.text, /There is nothing here/)
  })
})
