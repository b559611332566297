// Runs on SQLite.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { after, describe, type TestContext, test } from 'node:test'
import { build, type BuildOptions } from 'esbuild'
import type { Page } from 'playwright-core'
import { launchChrome } from '../support/browser/chrome.ts'
import { startSite } from '../support/browser/site.ts'
import { visitSite } from '../support/browser/site-visitor.ts'
import { currentUser, type User } from '../support/client/accounts.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { eventually } from '../support/wait.ts'

const ROOT = path.join(import.meta.dirname, '../..')

/** The header of a page, which the application renders on the server and in the browser. */
const HEADER = `
  import { createElement } from 'react'
  import { SignedIn, SignedOut, SvcProvider, useUser } from '@svc/sdk/react'
  const Name = () => createElement('b', {}, useUser()?.username ?? '…')
  const header = (user) => createElement(SvcProvider, { user },
    createElement(SignedIn, {}, createElement(Name)),
    createElement(SignedOut, {}, createElement('a', { href: '/auth/login' }, 'Log in')))`

const ON_SERVER = `${HEADER}
  import { renderToString } from 'react-dom/server'
  export const render = (user) => renderToString(header(user))
  export const renderAlone = () => renderToString(createElement(SignedIn))`

const IN_BROWSER = `${HEADER}
  import { createRoot, hydrateRoot } from 'react-dom/client'
  const root = document.querySelector('#root')
  window.shown = []
  const note = () => shown.push(root.textContent)
  new MutationObserver(note).observe(root, { childList: true, subtree: true, characterData: true })
  if (window.rendered) hydrateRoot(root, header(window.rendered.user))
  else createRoot(root).render(header())`

const bundle = async (contents: string, options: BuildOptions): Promise<string> => {
  const { outputFiles } = await build({
    ...options,
    stdin: { contents, resolveDir: ROOT },
    bundle: true,
    conditions: ['@svc/source'],
    define: { 'process.env.NODE_ENV': '"development"' },
    write: false,
  })
  return outputFiles?.[0]?.text ?? ''
}

const file = path.join(temporaryDirectory(), 'server.cjs')
writeFileSync(file, await bundle(ON_SERVER, { format: 'cjs', platform: 'node' }))
const { render, renderAlone } = createRequire(import.meta.url)(file) as {
  render: (user?: Partial<User> | null) => string
  renderAlone: () => string
}

const site = await startSite()
site.pages.set('/program.js', {
  body: await bundle(IN_BROWSER, { format: 'esm' }),
  headers: { 'content-type': 'text/javascript' },
  isFile: true,
})
const browser = await launchChrome()
after(() => browser.close())

type Known = User | null | undefined

/** A browser, and a function that opens the page of the application: rendered on the server for the user that is given. */
const open = async (t: TestContext, { isSignedIn = true } = {}) => {
  const visitor = await visitSite(browser, site, t)
  if (!isSignedIn) await visitor.context.clearCookies()
  const asked: string[] = []
  visitor.context.on('request', (request) => asked.push(new URL(request.url()).pathname))
  const show = async (...users: Known[]): Promise<Page> => {
    const html = users.length === 0 ? '' : render(users[0])
    const rendered = users.length === 0 ? '' : `window.rendered = ${JSON.stringify({ user: users[0] })}`
    const script = `<script>${rendered}</script><script type="module" src="/program.js"></script>`
    return visitor.open(`<div id="root">${html}</div>${script}`, { tag: '' })
  }
  const questions = (): number => asked.filter((each) => each === '/auth/api/v1/user').length
  return { ...visitor, show, questions }
}

const text = (page: Page): Promise<unknown> => page.evaluate("document.querySelector('#root').textContent")
const shown = (page: Page): Promise<unknown> => page.evaluate('window.shown')
const settled = (page: Page): Promise<unknown> => page.waitForLoadState('networkidle')

describe('@svc/sdk/react on a server', () => {
  test('shows what the server knows, and neither where it does not know', () => {
    assert.deepEqual(
      [render({ username: 'ada' }), render(null), render()],
      ['<b>ada</b>', '<a href="/auth/login">Log in</a>', ''],
    )
  })

  test('names what is missing', () => {
    assert.throws(renderAlone, /need a <SvcProvider> around them/)
  })
})

describe('@svc/sdk/react in a browser', () => {
  test('shows a signed-out visitor at once that they are, and asks nothing', async (t) => {
    const { show, questions } = await open(t, { isSignedIn: false })
    for (const users of [[], [null], [undefined]]) {
      const page = await show(...users)
      await settled(page)
      assert.equal(await text(page), 'Log in')
      assert.deepEqual(await shown(page), users[0] === null ? [] : ['Log in'])
    }
    assert.equal(questions(), 0)
  })

  test('never shows a signed-in user that they are not, and asks once', async (t) => {
    const visitor = await open(t)
    const { username } = await currentUser(visitor.agent)
    for (const users of [[], [undefined]]) {
      const page = await visitor.show(...users)
      await page.getByText(username).waitFor()
      assert.deepEqual(await shown(page), [username])
    }
    assert.equal(visitor.questions(), 2)
  })

  test('asks nothing where the server knows the user', async (t) => {
    const visitor = await open(t)
    const user = await currentUser(visitor.agent)
    const page = await visitor.show(user)
    await settled(page)
    assert.deepEqual([await text(page), await shown(page)], [user.username, []])
    assert.equal(visitor.questions(), 0)
  })

  test('finds the user whose access token had run out for the server', async (t) => {
    const visitor = await open(t)
    const { username } = await currentUser(visitor.agent)
    await visitor.letTokenExpire()
    const page = await visitor.show(null)
    await page.getByText(username).waitFor()
  })

  test('follows a logout and a login in another tab', async (t) => {
    const visitor = await open(t)
    const { username } = await currentUser(visitor.agent)
    const page = await visitor.show()
    await page.getByText(username).waitFor()
    const cookies = await visitor.context.cookies()
    await visitor.context.clearCookies()
    await page.getByText('Log in').waitFor()
    await visitor.context.addCookies(cookies)
    await page.getByText(username).waitFor()
  })

  test('shows neither in an outage, and asks again', async (t) => {
    const visitor = await open(t)
    const { username } = await currentUser(visitor.agent)
    const away = { status: 503, headers: { 'retry-after': '0' }, body: '{}' }
    let isAway = true
    let refused = 0
    await visitor.page.route('**/auth/api/v1/user', (route) => {
      if (!isAway) return route.continue()
      refused += 1
      return route.fulfill(away)
    })
    const page = await visitor.show()
    await eventually('svc is asked again', async () => refused > 1)
    assert.equal(await text(page), '')
    isAway = false
    await page.getByText(username).waitFor()
    assert.deepEqual(await shown(page), [username])
  })
})
