// Runs on SQLite.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newPerson, signedUp } from '../../support/client/accounts.ts'
import { assertErrorPage, assertRedirect } from '../../support/client/assertions.ts'
import { EVIL_HOST, LONGEST_PATH, openRedirects, TREACHEROUS_PATHS } from '../../support/client/open-redirects.ts'
import { createUserAgent } from '../../support/client/user-agent.ts'
import { startService } from '../../support/service/service.ts'

const service = await startService()
const { agent, person } = await signedUp(service)
const credentials = { email: person.email, password: person.password }
const query = (value: string) => `return_to=${encodeURIComponent(value)}`
const shown = (value: string) => JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}… (${value.length})` : value)

const host = EVIL_HOST
const longest = LONGEST_PATH

/** A value and its Location, which is the result of `new URL()` without the origin. */
const accepted: [string, string][] = [
  ['/', '/'],
  ['/app', '/app'],
  ['/app/?a=1&b=2#top', '/app/?a=1&b=2#top'],
  ['/日本', '/%E6%97%A5%E6%9C%AC'],
  ['/caf\u00e9?q=\u00e9#\u00e9', '/caf%C3%A9?q=%C3%A9#%C3%A9'],
  ['/😀', '/%F0%9F%98%80'],
  ['/a b?c d#e f', '/a%20b?c%20d#e%20f'],
  ['/"><script>', '/%22%3E%3Cscript%3E'],
  ['/a//b', '/a//b'],
  ['/a/../b', '/b'],
  ['/..', '/'],
  ['/%2e%2e/b', '/b'],
  [`/%2F/${host}`, `/%2F/${host}`],
  [`/%2F%2F${host}`, `/%2F%2F${host}`],
  [`/%5C${host}`, `/%5C${host}`],
  [`/%09/${host}`, `/%09/${host}`],
  ['/%0d%0aSet-Cookie:%20a=b', '/%0d%0aSet-Cookie:%20a=b'],
  ['/%00', '/%00'],
  ['/%', '/%'],
  [`/@${host}`, `/@${host}`],
  [`/.${host}`, `/.${host}`],
  ['/:8080', '/:8080'],
  [`/https://${host}`, `/https://${host}`],
  [`/?next=//${host}`, `/?next=//${host}`],
  [`/#//${host}`, `/#//${host}`],
  ['/javascript:alert(1)', '/javascript:alert(1)'],
  ['/;/x', '/;/x'],
  ['/／host', '/%EF%BC%8Fhost'],
  ['/。/host', '/%E3%80%82/host'],
  ['/\u2028x', '/%E2%80%A8x'],
  ['/auth/account', '/auth/account'],
  [longest, longest],
]

const refused = openRedirects(service.port)

for (const [value, location] of accepted) {
  test(`§4.5 GET login and signup accept return_to ${shown(value)} and keep it`, async () => {
    for (const path of ['/auth/login', '/auth/signup']) {
      assert.equal((await createUserAgent(service).get(`${path}?${query(value)}`)).status, 200)
      assertRedirect(await agent.get(`${path}?${query(value)}`), location)
    }
  })
  test(`§4.5 POST login accepts return_to ${shown(value)}; Location is the result of new URL()`, async () => {
    assertRedirect(await createUserAgent(service).post('/auth/login', { ...credentials, return_to: value }), location)
  })
}

for (const value of [...refused, ...TREACHEROUS_PATHS]) {
  test(`§4.5 GET login and signup refuse return_to ${shown(value)} with 400 and a page that says so`, async () => {
    for (const path of ['/auth/login', '/auth/signup']) {
      for (const visitor of [createUserAgent(service), agent]) {
        const answer = await visitor.get(`${path}?${query(value)}`)
        assertErrorPage(answer, 400)
        assert.match(answer.text, /return_to/)
        assert.equal(answer.location, undefined)
      }
    }
  })
  test(`§4.5 POST login and signup refuse return_to ${shown(value)} before credentials are checked`, async () => {
    for (const path of ['/auth/login', '/auth/signup']) {
      for (const form of [credentials, newPerson(), { email: 'nonsense', password: 'x' }]) {
        const visitor = createUserAgent(service)
        assertErrorPage(await visitor.post(path, { ...form, return_to: value }), 400)
        assertErrorPage(await visitor.post(`${path}?${query(value)}`, form), 400)
        assert.equal(visitor.cookies.get('svc_access'), undefined)
      }
    }
  })
}

test('§4.5 POST signup accepts return_to like POST login', async () => {
  const form = { ...newPerson(), return_to: '/日本?a#b' }
  assertRedirect(await createUserAgent(service).post('/auth/signup', form), '/%E6%97%A5%E6%9C%AC?a#b')
})

for (const path of ['/auth/login', '/auth/signup']) {
  test(`§4.5 a return_to that is sent twice is refused: ${path}`, async () => {
    for (const pair of [
      ['/a', `//${host}`],
      [`//${host}`, '/a'],
    ] as const) {
      const [first, second] = pair.map(query)
      assertErrorPage(await createUserAgent(service).get(`${path}?${first}&${second}`), 400)
      assertErrorPage(await createUserAgent(service).post(path, { ...credentials, return_to: [...pair] }), 400)
    }
  })

  test(`§4.5 an empty return_to leads to /: ${path}`, async () => {
    const answer = await agent.get(`${path}?return_to=`)
    assert.ok(answer.status === 400 || (answer.status === 303 && answer.location === '/'), String(answer.status))
  })

  test(`§4.5 bytes that are no text cannot break out of the header: ${path}`, async () => {
    for (const bytes of ['/%FF', '/%C0%AF/x', '/%ED%A0%80', '/%E3%80']) {
      const answer = await agent.get(`${path}?return_to=${bytes}`)
      assert.ok(answer.status === 303 || answer.status === 400, String(answer.status))
      assert.match(answer.location ?? '/', /^\/(?!\/)[\x21-\x7e]*$/)
    }
  })

  test(`§4.5 return_to is shown escaped: ${path}`, async () => {
    const value = '/"><script>alert(1)</script><img src=x onerror=alert(1)>\''
    const { text } = await createUserAgent(service).get(`${path}?${query(value)}`)
    assert.doesNotMatch(text, /<script>alert|<img src=x/)
    const bad = await createUserAgent(service).get(`${path}?${query(`//${value}`)}`)
    assert.doesNotMatch(bad.text, /<script>alert|<img src=x/)
  })

  test(`§4.5 return_to is kept through a failed attempt: ${path}`, async () => {
    const answer = await createUserAgent(service).post(path, { email: 'x', password: 'y', return_to: '/kept?a=1' })
    assert.ok([401, 422].includes(answer.status), String(answer.status))
    assert.match(answer.text, /value="\/kept\?a=1"/)
  })
}
