// Runs on SQLite.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import path from 'node:path'
import { after, beforeEach, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { launchChrome } from '../support/browser/chrome.ts'
import { startSite } from '../support/browser/site.ts'
import { HOSTILE_HTML, TAG, visitSite } from '../support/browser/site-visitor.ts'
import { currentUser } from '../support/client/accounts.ts'
import { claimsOf } from '../support/service/access-tokens.ts'

const site = await startSite()
const browser = await launchChrome()
after(() => browser.close())

const SOURCES = path.join(import.meta.dirname, '../../sdk/src')
for (const file of globSync('{*.ts,browser/*.ts,request/*.ts}', { cwd: SOURCES })) {
  const body = stripTypeScriptTypes(readFileSync(path.join(SOURCES, file), 'utf8'))
  site.pages.set(`/sdk/${file}`, { body, headers: { 'content-type': 'text/javascript' }, isFile: true })
}

const MODULE = `<script type="module">
  window.sdk = await import('/sdk/browser.ts')
  window.failureOf = (promise) => promise.then(() => 'none', ({ name, retryAfter }) => [name, retryAfter])
</script>`

beforeEach(() => {
  site.renewals = []
  site.received = []
  site.gate = () => Promise.resolve()
})

const openPage = async (visitor: Awaited<ReturnType<typeof visitSite>>, { tag = '', page = visitor.page } = {}) => {
  await visitor.open(MODULE, { tag, page })
  await page.waitForFunction('window.failureOf')
  return page
}

const statuses = () => site.received.map(({ userStatus }) => userStatus)
const send = (page: Page, init: string) => page.evaluate(`sdk.authFetch('/api/notes', ${init}).then((it) => it.status)`)

describe('getUser', () => {
  test('is the user, after a renewal where it is needed, and null for nobody', async (t) => {
    const visitor = await visitSite(browser, site, t)
    const page = await openPage(visitor)
    const { auth_time, sid } = claimsOf(visitor.agent.cookies.get('svc_access') ?? '')
    const user = { ...(await currentUser(visitor.agent)), sid, emailVerified: false, amr: ['pwd'], authTime: auth_time }
    assert.deepEqual(await page.evaluate('sdk.getUser()'), user)
    assert.equal(await page.evaluate('sdk.getUser().then((user) => sdk.hasMfa(user))'), false)
    assert.equal(
      await page.evaluate("sdk.stepUpUrl('/payments')"),
      '/auth/account/confirm?return_to=%2Fpayments&acr=mfa',
    )
    await visitor.letTokenExpire()
    assert.deepEqual(await page.evaluate('sdk.getUser()'), user)
    assert.deepEqual(site.renewals, [200])
    await visitor.agent.post('/auth/logout')
    assert.equal(await page.evaluate('sdk.getUser()'), null)
    assert.equal(await page.evaluate('sdk.getUser()'), null)
    assert.deepEqual(site.renewals, [200, 401], 'without a session it does not try')
    await page.route('**/auth/api/**', (route) => route.abort())
    assert.equal(await page.evaluate('sdk.getUser()'), null, 'and does not ask')
  })

  test('throws SvcUnavailableError while svc does not answer as it should', async (t) => {
    const visitor = await visitSite(browser, site, t)
    const page = await openPage(visitor)
    const answers = [
      { status: 503, headers: { 'retry-after': '7' }, body: '{}' },
      { status: 200, body: '<html>' },
    ]
    for (const answer of answers) {
      await page.route('**/auth/api/v1/user', (route) => route.fulfill(answer))
      const retryAfter = answer.status === 503 ? 7 : 2
      assert.deepEqual(await page.evaluate('failureOf(sdk.getUser())'), ['SvcUnavailableError', retryAfter])
    }
  })
})

describe('authFetch', () => {
  test('renews once after a 401, and sends the request once more', async (t) => {
    const visitor = await visitSite(browser, site, t)
    const page = await openPage(visitor)
    await visitor.letTokenExpire()
    assert.equal(await send(page, "{ method: 'POST', body: 'one' }"), 200)
    assert.deepEqual([statuses(), site.renewals], [[401, 200], [200]])
    assert.deepEqual(
      site.received.map(({ body }) => body),
      ['one', 'one'],
    )
    await visitor.letTokenExpire()
    const request = "new Request('/api/a', { method: 'PUT', body: 'two' })"
    assert.equal(await page.evaluate(`sdk.authFetch(${request}).then((it) => it.text())`), 'two')
    assert.deepEqual(
      [statuses(), site.renewals],
      [
        [401, 200, 401, 200],
        [200, 200],
      ],
    )
  })

  test('many at once share one renewal, with the script of the page too', async (t) => {
    const visitor = await visitSite(browser, site, t)
    const page = await openPage(visitor, { tag: TAG })
    await visitor.letTokenExpire()
    const all = `Promise.all([svcSession.fresh(), ...[1, 2, 3, 4].map(() => sdk.authFetch('/api/a').then((it) => it.status))])`
    assert.deepEqual(await page.evaluate(all), [true, 200, 200, 200, 200])
    assert.deepEqual(site.renewals, [200])
  })

  test('a stream is not sent twice: the session is renewed before', async (t) => {
    const visitor = await visitSite(browser, site, t)
    const page = await openPage(visitor)
    await visitor.letTokenExpire()
    const body = "new Blob(['streamed']).stream()"
    // Chrome streams over HTTP/2 alone: the request itself cannot be made here.
    assert.equal(
      await page.evaluate(
        `sdk.authFetch('/api/a', { method: 'POST', duplex: 'half', body: ${body} }).catch(() => 'refused')`,
      ),
      'refused',
    )
    assert.deepEqual([statuses(), site.renewals], [[], [200]])
  })

  test('stays 401 for a user who is signed out, and asks once', async (t) => {
    const visitor = await visitSite(browser, site, t)
    const page = await openPage(visitor)
    await visitor.agent.post('/auth/logout')
    assert.equal(await send(page, '{}'), 401)
    assert.equal(await send(page, '{}'), 401)
    assert.deepEqual([statuses(), site.renewals], [[401, 401], [401]])
  })

  test('an outage of the renewal is no 401', async (t) => {
    const visitor = await visitSite(browser, site, t)
    const page = await openPage(visitor)
    await visitor.letTokenExpire()
    site.gate = () => Promise.reject(new Error('the connection is cut'))
    assert.deepEqual(await page.evaluate("failureOf(sdk.authFetch('/api/a'))"), ['SvcUnavailableError', 2])
    assert.equal(await visitor.cookie('svc_session'), '1')
  })

  test('requests to other origins pass as they are', async (t) => {
    const visitor = await visitSite(browser, site, t)
    const page = await openPage(visitor)
    await visitor.letTokenExpire()
    const headers = { 'access-control-allow-origin': '*' }
    await page.route('https://elsewhere.example/*', (route) => route.fulfill({ status: 401, headers }))
    assert.equal(await page.evaluate("sdk.authFetch('https://elsewhere.example/a').then((it) => it.status)"), 401)
    assert.deepEqual(site.renewals, [])
  })
})

describe('refreshSession', () => {
  test('renews now, for the audience that is asked for, or that of login', async (t) => {
    const visitor = await visitSite(browser, site, t)
    const page = await openPage(visitor)
    const audience = async (): Promise<unknown> => {
      const [, claims = ''] = (await visitor.cookie('svc_access'))?.split('.') ?? []
      return JSON.parse(Buffer.from(claims, 'base64url').toString()).aud
    }
    assert.equal(await page.evaluate("sdk.refreshSession({ audience: 'reports' })"), true)
    assert.equal(await audience(), 'reports')
    assert.equal(await page.evaluate('sdk.refreshSession()'), true)
    assert.equal(await audience(), 'app')
    await openPage(visitor, { tag: TAG.replace('defer', 'data-audience="shop"') })
    assert.equal(await page.evaluate('sdk.refreshSession()'), true)
    assert.equal(await audience(), 'shop')
    assert.deepEqual(await page.evaluate("failureOf(sdk.refreshSession({ audience: 'a b' }))"), [
      'SvcUnavailableError',
      2,
    ])
    await visitor.agent.post('/auth/logout')
    assert.equal(await page.evaluate('sdk.refreshSession()'), false)
  })
})

describe('logout', () => {
  test('ends the session, after a new CSRF token where it is needed', async (t) => {
    const visitor = await visitSite(browser, site, t)
    const page = await openPage(visitor)
    await visitor.context.clearCookies({ name: 'svc_csrf' })
    await page.evaluate('sdk.logout()')
    assert.equal((await visitor.agent.get('/auth/api/v1/user')).status, 401)
    assert.equal(await visitor.cookie('svc_session'), undefined)
    await page.evaluate('sdk.logout()')
  })

  test('throws while svc does not answer', async (t) => {
    const visitor = await visitSite(browser, site, t)
    const page = await openPage(visitor)
    await page.route('**/auth/logout', (route) => route.abort())
    assert.deepEqual(await page.evaluate('failureOf(sdk.logout())'), ['SvcUnavailableError', 2])
    assert.equal((await visitor.agent.get('/auth/api/v1/user')).status, 200)
  })
})

test('HTML in the page changes neither where the functions ask nor what they know', async (t) => {
  const visitor = await visitSite(browser, site, t)
  const { page } = visitor
  await page.addInitScript('delete window.cookieStore')
  await page.clock.install()
  await visitor.open(MODULE + HOSTILE_HTML, { tag: '' })
  await page.waitForFunction('window.failureOf')
  await page.evaluate('window.told = []; void sdk.onSessionChange((change) => told.push(change))')
  await visitor.letTokenExpire()
  assert.equal(await page.evaluate('sdk.getUser().then(({ id }) => id)'), (await currentUser(visitor.agent))['id'])
  await visitor.letTokenExpire()
  assert.equal(await page.evaluate(`sdk.authFetch('${site.url}/api/a').then(({ status }) => status)`), 200)
  assert.equal(await page.evaluate('sdk.refreshSession()'), true)
  assert.deepEqual([claimsOf((await visitor.cookie('svc_access')) ?? '').aud, site.renewals], ['app', [200, 200, 200]])
  const other = await visitor.context.newPage()
  await openPage(visitor, { page: other })
  await other.evaluate('sdk.logout()')
  await page.clock.runFor(2000)
  assert.equal(await page.evaluate('told.length'), 1)
  assert.deepEqual(visitor.elsewhere, [])
})

describe('onSessionChange', () => {
  test('tells of a logout and a login in another tab, but not of renewals, until it is ended', async (t) => {
    const visitor = await visitSite(browser, site, t)
    const page = await openPage(visitor)
    const other = await openPage(visitor, { page: await visitor.context.newPage() })
    await page.evaluate('window.told = []; window.stop = sdk.onSessionChange((change) => told.push(change)); undefined')
    assert.equal(await other.evaluate('sdk.refreshSession()'), true)
    await other.evaluate('sdk.logout()')
    await page.waitForFunction('told.length === 1')
    const next = await visitSite(browser, site, t)
    await visitor.context.addCookies(await next.context.cookies())
    await page.waitForFunction('told.length === 2')
    assert.deepEqual(await page.evaluate('told'), [{ signedIn: false }, { signedIn: true }])
    await page.evaluate('stop()')
    await other.evaluate('sdk.logout()')
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    assert.equal(await page.evaluate('told.length'), 2)
  })

  test('tells of a logout in the same tab, and that a renewal found nobody', async (t) => {
    for (const act of ['sdk.logout()', 'sdk.refreshSession()']) {
      const visitor = await visitSite(browser, site, t)
      const page = await openPage(visitor)
      await page.evaluate('window.told = []; void sdk.onSessionChange((change) => told.push(change))')
      if (act.includes('refresh')) await visitor.agent.post('/auth/logout')
      await page.evaluate(act)
      assert.deepEqual(await page.evaluate('told'), [{ signedIn: false }], act)
    }
  })
})
