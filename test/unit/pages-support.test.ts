// Runs once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPages } from '../support/pages.ts'
import { createSupport } from '../../src/web/site/support.ts'
import { statesWith, tagsOf } from './pages-views.ts'

const branding = { appName: 'A&B', logoUrl: undefined, accentColor: '#0f6b5c' }
const supportUrl = 'mailto:help@example.com?subject="A&B"'
const states = Object.entries(statesWith('text'))
const ASKS =
  /(?:ask|tell) whoever runs A&amp;B|contact the people who run A&amp;B|ask for help|Contact support\.|Contact the people who run A&amp;B\./i

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

const withoutLinks = (page: string): string =>
  page
    .replaceAll(/<a href="mailto:[^"]*">([^<]*)<\/a>/g, '$1')
    .replaceAll('Contact support.', 'Contact the people who run A&amp;B.')

test('without an address for help the words are the same, without a link', () => {
  const [linked, plain] = [createPages({ ...branding, supportUrl }), createPages(branding)]
  for (const [name, render] of states) assert.equal(withoutLinks(render(linked)), render(plain), name)
})

test('the link holds the words for asking, and nothing that would be markup gets into it', () => {
  const { text } = createSupport({ appName: '<b>', supportUrl: 'https://help.example/?a=1&b="' })
  assert.equal(
    text('It is <i>closed</i>. Ask whoever runs <b> for it.').toString(),
    'It is &lt;i&gt;closed&lt;/i&gt;. <a href="https://help.example/?a=1&amp;b=&quot;">Ask whoever runs &lt;b&gt;</a> for it.',
  )
  assert.equal(text('Nothing to ask.').toString(), 'Nothing to ask.')
})

test('what is for developers and operators is folded away on error pages; other messages are shown', () => {
  const pages = createPages(branding)
  const bodyOf = (status: number) =>
    pages.error({ status, message: 'About X-Header', requestId: 'r', retryAfterSeconds: undefined })
  const folded = /<details>\s*<summary[^>]*>For the operator<\/summary>\s*<div class="about">\s*<p>About X-Header<\/p>/
  for (const status of [400, 403, 405, 413, 415, 429, 503]) {
    const page = bodyOf(status)
    assert.match(page, folded, String(status))
    assert.equal(page.split('About X-Header').length, 2, 'it is nowhere else')
  }
  for (const status of [401, 404, 409, 500]) assert.doesNotMatch(bodyOf(status), /<details/, String(status))
  assert.match(bodyOf(409), /<p>About X-Header<\/p>/)
  // Their titles say it.
  for (const status of [401, 404, 500]) assert.doesNotMatch(bodyOf(status), /About X-Header/, String(status))
})

test('a 503 says that the user is not logged out, whenever it is to be tried again', () => {
  for (const retryAfterSeconds of [undefined, 2]) {
    const page = createPages(branding).error({ status: 503, message: 'Away', requestId: 'r', retryAfterSeconds })
    assert.match(page, /<p>You are not logged out\. Reload this page shortly\.<\/p>/)
  }
})
