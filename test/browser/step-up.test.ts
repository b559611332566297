// Runs on SQLite.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { launchChrome } from '../support/browser/chrome.ts'
import { assertAccessible, type BrowserWindow, logInInWindow, openWindow } from '../support/browser/window.ts'
import { currentUser, newAgent, newPerson, signUp } from '../support/client/accounts.ts'
import { turnedClock } from '../support/clock/turned-clock.ts'
import { openDatabase } from '../support/database/database.ts'
import { startSmtpServer } from '../support/network/smtp-server.ts'
import { newAccountWithCodes } from '../support/second-factor/account-with-codes.ts'
import { openOperator } from '../support/service/replicas.ts'
import { startService } from '../support/service/service.ts'

const clock = turnedClock()
const smtp = await startSmtpServer()
const service = await startService({ clock, env: { ...smtp.env, SVC_MAIL_NOTICES: 'off' } })
const core = await openOperator(service)
const database = await openDatabase(service)
const browser = await launchChrome()
after(() => browser.close())

const STEP_UP = '/auth/account/confirm?return_to=%2Fauth%2Faccount%2Fsecond-factor&acr=mfa'
const PAGE = '/auth/account/second-factor'
const LINK_PAGE = '/auth/account/first-factor'

/** Where scripts are off, nothing can be asked of the page; it is the same one. */
const assertGood = async (visitor: BrowserWindow, scripts = true): Promise<void> => {
  if (!scripts) return
  const { page } = visitor
  await assertAccessible(visitor)
  await page.setViewportSize({ width: 320, height: 640 })
  assert.ok(Number(await page.evaluate('document.documentElement.scrollWidth - window.innerWidth')) <= 0, page.url())
  await page.setViewportSize({ width: 800, height: 700 })
}

const submit = (page: Page, press: () => Promise<unknown>) => Promise.all([page.waitForEvent('load'), press()])

for (const scripts of [true, false]) {
  test(`password and code are typed and sent by keyboard, with scripts ${scripts ? 'on' : 'off'}`, async () => {
    const account = await newAccountWithCodes({ service, core, clock })
    const visitor = await openWindow(browser, service, { scripts })
    const { page } = visitor
    await visitor.open('/auth/login?return_to=%2Fauth%2Faccount')
    await logInInWindow(visitor, account.person)
    await page.fill('#code', await account.nextCode())
    await submit(page, () => page.keyboard.press('Enter'))
    await database.rows('UPDATE sessions SET amr = ? WHERE user_id = ?', 'pwd', account.id)
    await visitor.open(STEP_UP)
    await assertGood(visitor, scripts)
    // The field of the password has the focus as the page opens.
    await page.keyboard.type(account.person.password)
    await page.keyboard.press('Tab')
    if (scripts) await page.keyboard.press('Tab')
    await page.keyboard.type(account.wrongCode())
    await submit(page, () => page.keyboard.press('Enter'))
    if (scripts) assert.match(await page.title(), /^Error: /)
    await assertGood(visitor, scripts)
    await page.fill('#password', account.person.password)
    await page.fill('#code', await account.nextCode())
    await submit(page, () => page.keyboard.press('Enter'))
    assert.equal(visitor.path(), PAGE)
  })

  test(`a link by mail comes before the first second factor, with scripts ${scripts ? 'on' : 'off'}`, async () => {
    const person = newPerson()
    const owner = newAgent(service)
    await signUp(owner, person)
    const { id } = await currentUser(owner)
    await database.rows('UPDATE users SET created_at = 1, email_verified_at = 1 WHERE id = ?', id)
    const visitor = await openWindow(browser, service, { scripts })
    const { page } = visitor
    await visitor.open(`/auth/login?return_to=${encodeURIComponent(PAGE)}`)
    await logInInWindow(visitor, person)
    assert.equal(new URL(page.url()).pathname, LINK_PAGE)
    await assertGood(visitor, scripts)
    await submit(page, () => page.click('button.first'))
    await assertGood(visitor, scripts)
    const { link } = await smtp.receivedFor(person.email, 2)
    const stranger = await openWindow(browser, service, { scripts })
    await stranger.page.goto(link)
    await assertGood(stranger, scripts)
    assert.equal(await stranger.page.locator('form:not(.language)').count(), 0)
    await page.goto(link)
    await assertGood(visitor, scripts)
    await submit(page, () => page.click('button.first'))
    assert.equal(visitor.path(), PAGE)
  })
}

test('where it is switched off, the page says so', async () => {
  const off = await startService({ env: { SVC_SECOND_FACTOR: 'off', SVC_PASSKEYS: 'off' } })
  const person = newPerson()
  await signUp(newAgent(off), person)
  const visitor = await openWindow(browser, off)
  await visitor.open('/auth/login?return_to=%2Fauth%2Faccount')
  await logInInWindow(visitor, person)
  await visitor.open(STEP_UP)
  await assertGood(visitor)
})
