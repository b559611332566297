// Runs on SQLite.
import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { launchChrome } from '../support/browser/chrome.ts'
import { startSite } from '../support/browser/site.ts'
import { HOSTILE_HTML, TAG, visitSite } from '../support/browser/site-visitor.ts'
import { turnedClock } from '../support/clock/turned-clock.ts'

const clock = turnedClock()
const site = await startSite({ clock })
const browser = await launchChrome()
after(() => browser.close())

beforeEach(() => {
  site.renewals = []
  site.received = []
  site.gate = () => Promise.resolve()
})

const HOUR_MS = 3_600_000
const FRESH = "document.cookie.includes('svc_fresh=1')"

/** The browser shows the tab again. */
const comeBack = (page: Page): Promise<unknown> =>
  page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")

const WATCH = `<script>
  window.announced = []
  document.addEventListener('svc:signed-out', ({ detail, cancelable }) => announced.push({ ...detail, cancelable }))
</script>`

/** The audience of the access token that the browser holds. */
const audienceOf = (token = ''): unknown => {
  const claims: { aud: unknown } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
  return claims.aud
}

describe('§4.14 the script in open pages', () => {
  test('a page renews as it is loaded, and not while the token is fresh', async (t) => {
    const visitor = await visitSite(browser, site, t)
    const page = await visitor.open('')
    await page.reload()
    assert.deepEqual(site.renewals, [])
    await visitor.letTokenExpire()
    await page.reload()
    await page.waitForFunction(FRESH)
    assert.deepEqual(site.renewals, [200])
    assert.equal(audienceOf(await visitor.cookie('svc_access')), 'app')
  })

  test('five tabs that are shown at once renew once', async (t) => {
    const visitor = await visitSite(browser, site, t)
    const tabs = [visitor.page, ...(await Promise.all([1, 2, 3, 4].map(() => visitor.context.newPage())))]
    for (const page of tabs) await visitor.open('', { page })
    await visitor.letTokenExpire()
    const { promise, resolve } = Promise.withResolvers<void>()
    site.gate = () => promise
    await Promise.all(tabs.map(comeBack))
    const holdsOrWaits = `navigator.locks.query().then(({ held, pending }) => held.length + pending.length)`
    while ((await visitor.page.evaluate(holdsOrWaits)) !== tabs.length) continue
    resolve()
    const all = await Promise.all(tabs.map((page) => page.evaluate('svcSession.fresh()')))
    assert.deepEqual([all, site.renewals], [[true, true, true, true, true], [200]])
  })

  test('a tab that was left for an hour comes back', async (t) => {
    const visitor = await visitSite(browser, site, t)
    const page = await visitor.open(WATCH)
    await clock.turnTo(clock.aheadMs() + HOUR_MS)
    await visitor.letTokenExpire()
    const userStatus = `fetch('/auth/api/v1/user').then(({ status }) => status)`
    assert.equal(await page.evaluate(userStatus), 401)
    await comeBack(page)
    await page.waitForFunction(FRESH)
    assert.equal(await page.evaluate(userStatus), 200)
    assert.deepEqual([site.renewals, await page.evaluate('announced')], [[200], []])
  })

  test('a page that is looked at renews every 20 seconds if it must; a hidden one does not', async (t) => {
    const visitor = await visitSite(browser, site, t)
    await visitor.page.clock.install()
    const page = await visitor.open('')
    await visitor.letTokenExpire()
    await page.evaluate(
      "window.shown = Object.getOwnPropertyDescriptor(Document.prototype, 'hidden'); Object.defineProperty(Document.prototype, 'hidden', { value: true, configurable: true })",
    )
    await page.clock.runFor(60_000)
    await comeBack(page)
    assert.equal(await page.evaluate(FRESH), false)
    await page.evaluate("void Object.defineProperty(Document.prototype, 'hidden', shown)")
    await page.clock.runFor(21_000)
    await page.waitForFunction(FRESH)
    await page.clock.runFor(200_000)
    assert.deepEqual(site.renewals, [200])
  })

  test('a page from the cache for back and forward renews', async (t) => {
    const visitor = await visitSite(browser, site, t)
    const page = await visitor.open('')
    await visitor.letTokenExpire()
    await page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))")
    await page.waitForFunction(FRESH)
    assert.deepEqual(site.renewals, [200])
  })

  test('a page of a user who is signed out says so once, and asks no more', async (t) => {
    const visitor = await visitSite(browser, site, t)
    const page = await visitor.open(WATCH)
    await visitor.agent.post('/auth/logout')
    await visitor.letTokenExpire()
    for (let times = 0; times < 3; times += 1) {
      await comeBack(page)
      assert.equal(await page.evaluate('svcSession.fresh()'), false)
    }
    assert.deepEqual(
      [site.renewals, await page.evaluate('announced')],
      [[401], [{ form: undefined, cancelable: true }]],
    )
    assert.equal(page.url().startsWith(site.url), true, 'it never navigates')
  })

  test('an outage says nothing, and the next look renews', async (t) => {
    const visitor = await visitSite(browser, site, t)
    const page = await visitor.open(WATCH)
    await visitor.letTokenExpire()
    site.gate = () => Promise.reject(new Error('the connection is cut'))
    assert.equal(await page.evaluate('svcSession.fresh()'), false)
    site.gate = () => Promise.resolve()
    await comeBack(page)
    await page.waitForFunction(FRESH)
    // Chrome itself tries again where a connection that it has used before is cut.
    assert.deepEqual([[...new Set(site.renewals)], await page.evaluate('announced')], [[0, 200], []])
  })

  test('a CSRF token that is missing or wrong is replaced on the way', async (t) => {
    const visitor = await visitSite(browser, site, t)
    const page = await visitor.open('')
    for (const change of [
      () => visitor.context.clearCookies({ name: 'svc_csrf' }),
      () => visitor.context.addCookies([{ name: 'svc_csrf', value: 'x'.repeat(43), url: site.url }]),
    ]) {
      await change()
      await visitor.letTokenExpire()
      assert.equal(await page.evaluate('svcSession.fresh()'), true)
    }
    assert.deepEqual(site.renewals, [403, 200, 403, 200])
  })

  test('a browser without locks renews all the same', async (t) => {
    const visitor = await visitSite(browser, site, t)
    await visitor.page.addInitScript("Object.defineProperty(Navigator.prototype, 'locks', { value: undefined })")
    const page = await visitor.open('')
    assert.equal(await page.evaluate('navigator.locks'), undefined)
    await visitor.letTokenExpire()
    assert.equal(await page.evaluate('svcSession.fresh()'), true)
    assert.deepEqual(site.renewals, [200])
  })

  test('a lock that nobody gives back is waited for two seconds at most', async (t) => {
    const visitor = await visitSite(browser, site, t)
    const page = await visitor.open('')
    await page.evaluate("void navigator.locks.request('svc-refresh', () => new Promise(() => {}))")
    await visitor.letTokenExpire()
    assert.equal(await page.evaluate('svcSession.fresh()'), true)
    assert.deepEqual(site.renewals, [200])
  })

  test('data-audience asks for another audience', async (t) => {
    const visitor = await visitSite(browser, site, t)
    await visitor.letTokenExpire()
    const page = await visitor.open('', { tag: TAG.replace('defer', 'defer data-audience="https://api.example/v1"') })
    await page.waitForFunction(FRESH)
    assert.equal(audienceOf(await visitor.cookie('svc_access')), 'https://api.example/v1')
  })

  test('HTML in the page changes neither where it asks nor what it knows', async (t) => {
    const visitor = await visitSite(browser, site, t)
    await visitor.letTokenExpire()
    const form = `<form method="post" action="${site.url}/here"><button>Go</button></form>`
    const page = await visitor.open(`${HOSTILE_HTML}${form}`)
    assert.equal(await page.evaluate('document.querySelector instanceof Element && typeof document.cookie'), 'object')
    assert.equal(await page.evaluate('svcSession.fresh()'), true)
    assert.equal(audienceOf(await visitor.cookie('svc_access')), 'app')
    await visitor.letTokenExpire()
    await page.evaluate("EventTarget.prototype.dispatchEvent.call(document, new Event('visibilitychange'))")
    await page.waitForFunction("Reflect.get(Document.prototype, 'cookie', document).includes('svc_fresh=1')")
    await visitor.letTokenExpire()
    await page.locator('text=Go').click()
    await page.waitForURL('/here')
    assert.deepEqual([site.renewals, site.received.map(({ userStatus }) => userStatus)], [[200, 200, 200], [200]])
    await page.goBack()
    await visitor.agent.post('/auth/logout')
    await visitor.letTokenExpire()
    const announced = `new Promise((resolve) => {
      EventTarget.prototype.addEventListener.call(document, 'svc:signed-out', () => resolve('signed out'))
      void svcSession.fresh().finally(() => resolve('nothing'))
    })`
    assert.equal(await page.evaluate(announced), 'signed out')
    assert.deepEqual(visitor.elsewhere, [])
  })

  test('the tag may be there twice', async (t) => {
    const visitor = await visitSite(browser, site, t)
    const page = await visitor.open(WATCH, { tag: TAG + TAG })
    await visitor.agent.post('/auth/logout')
    await visitor.letTokenExpire()
    assert.equal(await page.evaluate('svcSession.fresh()'), false)
    assert.deepEqual(
      [site.renewals, await page.evaluate('announced')],
      [[401], [{ form: undefined, cancelable: true }]],
    )
  })

  test('svcSession.fresh() is true at once while the token is fresh, and false without a session', async (t) => {
    const visitor = await visitSite(browser, site, t)
    const page = await visitor.open('')
    assert.equal(await page.evaluate('svcSession.fresh()'), true)
    await visitor.context.clearCookies()
    assert.equal(await page.evaluate('svcSession.fresh()'), false)
    assert.deepEqual(site.renewals, [])
  })
})
