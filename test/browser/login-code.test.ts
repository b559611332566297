// Runs on SQLite.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { launchChrome } from '../support/browser/chrome.ts'
import {
  assertAccessible,
  type BrowserWindow,
  focusOn,
  logInInWindow,
  openWindow,
  tabTo,
} from '../support/browser/window.ts'
import { newPerson } from '../support/client/accounts.ts'
import { turnedClock } from '../support/clock/turned-clock.ts'
import { codeAt } from '../support/second-factor/authenticator-app.ts'
import { startService } from '../support/service/service.ts'

const clock = turnedClock()
const service = await startService({ clock, env: { SVC_SECOND_FACTOR: 'required' } })
const browser = await launchChrome()
after(() => browser.close())

const pressEnter = (page: Page) => Promise.all([page.waitForEvent('load'), page.keyboard.press('Enter')])

const assertGood = async (visitor: BrowserWindow, colorScheme: 'light' | 'dark'): Promise<void> => {
  const { page } = visitor
  await page.emulateMedia({ colorScheme })
  await assertAccessible(visitor)
  await page.setViewportSize({ width: 320, height: 640 })
  assert.ok(Number(await page.evaluate('document.documentElement.scrollWidth - window.innerWidth')) <= 0, page.url())
  await page.setViewportSize({ width: 800, height: 700 })
}

for (const scripts of [true, false])
  test(`a signup sets up an app, and a login asks for its code, by keyboard alone, with scripts ${scripts ? 'on' : 'off'}`, async () => {
    const visitor = await openWindow(browser, service, { scripts })
    const { page } = visitor
    const person = newPerson()
    await visitor.open('/auth/signup?return_to=%2Fauth%2Faccount')
    await visitor.submit('/auth/signup', person)
    assert.equal(visitor.path(), '/auth/login/enrol?return_to=%2Fauth%2Faccount')
    if (scripts) await assertGood(visitor, 'light')
    else assert.match((await page.textContent('main')) ?? '', /Passkeys need JavaScript/)
    const secret = (await page.textContent('.steps code'))?.replaceAll(' ', '') ?? ''
    await tabTo(page, '#code')
    await page.keyboard.type(codeAt(secret, clock.now()))
    await pressEnter(page)
    assert.equal(await page.textContent('h1'), 'Save your recovery codes')
    assert.equal(await page.locator('button[data-copies]').isVisible(), scripts)

    await visitor.open('/auth/logout')
    await tabTo(page, 'button')
    await pressEnter(page)
    await visitor.open('/auth/login?return_to=%2Fauth%2Faccount')
    await logInInWindow(visitor, person)
    assert.equal(visitor.path(), '/auth/login/code?return_to=%2Fauth%2Faccount')
    await focusOn(page, '#code')
    if (scripts) await assertGood(visitor, 'dark')
    await page.keyboard.type('12345')
    await pressEnter(page)
    assert.match(await page.title(), /^Error: /)
    await focusOn(page, '#code')
    if (scripts) await assertGood(visitor, 'light')
    await tabTo(page, 'summary.link')
    await page.keyboard.press('Enter')
    assert.ok(await page.locator('#recovery_code').isVisible())
    assert.ok(!(await page.locator('#code').isVisible()), 'one field at a time')
    await tabTo(page, '#recovery_code')
    await page.keyboard.type('abcd-efgh')
    await pressEnter(page)
    await focusOn(page, '#recovery_code')
    if (scripts) await assertGood(visitor, 'light')
    await tabTo(page, 'summary.link', 'Shift+Tab')
    await page.keyboard.press('Enter')
    await tabTo(page, '#code', 'Shift+Tab')
    await clock.turnTo(clock.aheadMs() + 30_000)
    await page.keyboard.type(codeAt(secret, clock.now()))
    await tabTo(page, 'input[name=trust_browser]')
    await page.keyboard.press('Space')
    await tabTo(page, 'button.first')
    await pressEnter(page)
    assert.equal(visitor.path(), '/auth/account')
    assert.match((await page.textContent('main')) ?? '', /1 device skips the code/)
    if (scripts) await assertGood(visitor, 'dark')
    assert.deepEqual(visitor.complaints, [])
    await visitor.context.close()
  })
