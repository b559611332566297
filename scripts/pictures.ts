// Makes the pictures of README.md and docs/start.md again, in docs/images: "npm run pictures", after a change of how the
// pages look.
import path from 'node:path'
import type { Page } from 'playwright-core'
import { launchChrome } from '../test/support/browser/chrome.ts'
import { logInInWindow, openWindow } from '../test/support/browser/window.ts'
import { newAgent, signUp } from '../test/support/client/accounts.ts'
import { startDevHere } from '../test/support/dev/dev.ts'
import { createScope } from '../test/support/scope.ts'
import { startService } from '../test/support/service/service.ts'

const FOLDER = path.join(import.meta.dirname, '../docs/images')

interface Picture {
  name: string
  address: string
  width: number
  height: number
}

/** In the order in which a visitor comes to them. */
const PICTURES: Picture[] = [
  { name: 'login', address: '/auth/login', width: 560, height: 740 },
  { name: 'account', address: '/auth/account', width: 900, height: 760 },
]

/** Those of `svc dev`, whose address they show. */
const DEV_PORT = 8000
const DEV_PICTURES: Picture[] = [
  { name: 'dev', address: '/auth/dev', width: 900, height: 1140 },
  { name: 'mailbox', address: '/auth/dev/mail/1', width: 900, height: 945 },
]

const ADA = { email: 'ada@example.com', username: 'ada', password: 'four unrelated words' }
const MARY = { email: 'mary@example.com', username: 'mary', password: 'four unrelated words' }

const take = async (page: Page, { name, width, height }: Picture): Promise<void> => {
  await page.setViewportSize({ width, height })
  // No field is marked as the one that is typed in.
  await page.evaluate('document.activeElement.blur()')
  for (const colorScheme of ['light', 'dark'] as const) {
    // Without motion, no colour is on its way from the other scheme.
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await page.screenshot({ path: path.join(FOLDER, `${name}-${colorScheme}.png`) })
  }
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
  const dev = await startDevHere({ t, options: { port: DEV_PORT } })
  const message = new Promise<void>((resolve) => dev.follow(({ type }) => type === 'mail' && resolve()))
  await signUp(newAgent(dev), MARY)
  await message
  const ofDev = await openWindow(browser, dev)
  await ofDev.page.request.post(`${dev.url}/auth/dev/sign-in`, { data: { email: ADA.email } })
  for (const picture of DEV_PICTURES) {
    await ofDev.open(picture.address)
    await take(ofDev.page, picture)
  }
} finally {
  await end()
}
