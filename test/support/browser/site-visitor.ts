import type { TestContext } from 'node:test'
import assert from 'node:assert/strict'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { signedUp } from '../client/accounts.ts'
import type { UserAgent } from '../client/user-agent.ts'
import type { Site } from './site.ts'

/** A signed-in user in a browser of their own, at a site. */
export type SiteVisitor = {
  context: BrowserContext
  page: Page
  /** Another client with the same session. */
  agent: UserAgent
  /** Opens a page of the application with this content, and the script. */
  open(body: string, options?: PageOptions): Promise<Page>
  /** The browser drops the cookies that end with the access token, as its clock would have it do. */
  letTokenExpire(): Promise<void>
  cookie(name: string): Promise<string | undefined>
  /** What the browser complained about, other than requests that failed. */
  complaints: string[]
  /** What the browser asked https://elsewhere.example for, which nobody answers. */
  elsewhere: string[]
}

type PageOptions = { tag?: string; headers?: Record<string, string>; page?: Page }

export const TAG = '<script src="/auth/session.js" defer></script>'

const HIDING = [
  'cookie',
  'currentScript',
  'querySelector',
  'dispatchEvent',
  'addEventListener',
  'URL',
  'baseURI',
  'hidden',
]

/** HTML that a user may have written into a page: it hides what a document has, and sends relative addresses elsewhere. */
export const HOSTILE_HTML = `<base href="https://elsewhere.example/">
  ${HIDING.map((name) => `<img name="${name}" alt="" data-audience="evil">`).join('')}
  <a id="svcSession"></a><a id="svcSession" name="audience" href="urn:evil"></a>
  <form id="cookieStore"><input name="addEventListener"></form>`

const IN_AUTH = new Set(['svc_refresh', 'svc_device', 'svc_last_way'])

/** The cookies of a client, for a browser on this machine. */
export const cookiesOf = ({ cookies }: UserAgent): { name: string; value: string; domain: string; path: string }[] =>
  cookies.names().map((name) => ({
    name,
    value: cookies.get(name) ?? '',
    domain: 'localhost',
    path: IN_AUTH.has(name) ? '/auth' : '/',
  }))

let pages = 0

/** Signs a new user up, and hands their cookies to a new browser context, which is closed after the test. */
export const visitSite = async (browser: Browser, site: Site, t: TestContext): Promise<SiteVisitor> => {
  const context = await browser.newContext({ baseURL: site.url })
  context.setDefaultTimeout(60_000)
  const { agent } = await signedUp(site.service)
  await context.addCookies(cookiesOf(agent))
  const first = await context.newPage()
  const complaints: string[] = []
  const elsewhere: string[] = []
  await context.route('https://elsewhere.example/**', (route) => {
    elsewhere.push(route.request().url())
    return route.abort()
  })
  t.after(async () => {
    await context.close()
    assert.deepEqual(complaints, [])
  })
  context.on('weberror', (error) => complaints.push(String(error.error())))
  context.on('console', (message) => {
    const isFailedRequest = message.text().startsWith('Failed to load resource')
    if (['error', 'warning'].includes(message.type()) && !isFailedRequest) complaints.push(message.text())
  })
  return {
    context,
    page: first,
    agent,
    complaints,
    elsewhere,
    open: async (body, { tag = TAG, headers = {}, page = first } = {}) => {
      pages += 1
      const path = `/page-${pages}`
      site.pages.set(path, { body: `${tag}${body}`, headers })
      await page.goto(path)
      return page
    },
    letTokenExpire: async () => {
      for (const name of ['svc_access', 'svc_fresh']) await context.clearCookies({ name })
    },
    cookie: async (name) => (await context.cookies()).find((cookie) => cookie.name === name)?.value,
  }
}
