// Runs once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAllPages } from '../../src/preview/pages.ts'
import type { FrameSettings } from '../../src/web/site/frame.ts'
import { createSupport } from '../../src/web/site/support.ts'
import { statesWith, tagsOf } from './pages-views.ts'

const branding = { appName: 'A&B', logoUrl: undefined, accentColor: '#0f6b5c' }
const supportUrl = 'mailto:help@example.com?subject="A&B"'
const states = Object.entries(statesWith('text'))
const ASKS = /Contact support|Contact the people who run A&amp;B\./

const FOOT = /<p class="links">\n((?:<a href="[^"]*">[^<]*<\/a>\n)+)<\/p>/

test('every page has the links at its foot, in their order, and every sentence that tells users to ask for help has one', () => {
  const pages = createAllPages({
    ...branding,
    supportUrl,
    termsUrl: '/terms',
    privacyUrl: 'https://acme.example/p?a=1&b',
  })
  for (const [name, render] of states) {
    const page = render(pages)
    const [foot = '', links = ''] = FOOT.exec(page) ?? []
    assert.deepEqual(
      tagsOf(links).flatMap(({ attributes: { href } }) => href ?? []),
      ['/terms', 'https://acme.example/p?a=1&b', supportUrl],
      name,
    )
    const above = page.replace(foot, '')
    const asks = tagsOf(above).filter(({ attributes }) => attributes.href === supportUrl)
    assert.equal(asks.length > 0, ASKS.test(above), name)
  }
})

const LINKED = /<a href="mailto:[^"]*">Contact support\.<\/a>/g
const PLAIN = 'Contact the people who run A&amp;B.'

test('without an address for help, pages name the people who run the application, and link to nothing', () => {
  const [linked, plain] = [createAllPages({ ...branding, supportUrl }), createAllPages(branding)]
  for (const [name, render] of states) {
    const expected = render(linked)
      .replaceAll(LINKED, PLAIN)
      .replace(/\n<footer class="below">\n<p class="links">\n.*\n<\/p>\n<\/footer>/, '')
      .replace(/<p class="links">\n.*\n<\/p>/, '')
      .replaceAll(/<a href="mailto:[^"]*">([^<]*)<\/a>/g, '$1')
    assert.equal(expected, render(plain), name)
  }
})

/** Finds the states whose page has the sentence, and the sentence. */
const agreeing = (settings: Partial<FrameSettings>): [name: string, sentence: string][] => {
  const pages = createAllPages({ ...branding, ...settings })
  return states.flatMap(([name, render]) => {
    const [, after, ...more] = render(pages).split('<p class="about">By creating an account, you ')
    assert.deepEqual(more, [], name)
    if (after === undefined) return []
    assert.match(after, /^[^\n]*<\/p>\n(?:<button class="svc-button first">|<div class="providers)/, name)
    return [[name, after.slice(0, after.indexOf('</p>'))]]
  })
}

test('what users agree to stands right above each button that creates an account, and nowhere else', () => {
  assert.deepEqual(agreeing({}), [])
  const [terms, privacy] = ['<a href="/t">terms of use</a>', '<a href="/p">privacy policy</a>']
  for (const [settings, sentence] of [
    [{ termsUrl: '/t' }, `agree to our ${terms}.`],
    [{ privacyUrl: '/p' }, `confirm that you’ve read our ${privacy}.`],
    [{ termsUrl: '/t', privacyUrl: '/p' }, `agree to our ${terms} and confirm that you’ve read our ${privacy}.`],
  ] as const) {
    const found = agreeing(settings)
    assert.deepEqual(new Set(found.map(([, said]) => said)), new Set([sentence]))
    const names = found.map(([name]) => name)
    for (const name of [
      'signup',
      'signup by mail',
      'signup by providers',
      'login with providers',
      'login without passwords',
      'code by mail',
      'link that makes an account',
      'invitation',
      'confirm signup',
    ])
      assert.ok(names.includes(name), `${name} is not among ${names.join(', ')}`)
    for (const name of [
      'login',
      'login with providers, without signup',
      'code by mail, to confirm',
      'link that logs in',
    ])
      assert.ok(!names.includes(name), name)
  }
})

test('where providers come first, what users agree to stands above them, and not again above the form', () => {
  const pages = createAllPages({ ...branding, termsUrl: '/t', providersFirst: true })
  for (const name of ['login with providers', 'signup with providers']) {
    const page = states.find(([each]) => each === name)?.[1](pages) ?? ''
    assert.match(
      page,
      /By creating an account, [^\n]*<\/p>\n<div class="providers[^]*<div class="or">[^]*name="email"/,
      name,
    )
    assert.equal(page.split('By creating an account').length, 2, name)
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
  const pages = createAllPages(branding)
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
    const page = createAllPages(branding).error({ status: 503, message: 'Away', requestId: 'r', retryAfterSeconds })
    assert.match(page, /<p>You haven’t been logged out\. Reload this page in a moment\.<\/p>/)
  }
})

test('without scripts, a page whose only way is a passkey says what to do, and whom to ask or where else to go', () => {
  const onlyWay = /<noscript><p class="box note">Passkeys need JavaScript, which is off in this browser\. Turn it on/
  const withPasskeys = createAllPages({ ...branding, supportUrl, passkeys: true, mailIsOn: true, passwords: false })
  for (const [name, elsewhere] of [
    ['login by passkey alone', /href="\/auth\/password\/forgot[^"]*">Trouble logging in\?</],
    ['login, a passkey alone', /href="\/auth\/login[^"]*">Use another account</],
    ['reset with passkeys alone, refused', ASKS],
  ] as const) {
    const page = states.find(([one]) => one === name)?.[1](withPasskeys) ?? ''
    assert.match(page, onlyWay, name)
    assert.match(page, elsewhere, name)
  }
  const login = states.find(([name]) => name === 'login')?.[1](createAllPages({ ...branding, passkeys: true })) ?? ''
  assert.match(login, /<noscript><p class="hint">Passkeys need JavaScript\. Turn it on/)
})

test('a form that a passkey alone can send asks for it, and not for a code', () => {
  const render = states.find(([name]) => name === 'reset with passkeys alone, without one')?.[1]
  const page = render?.(createAllPages({ ...branding, passkeys: true })) ?? ''
  assert.match(page, /id="passkey-problem"[^>]*>Use your passkey\.</)
  assert.doesNotMatch(page, /Enter a code/)
})
