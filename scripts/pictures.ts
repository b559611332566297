// Makes the pictures of README.md and docs/start.md again, in docs/images: "npm run pictures", after a change of how the
// pages look.
import path from 'node:path'
import { launchChrome } from '../test/support/browser/chrome.ts'
import { logInInWindow, openWindow } from '../test/support/browser/window.ts'
import { newAgent, signUp } from '../test/support/client/accounts.ts'
import { createScope } from '../test/support/scope.ts'
import { startService } from '../test/support/service/service.ts'

const FOLDER = path.join(import.meta.dirname, '../docs/images')

/** In the order in which a visitor comes to them. */
const PICTURES = [
  { name: 'login', address: '/auth/login', width: 560, height: 740 },
  { name: 'account', address: '/auth/account', width: 900, height: 760 },
]

const ADA = { email: 'ada@example.com', username: 'ada', password: 'four unrelated words' }

const { t, end } = createScope()
try {
  const service = await startService({ t, env: { SVC_APP_NAME: 'Example' } })
  await signUp(newAgent(service), ADA)
  const browser = await launchChrome()
  t.after(() => browser.close())
  const { page, ...visitor } = await openWindow(browser, service)
  for (const { name, address, width, height } of PICTURES) {
    await visitor.open(address)
    if (visitor.path() !== address) await logInInWindow({ page, ...visitor }, ADA)
    await page.setViewportSize({ width, height })
    // No field is marked as the one that is typed in.
    await page.evaluate('document.activeElement.blur()')
    for (const colorScheme of ['light', 'dark'] as const) {
      // Without motion, no colour is on its way from the other scheme.
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      await page.screenshot({ path: path.join(FOLDER, `${name}-${colorScheme}.png`) })
    }
  }
} finally {
  await end()
}
