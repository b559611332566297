// Runs on SQLite.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signedUp } from '../../support/client/accounts.ts'
import { assertErrorPage, assertRedirect } from '../../support/client/assertions.ts'
import { createUserAgent } from '../../support/client/user-agent.ts'
import { connectRaw } from '../../support/network/raw-connection.ts'
import { startService } from '../../support/service/service.ts'

const service = await startService()
const visitor = createUserAgent(service)
const ask = (target: string) => visitor.get('/auth/login/redirect', { 'x-original-uri': target })

const loginFor = (target: string): string => `/auth/login?return_to=${encodeURIComponent(target)}`

for (const target of [
  '/',
  '/members/a?b=1&c=2',
  '/%0d%0aSet-Cookie:%20a=b',
  '/a%26b%23c%3fd%2f%2fe?f=%26#g',
  '/?return_to=//evil.example&return_to=/a',
  '/%',
  `/${'&'.repeat(2047)}`,
]) {
  test(`§4.5 the login page returns to any X-Original-URI: ${target.slice(0, 50)}`, async () => {
    assertRedirect(await ask(target), loginFor(target))
  })
}

test('§4.5 bytes that are not ASCII are percent-encoded, UTF-8 or not', async () => {
  assertRedirect(await ask(Buffer.from('/日?é').toString('latin1')), loginFor('/%E6%97%A5?%C3%A9'))
  assertRedirect(await ask('/\u00ff\u0080'), loginFor('/%FF%80'))
})

test('§4.5 a signed-in user is redirected from there to exactly that address', async () => {
  const { agent } = await signedUp(service)
  const target = '/members/%2f%2fa%26b?c=%23&d=%0d%0a'
  const { location = '' } = await agent.get('/auth/login/redirect', { 'x-original-uri': target })
  assertRedirect(await agent.get(location), target)
})

for (const target of [
  '//evil.example',
  '/.//evil.example',
  '/\\evil.example',
  'https://evil.example/',
  'evil.example',
  '*',
  '/a b',
  '/a\tb',
  ' ',
  '',
  `/${'a'.repeat(2048)}`,
  `/${'\u00ff'.repeat(700)}`,
]) {
  test(`§4.5 X-Original-URI is refused with 400 like return_to: ${JSON.stringify(target.slice(0, 50))}`, async () => {
    const answer = await ask(target)
    assertErrorPage(answer, 400)
    assert.match(answer.text, /X-Original-URI/)
    assert.equal(answer.location, undefined)
  })
}

test('§4.5 without the header, or with two, the redirect has no target', async (t) => {
  assertErrorPage(await visitor.get('/auth/login/redirect'), 400)
  assertErrorPage(await visitor.get('/auth/login/redirect?return_to=%2Fa'), 400)
  assertErrorPage(await visitor.get('/auth/login/redirect', { 'x-original-uri': ['/a', '/b'] }), 400)
  const raw = await connectRaw(service, t)
  raw.write(
    'GET /auth/login/redirect HTTP/1.1\r\nHost: x\r\nX-Original-URI: /a\r\nx-original-uri: /a\r\nConnection: close\r\n\r\n',
  )
  assert.match(await raw.answer(), /^HTTP\/1\.1 400 /)
})

test('§4.5 the header changes nothing on other routes, and caches do not store the response', async () => {
  const header = { 'x-original-uri': '/members/a' }
  assert.doesNotMatch((await visitor.get('/auth/login', header)).text, /members/)
  assertRedirect(await visitor.get('/auth', header), '/auth/login')
  assert.match((await ask('/a')).headers['cache-control'] ?? '', /no-store/)
})
