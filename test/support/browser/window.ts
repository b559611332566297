import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import { connect } from 'node:net'
import type { Duplex } from 'node:stream'
import type { TestContext } from 'node:test'
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core'
import { untilProcessEnds } from '../cleanup.ts'
import type { Person } from '../client/accounts.ts'
import { findProblems } from './accessibility-checker.ts'

/** A person with their own browser window, and an application beside the service. */
export type BrowserWindow = {
  page: Page
  context: BrowserContext
  /** Fills in the form that posts to `action` and sends it; resolves when the next page is there. */
  submit(action: string, fields: Record<string, string>): Promise<void>
  open(path: string): Promise<void>
  /** The window's path, query and fragment. */
  path(): string
  /** The browser's complaints so far: console errors, resources blocked by the policy, failed scripts. */
  complaints: string[]
}

const RULES_OF_COLOURS = ['color-contrast', 'link-in-text-block']

/** What the login page asks for as soon as it is there. */
export const CHALLENGE = '/auth/passkeys/login/options'

const application = '<!doctype html><html lang="en"><title>Application</title><main><h1>Application</h1></main></html>'

const isOfService = (pathname: string): boolean => pathname === '/auth' || pathname.startsWith('/auth/')

/** Hosts that are neither the application nor a service. */
const others = new Set<string>()

/**
 * The proxy of the windows: it passes on what is for a service or another host, and answers everything else as the
 * application. Where the test answered instead, the browser would ask it about every file, and keep none.
 */
const startProxy = async (): Promise<string> => {
  const server = createServer((incoming, outgoing) => {
    const { pathname, search, host: asked, hostname, port } = new URL(incoming.url ?? '')
    const isOther = others.has(asked)
    if (!isOther && !isOfService(pathname)) {
      outgoing.setHeader('content-type', 'text/html; charset=utf-8')
      return outgoing.end(application)
    }
    const { method = '', rawHeaders: headers } = incoming
    const host = isOther ? hostname : 'localhost'
    const passed = request({ host, port, method, path: pathname + search, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders)
      answer.pipe(outgoing)
    })
    passed.on('error', () => outgoing.destroy())
    return incoming.pipe(passed)
  })
  // Requests that a test makes with the cookies of a window.
  server.on('connect', ({ url }, socket: Duplex) => {
    const { hostname: host, port } = new URL(`http://${url}`)
    const there = connect({ host, port: Number(port) }, () => socket.write('HTTP/1.1 200 OK\r\n\r\n'))
    for (const each of [socket, there]) each.on('error', () => there.destroy()).once('close', () => socket.destroy())
    socket.pipe(there).pipe(socket)
  })
  server.listen(0, '127.0.0.1').unref()
  await once(server, 'listening')
  untilProcessEnds(() => server.closeAllConnections())
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
}

let proxy: Promise<string> | undefined

/**
 * Opens a window on the service; everything outside /auth is answered by an application, but at the `others`, which
 * answer for themselves. With `isEverywhere` it also is at addresses of https.
 */
export const openWindow = async (
  browser: Browser,
  service: { url: string },
  {
    scripts = true,
    isEverywhere = false,
    others: origins = [],
  }: { scripts?: boolean; isEverywhere?: boolean; others?: string[] } = {},
): Promise<BrowserWindow> => {
  for (const origin of origins) others.add(new URL(origin).host)
  proxy ??= startProxy()
  const context = await browser.newContext({
    baseURL: service.url,
    javaScriptEnabled: scripts,
    ...(!isEverywhere && { proxy: { server: await proxy } }),
  })
  if (isEverywhere)
    await context.route(
      ({ pathname }) => !isOfService(pathname),
      (route) => route.fulfill({ contentType: 'text/html; charset=utf-8', body: application }),
    )
  const complaints: string[] = []
  const page = await context.newPage()
  page.on('console', (message) => {
    // An error status of the page itself (401, 422, ...) is part of a test; any other failed request is an error.
    const isStatusOfPage = message.text().startsWith('Failed to load resource') && message.location().url === page.url()
    if (['error', 'warning'].includes(message.type()) && !isStatusOfPage) complaints.push(message.text())
  })
  page.on('pageerror', ({ message }) => {
    // The browser says so by itself when it leaves for a page without transitions, such as one of the application.
    if (!message.startsWith('Transition was aborted')) complaints.push(message)
  })
  page.on('requestfailed', (request) => {
    const { errorText = '' } = request.failure() ?? {}
    // The login page asks for a challenge as soon as it is there, and is left before the answer.
    if (request.url().endsWith(CHALLENGE) && errorText === 'net::ERR_ABORTED') return
    complaints.push(`${request.url()} ${errorText}`)
  })
  return {
    page,
    context,
    complaints,
    open: async (path) => void (await page.goto(path)),
    path: () => page.url().slice(service.url.length),
    submit: async (action, fields) => {
      const form = page.locator(`form[action="${action}"]`).last()
      for (const [name, value] of Object.entries(fields)) {
        const input = form.locator(`input[name="${name}"]`)
        const hidden = form.locator('xpath=ancestor::details[not(@open)]/summary')
        if ((await hidden.count()) > 0) await hidden.click()
        await input.fill(value)
      }
      await Promise.all([page.waitForEvent('load'), form.locator('button:not([type="button"])').last().click()])
    },
  }
}

/** Opens the row that hides an element. */
export const openRowOf = async (element: Locator): Promise<void> => {
  const closed = element.locator('xpath=ancestor::details[not(@open)]/summary')
  if ((await closed.count()) > 0) await closed.first().click()
}

/** Signs up in a window. */
export const signUpInWindow = async (visitor: BrowserWindow, { email, password, username }: Person): Promise<void> =>
  visitor.submit('/auth/signup', { email, password, username })

/** Logs in in a window. */
export const logInInWindow = async (
  visitor: BrowserWindow,
  { email, password }: Pick<Person, 'email' | 'password'>,
): Promise<void> => visitor.submit('/auth/login', { email, password })

/** Resolves when the focus is on an element. A browser gives a new page its focus with the first frame, after `load`. */
export const focusOn = (page: Page, selector: string): Promise<void> => page.locator(`${selector}:focus`).waitFor()

/** Presses Tab until the focus is on an element, as a user of the keyboard does; backwards with Shift+Tab. */
export const tabTo = async (page: Page, selector: string, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> => {
  const element = page.locator(`${selector}:focus`)
  for (let presses = 0; presses < 40; presses += 1) {
    if ((await element.count()) > 0) return
    await page.keyboard.press(key)
  }
  assert.fail(`the keyboard does not reach ${selector}`)
}

/** The violations that an accessibility checker finds, in the light scheme and, for colours only, in the dark one. */
export const violations = async (page: Page): Promise<string[]> => {
  const found: string[] = []
  for (const colorScheme of ['light', 'dark'] as const) {
    // With motion, the checker would see colours on their way from light to dark.
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    const result = await findProblems(page, colorScheme === 'light' ? undefined : RULES_OF_COLOURS)
    for (const { id, nodes } of result.violations)
      found.push(...nodes.map(({ html }) => `${page.url()} ${colorScheme} ${id}: ${html}`))
  }
  return found
}

/** Checks that the page has no accessibility violations. */
export const assertAccessible = async ({ page }: BrowserWindow): Promise<void> =>
  assert.deepEqual(await violations(page), [])

/** A window that is closed after the test. Fails if the browser reported an error, or sent a token in a `Referer`. */
export const openWatchedWindow = async (
  t: TestContext,
  browser: Browser,
  of: { url: string },
  { scripts = true }: { scripts?: boolean } = {},
): Promise<BrowserWindow> => {
  const visitor = await openWindow(browser, of, { scripts })
  const referers: string[] = []
  visitor.page.on('request', (request) => referers.push(request.headers().referer ?? ''))
  t.after(async () => {
    await visitor.context.close()
    assert.deepEqual(visitor.complaints, [], 'no error in the console, nothing blocked by the policy')
    assert.ok(!referers.some((referer) => referer.includes('token')), referers.join(' '))
  })
  return visitor
}
