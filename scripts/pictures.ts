// Makes the pictures of README.md, docs/start.md and docs/administration.md again, in docs/images: "npm run pictures",
// after a change of how the pages look.
import path from 'node:path'
import type { TestContext } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { openMachineAdmin } from '../test/support/admin/machine-admin.ts'
import { launchChrome } from '../test/support/browser/chrome.ts'
import { logInInWindow, openWindow } from '../test/support/browser/window.ts'
import { newAgent, signUp } from '../test/support/client/accounts.ts'
import { type RunningDev, startDevHere } from '../test/support/dev/dev.ts'
import { createScope } from '../test/support/scope.ts'
import { type Service, startService } from '../test/support/service/service.ts'

const FOLDER = path.join(import.meta.dirname, '../docs/images')

interface Picture {
  name: string
  address: string
  width: number
  height: number
}

/** In the order in which a visitor comes to them. */
const PICTURES: Picture[] = [
  { name: 'login', address: '/auth/login', width: 560, height: 790 },
  { name: 'account', address: '/auth/account', width: 900, height: 760 },
]

/** The walk of README.md through `svc dev`, whose address they show. */
const DEV_PORT = 8000
const DEV_SIZE = { width: 640, height: 770 }

/** Those of administrators. */
const ADMIN_PICTURES: Picture[] = [{ name: 'administration', address: '/users/', width: 900, height: 960 }]

const ADA = { email: 'ada@example.com', username: 'ada', password: 'four unrelated words' }
const MARY = { email: 'mary@example.com', username: 'mary', password: 'four unrelated words' }

const take = async (page: Page, { name, width, height }: Omit<Picture, 'address'>): Promise<void> => {
  await page.setViewportSize({ width, height })
  // No field is marked as the one that is typed in.
  await page.evaluate('document.activeElement.blur()')
  for (const colorScheme of ['light', 'dark'] as const) {
    // Without motion, no colour is on its way from the other scheme.
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await page.screenshot({ path: path.join(FOLDER, `${name}-${colorScheme}.png`) })
  }
}

/** The page of Ada, as `svc admin` shows it. */
const takeAdministration = async (browser: Browser, service: Service, t: TestContext): Promise<void> => {
  const admin = await openMachineAdmin(service, { t })
  const [, ada = ''] = /\/users\/([\w-]+)"/.exec((await admin.open('/')).text) ?? []
  const context = await browser.newContext({ baseURL: admin.agent.url })
  const value = admin.agent.cookies.get('svc_admin') ?? ''
  await context.addCookies([{ name: 'svc_admin', value, domain: '127.0.0.1', path: `${admin.base}/` }])
  const page = await context.newPage()
  for (const picture of ADMIN_PICTURES) {
    await page.goto(admin.base + picture.address + ada)
    await take(page, picture)
  }
}

const walkThroughDev = async (dev: RunningDev, browser: Browser): Promise<void> => {
  const { page, open, submit } = await openWindow(browser, dev)
  const takeAt = async (name: string, address: string): Promise<void> => {
    await open(address)
    await take(page, { name, ...DEV_SIZE })
  }
  await takeAt('dev', '/auth/dev')
  await open('/auth/signup')
  for (const [name, value] of Object.entries(MARY)) await page.locator(`input[name="${name}"]`).fill(value)
  await take(page, { name: 'signup', ...DEV_SIZE })
  const of = (wanted: string) => new Promise<void>((resolve) => dev.follow(({ type }) => type === wanted && resolve()))
  const arrived = [of('mail'), of('webhook')]
  await submit('/auth/signup', {})
  await Promise.all(arrived)
  await takeAt('mailbox', '/auth/dev/mail/1')
  await open('/auth/dev/webhooks')
  await page.locator('summary').first().click()
  await take(page, { name: 'webhooks', ...DEV_SIZE })
}

const { t, end } = createScope()
try {
  const browser = await launchChrome()
  t.after(() => browser.close())
  const service = await startService({ t, env: { SVC_APP_NAME: 'Example' } })
  await signUp(newAgent(service), ADA)
  const { page, ...visitor } = await openWindow(browser, service)
  for (const picture of PICTURES) {
    await visitor.open(picture.address)
    if (visitor.path() !== picture.address) await logInInWindow({ page, ...visitor }, ADA)
    await take(page, picture)
  }
  await takeAdministration(browser, service, t)
  await walkThroughDev(await startDevHere({ t, options: { port: DEV_PORT } }), browser)
} finally {
  await end()
}
