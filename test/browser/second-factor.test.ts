// Runs on SQLite.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { encode } from 'uqr'
import { launchChrome } from '../support/browser/chrome.ts'
import { assertAccessible, type BrowserWindow, logInInWindow, openWindow, tabTo } from '../support/browser/window.ts'
import { newPerson, signedUp } from '../support/client/accounts.ts'
import { turnedClock } from '../support/clock/turned-clock.ts'
import { SECOND_FACTOR_PAGE as PAGE } from '../support/second-factor/app-set-up.ts'
import { codeAt } from '../support/second-factor/authenticator-app.ts'
import { startService } from '../support/service/service.ts'

const clock = turnedClock()
const service = await startService({ clock })
const browser = await launchChrome()
after(() => browser.close())

/** The longest email that is accepted, and so the largest QR code. */
const longEmail = () => `${newPerson().username.padEnd(64, 'x')}@${`${'y'.repeat(60)}.`.repeat(3)}com`

const signIn = async (options: { scripts?: boolean; email?: string } = {}): Promise<BrowserWindow> => {
  const { person } = await signedUp(service, { ...newPerson(), ...(options.email && { email: options.email }) })
  const visitor = await openWindow(browser, service, options)
  await visitor.open('/auth/login?return_to=%2Fauth%2Faccount')
  await logInInWindow(visitor, person)
  return visitor
}

const secretOn = async (page: Page): Promise<string> =>
  (await page.textContent('.steps code'))?.replaceAll(' ', '') ?? ''

const assertFits = async ({ page }: BrowserWindow): Promise<void> => {
  await page.setViewportSize({ width: 320, height: 640 })
  assert.ok(Number(await page.evaluate('document.documentElement.scrollWidth - window.innerWidth')) <= 0, page.url())
  await page.setViewportSize({ width: 800, height: 700 })
}

const columnsOfCodes = async ({ page }: BrowserWindow): Promise<number> => {
  await page.setViewportSize({ width: 320, height: 640 })
  const boxes = await Promise.all((await page.locator('.codes li').all()).map((one) => one.boundingBox()))
  await page.setViewportSize({ width: 800, height: 700 })
  return new Set(boxes.map((box) => box?.x)).size
}

const assertGood = async (visitor: BrowserWindow): Promise<void> => {
  await assertAccessible(visitor)
  await assertFits(visitor)
}

test('an app is set up by keyboard alone, and every page on the way is accessible and fits a small phone', async () => {
  const visitor = await signIn({ email: longEmail() })
  const { page } = visitor
  await tabTo(page, `a[href="${PAGE}"]`)
  await Promise.all([page.waitForEvent('load'), page.keyboard.press('Enter')])
  await assertGood(visitor)
  const secret = await secretOn(page)

  await tabTo(page, '#code')
  await page.keyboard.type('000 00')
  await Promise.all([page.waitForEvent('load'), page.keyboard.press('Enter')])
  // The browser moves the focus as it draws the page, which may be after it has loaded.
  await page.locator('#code:focus').waitFor()
  assert.match(await page.title(), /^Error: /)
  await assertGood(visitor)

  await page.keyboard.type(codeAt(secret, clock.now()))
  await Promise.all([page.waitForEvent('load'), page.keyboard.press('Enter')])
  assert.equal(await page.textContent('h1'), 'Save your recovery codes')
  await assertGood(visitor)
  assert.equal(await columnsOfCodes(visitor), 2, 'also on a small phone')
  await visitor.context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await tabTo(page, 'button[data-copies]')
  await page.keyboard.press('Enter')
  await page.locator('button:text-is("Copied")').waitFor()
  const codes = await page.locator('.codes li').allInnerTexts()
  assert.deepEqual(
    String(await page.evaluate('navigator.clipboard.readText()'))
      .trim()
      .split(/\s+/),
    codes,
  )
  await page.emulateMedia({ media: 'print' })
  assert.deepEqual(await page.locator('main :is(button, a):visible').allInnerTexts(), [], 'nothing to press on paper')
  assert.ok(await page.locator('.codes').isVisible())
  await page.emulateMedia({ media: 'screen' })

  await tabTo(page, 'a.first')
  await Promise.all([page.waitForEvent('load'), page.keyboard.press('Enter')])
  assert.equal(visitor.path(), '/auth/account?done=second_factor_set_up#two-step')
  await assertGood(visitor)

  await visitor.open(PAGE)
  await tabTo(page, 'summary')
  await page.keyboard.press('Enter')
  await tabTo(page, 'button.danger')
  await assertGood(visitor)
  await Promise.all([page.waitForEvent('load'), page.keyboard.press('Enter')])
  assert.equal(visitor.path(), '/auth/account?done=second_factor_removed#two-step')
  await assertGood(visitor)
  assert.deepEqual(visitor.complaints, [])
  await visitor.context.close()
})

test('without scripts too, and the recovery codes are saved to a file', async () => {
  const visitor = await signIn({ scripts: false })
  const { page } = visitor
  await visitor.open(PAGE)
  await visitor.submit(PAGE, { code: codeAt(await secretOn(page), clock.now()) })
  const codes = await page.locator('.codes code').allTextContents()
  assert.equal(codes.length, 10)
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('button[name=download]')])
  assert.equal(download.suggestedFilename(), 'recovery-codes.txt')
  const file = readFileSync(await download.path(), 'utf8')
  for (const code of codes) assert.ok(file.includes(code))
  assert.equal(await page.locator('.codes code').count(), 10, 'the page stays')
  await page.reload()
  assert.equal(await page.locator('.codes code').count(), 0, 'they are shown once')
  await visitor.context.close()
})

test('the QR code is the address of the secret, black on white, in the dark and in forced colours', async () => {
  const blank = await browser.newPage()
  for (const media of [{ colorScheme: 'dark' }, { forcedColors: 'active', colorScheme: 'dark' }] as const) {
    const visitor = await signIn()
    const { page } = visitor
    await page.emulateMedia(media)
    await visitor.open(PAGE)
    const { data } = encode((await page.getAttribute('a[href^="otpauth:"]', 'href')) ?? '', { ecc: 'M', border: 4 })
    const picture = (await page.locator('svg.qr').screenshot()).toString('base64')
    const colours = await blank.evaluate(`(async () => {
      const image = await createImageBitmap(await (await fetch('data:image/png;base64,${picture}')).blob())
      const canvas = new OffscreenCanvas(image.width, image.height).getContext('2d')
      canvas.drawImage(image, 0, 0)
      const at = (module) => Math.floor(((module + 0.5) * image.width) / ${data.length})
      const modules = Array.from({ length: ${data.length} }, (_, index) => index)
      return modules.map((y) => modules.map((x) => [...canvas.getImageData(at(x), at(y), 1, 1).data].join()))
    })()`)
    // The round corners of the picture are in the margin.
    const rows = (colours as string[][]).map((row) => row.slice(1, -1)).slice(1, -1)
    const expected = data.map((row) => row.slice(1, -1).map((isDark) => (isDark ? '0,0,0,255' : '255,255,255,255')))
    assert.deepEqual(rows, expected.slice(1, -1))
    await visitor.context.close()
  }
})
