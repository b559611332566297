// Runs once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPages } from '../support/pages.ts'
import { createSupport } from '../../src/web/site/support.ts'
import { statesWith, tagsOf } from './pages-views.ts'

const branding = { appName: 'A&B', logoUrl: undefined, accentColor: '#0f6b5c' }
const supportUrl = 'mailto:help@example.com?subject="A&B"'
const states = Object.entries(statesWith('text'))
const ASKS = /Contact support|Contact the people who run A&amp;B\./

test('every page that tells users to ask for help has a link to it, and no other page has', () => {
  const pages = createPages({ ...branding, supportUrl })
  const asking = states.filter(([name, render]) => {
    const page = render(pages)
    const links = tagsOf(page).filter(({ attributes }) => attributes.href === supportUrl)
    assert.equal(links.length > 0, ASKS.test(page), name)
    return links.length > 0
  })
  for (const name of ['signup closed', 'login held up', 'redirect loop', 'provider away', 'error 429', 'error 503'])
    assert.ok(
      asking.some(([one]) => one === name),
      name,
    )
})

const LINKED = /<a href="mailto:[^"]*">Contact support\.<\/a>/g
const PLAIN = 'Contact the people who run A&amp;B.'

test('without an address for help, pages name the people who run the application, and link to nothing', () => {
  const [linked, plain] = [createPages({ ...branding, supportUrl }), createPages(branding)]
  for (const [name, render] of states) {
    const expected = render(linked)
      .replaceAll(LINKED, PLAIN)
      .replaceAll(/<a href="mailto:[^"]*">Contact support<\/a> · (?=Reference: )/g, '')
      .replaceAll(/<a href="mailto:[^"]*">([^<]*)<\/a>/g, '$1')
    assert.equal(expected, render(plain), name)
  }
})

test('a page says whom to ask once: before its reference, or above it', () => {
  const pages = createPages({ ...branding, supportUrl })
  for (const [name, render] of states) {
    const [above = '', below] = render(pages).split('<footer class="below">')
    if (!below?.includes('Reference: ')) continue
    assert.notEqual(above.includes('href="mailto:'), below.includes('>Contact support</a> · Reference: '), name)
  }
})

test('the sentence is a link, and nothing that would be markup gets into it', () => {
  const supportUrl = 'https://help.example/?a=1&b="'
  assert.equal(
    createSupport({ appName: '<b>', supportUrl }).sentence().toString(),
    '<a href="https://help.example/?a=1&amp;b=&quot;">Contact support.</a>',
  )
  assert.equal(createSupport({ appName: '<b>' }).sentence().toString(), 'Contact the people who run &lt;b&gt;.')
})

test('what is for developers and operators is folded away on error pages; other messages are not shown', () => {
  const pages = createPages(branding)
  const bodyOf = (status: number) =>
    pages.error({ status, message: 'About X-Header', requestId: 'r', retryAfterSeconds: undefined })
  const folded = /<details>\s*<summary[^>]*>Technical details<\/summary>\s*<div class="about">\s*<p>About X-Header<\/p>/
  for (const status of [400, 403, 405, 409, 410, 413, 415, 422, 429, 503]) {
    const page = bodyOf(status)
    assert.match(page, folded, String(status))
    assert.equal(page.split('About X-Header').length, 2, 'it is nowhere else')
  }
  for (const status of [401, 404, 500]) assert.doesNotMatch(bodyOf(status), /<details/, String(status))
  const known = pages.error({
    status: 410,
    reason: 'codes_expired',
    message: 'About X-Header',
    requestId: 'r',
    retryAfterSeconds: undefined,
  })
  assert.match(known, /<p>These codes can be downloaded for 10 minutes only\. Get new ones\.<\/p>/)
  assert.doesNotMatch(known, /About X-Header/)
  // Their titles say it.
  for (const status of [401, 404, 500]) assert.doesNotMatch(bodyOf(status), /About X-Header/, String(status))
})

test('a 503 says that the user is not logged out, whenever it is to be tried again', () => {
  for (const retryAfterSeconds of [undefined, 2]) {
    const page = createPages(branding).error({ status: 503, message: 'Away', requestId: 'r', retryAfterSeconds })
    assert.match(page, /<p>You haven’t been logged out\. Reload this page in a moment\.<\/p>/)
  }
})

test('without scripts, a page whose only way is a passkey says what to do, and whom to ask or where else to go', () => {
  const onlyWay = /<noscript><p class="box note">Passkeys need JavaScript, which is off in this browser\. Turn it on/
  const withPasskeys = createPages({ ...branding, supportUrl, passkeys: true, mailIsOn: true, passwords: false })
  for (const [name, elsewhere] of [
    ['login by passkey alone', /href="\/auth\/password\/forgot[^"]*">Trouble logging in\?</],
    ['login, a passkey alone', /href="\/auth\/login[^"]*">Use another account</],
    ['reset with passkeys alone, refused', ASKS],
  ] as const) {
    const page = states.find(([one]) => one === name)?.[1](withPasskeys) ?? ''
    assert.match(page, onlyWay, name)
    assert.match(page, elsewhere, name)
  }
  const login = states.find(([name]) => name === 'login')?.[1](createPages({ ...branding, passkeys: true })) ?? ''
  assert.match(login, /<noscript><p class="hint">Passkeys need JavaScript\. Turn it on/)
})

test('a form that a passkey alone can send asks for it, and not for a code', () => {
  const render = states.find(([name]) => name === 'reset with passkeys alone, without one')?.[1]
  const page = render?.(createPages({ ...branding, passkeys: true })) ?? ''
  assert.match(page, /id="passkey-problem"[^>]*>Use your passkey\.</)
  assert.doesNotMatch(page, /Enter a code/)
})
