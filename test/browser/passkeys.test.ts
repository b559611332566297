// Runs on SQLite.
import assert from 'node:assert/strict'
import { type TestContext, after, describe, test } from 'node:test'
import { decodeJwt } from 'jose'
import { addAuthenticator } from '../support/browser/authenticator.ts'
import { launchChrome } from '../support/browser/chrome.ts'
import {
  type BrowserWindow,
  focusOn,
  logInInWindow,
  openRowOf,
  openWindow,
  signUpInWindow,
  tabTo,
  violations,
} from '../support/browser/window.ts'
import { newPerson, type Person } from '../support/client/accounts.ts'
import { turnedClock } from '../support/clock/turned-clock.ts'
import { invite } from '../support/recovery/invitation.ts'
import { resetTokenOf } from '../support/recovery/reset.ts'
import { startService } from '../support/service/service.ts'

const clock = turnedClock()
const service = await startService({ clock })
const browser = await launchChrome()
after(async () => {
  await browser.close()
  const failures = service.logLines().filter(({ level }) => level === 'error')
  assert.deepEqual(failures, [], 'the service made no mistake')
})

const ACCOUNT = '/auth/account'
const LOGIN = '/auth/login?return_to=%2Fshop'

type Visitor = BrowserWindow & { person: Person }

const newWindow = async (t: TestContext, { scripts = true, isExpected = /^$/ } = {}) => {
  const visitor = await openWindow(browser, service, { scripts })
  visitor.page.setDefaultTimeout(60_000)
  t.after(async () => {
    await visitor.context.close()
    assert.deepEqual(
      visitor.complaints.filter((complaint) => !isExpected.test(complaint)),
      [],
      'no error in the console, nothing blocked by the policy',
    )
  })
  return visitor
}

/** A refused request of the script is an error in the console. */
const REFUSAL = /status of 4\d\d/

/** Signs up, and opens the account page. */
const signedUp = async (t: TestContext, options?: Parameters<typeof newWindow>[1]): Promise<Visitor> => {
  const visitor = await newWindow(t, options)
  const person = newPerson()
  await visitor.open('/auth/signup')
  await signUpInWindow(visitor, person)
  await visitor.open(ACCOUNT)
  return { ...visitor, person }
}

const button = ({ page }: BrowserWindow) => page.locator('[data-passkey] button')
/** Presses the button, in its row if it is in one. */
const press = async (visitor: BrowserWindow): Promise<void> => {
  await openRowOf(button(visitor))
  await button(visitor).click()
}

const problem = ({ page }: BrowserWindow) => page.locator('[data-passkey] .problem')
const SECTION = 'section[aria-labelledby="signing-in-title"]'
const ROW = `${SECTION} li:has(.badge:text-is("Passkey"))`
const names = ({ page }: BrowserWindow) => page.locator(`${ROW} b`).allInnerTexts()

/** Adds a passkey on the account page, which is open. */
const add = async (visitor: BrowserWindow) => {
  await Promise.all([visitor.page.waitForURL(/(?:done=passkey_added|second-factor)/), press(visitor)])
  await visitor.open(ACCOUNT)
}

/** Confirms with the passkey who the user is, and is on the account page. */
const confirm = async (visitor: BrowserWindow) => {
  await visitor.open('/auth/account/confirm')
  await Promise.all([visitor.page.waitForURL(/done=confirmed/), press(visitor)])
}

const logOut = async (visitor: BrowserWindow) => {
  await visitor.open(ACCOUNT)
  await visitor.submit('/auth/logout', {})
}

const amr = async ({ context }: BrowserWindow): Promise<unknown> => {
  const { value = '' } = (await context.cookies()).find(({ name }) => name === 'svc_access') ?? {}
  return decodeJwt(value).amr
}

const assertProblem = async (visitor: BrowserWindow, text: RegExp) => {
  await problem(visitor).waitFor()
  assert.match(await problem(visitor).innerText(), text)
  assert.equal(await problem(visitor).getAttribute('role'), 'alert')
}

describe('a passkey of the device, synced', () => {
  test('a user adds it after a login with a password, and the login page signs them in with it by itself', async (t) => {
    const visitor = await signedUp(t)
    await addAuthenticator(visitor.page, { synced: true })
    assert.match(await visitor.page.locator('main > .offer', { hasText: 'password' }).innerText(), /Add a passkey/)
    await add(visitor)
    const [name] = await names(visitor)
    assert.ok(name)
    const section = await visitor.page.locator(SECTION).innerText()
    assert.match(section, /Can sync between devices/)
    assert.match(section, /Not used yet/)
    await logOut(visitor)
    await Promise.all([visitor.page.waitForURL('**/shop'), visitor.open(LOGIN)])
    assert.deepEqual(await amr(visitor), ['swk', 'mfa'])
    await visitor.open(ACCOUNT)
    assert.match(await visitor.page.locator(SECTION).innerText(), /Last used just now/)
  })

  test('a challenge is renewed before it ends, and a form with a password is sent while the browser offers passkeys', async (t) => {
    const visitor = await signedUp(t)
    const device = await addAuthenticator(visitor.page, { synced: true })
    await add(visitor)
    await device.setPresent(false)
    await logOut(visitor)
    await visitor.page.clock.install()
    const nextChallenge = async (action: () => Promise<unknown>): Promise<string> => {
      const [response] = await Promise.all([visitor.page.waitForResponse(/login\/options$/), action()])
      return ((await response.json()) as { challenge: string }).challenge
    }
    const pass = async (minutes: number) => {
      await clock.turnTo(clock.aheadMs() + minutes * 60_000)
      await visitor.page.clock.fastForward(minutes * 60_000)
    }
    const challenges = [await nextChallenge(() => visitor.open(LOGIN)), await nextChallenge(() => pass(4.5))]
    challenges.push(await nextChallenge(() => pass(4.5)))
    assert.equal(new Set(challenges).size, 3)
    await logInInWindow(visitor, visitor.person)
    assert.equal(visitor.path(), '/shop')
    assert.deepEqual(await amr(visitor), ['pwd'])
    await logOut(visitor)
    await nextChallenge(() => visitor.open(LOGIN))
    await device.setPresent(true)
    await Promise.all([visitor.page.waitForURL('**/shop'), pass(4.5)])
    assert.deepEqual(await amr(visitor), ['swk', 'mfa'])
  })
})

describe('a security key', () => {
  test('with the keyboard alone, a user adds it, and signs in with the button', async (t) => {
    const visitor = await signedUp(t)
    const { page } = visitor
    const key = await addAuthenticator(page, { platform: false })
    const pressOn = async (text: string) => {
      await tabTo(page, `button:text-is("${text}")`)
      await page.keyboard.press('Enter')
    }
    await tabTo(page, 'summary:has-text("Add a passkey")')
    await page.keyboard.press('Enter')
    await Promise.all([page.waitForURL(/done=passkey_added|second-factor/), pressOn('Add a passkey')])
    await visitor.open(ACCOUNT)
    assert.match(await page.locator(SECTION).innerText(), /On one device only/)
    // A browser that has no suggestions for the field.
    await page.addInitScript('PublicKeyCredential.isConditionalMediationAvailable = undefined')
    await logOut(visitor)
    await visitor.open(LOGIN)
    await Promise.all([page.waitForURL('**/shop'), pressOn('Log in with a passkey')])
    assert.deepEqual(await amr(visitor), ['hwk', 'mfa'])
    assert.equal((await key.ids()).length, 1)
  })

  test('one without a PIN can neither be added nor used, and the page says what it lacks', async (t) => {
    const visitor = await signedUp(t)
    const key = await addAuthenticator(visitor.page, { platform: false, canVerify: false })
    await press(visitor)
    await assertProblem(visitor, /No passkey was added|screen lock/)
    assert.deepEqual(await key.ids(), [])
    await focusOn(visitor.page, 'button:text-is("Add a passkey")')
    await key.remove()
    const wrongFinger = await addAuthenticator(visitor.page)
    await wrongFinger.setVerified(false)
    await press(visitor)
    await assertProblem(visitor, /No passkey was added/)
    await wrongFinger.setVerified(true)
    await add(visitor)
    await wrongFinger.setVerified(false)
    await visitor.page.addInitScript('PublicKeyCredential.isConditionalMediationAvailable = undefined')
    await logOut(visitor)
    await visitor.open(LOGIN)
    await press(visitor)
    await assertProblem(visitor, /^No passkey was used/)
  })
})

test('two passkeys: the same device adds no second one; names change; the removed one signs nobody in, and the browser forgets it', async (t) => {
  const visitor = await signedUp(t, { isExpected: REFUSAL })
  const { page } = visitor
  const first = await addAuthenticator(page)
  await add(visitor)
  await confirm(visitor)
  await press(visitor)
  await assertProblem(visitor, /already has a passkey/)
  const lost = await first.stored()
  await first.setPresent(false)
  const second = await addAuthenticator(page, { platform: false })
  await add(visitor)
  assert.equal((await names(visitor)).length, 2)

  const row = page.locator(ROW).first()
  await row.locator('summary').click()
  await row.locator('input[name="name"]').fill('x'.repeat(65))
  await row.locator('form button').first().click()
  await page.locator('input[name="name"][aria-invalid]:focus').waitFor()
  assert.match(await page.locator('[role="alert"]').innerText(), /1 to 64/)
  await page.locator('input[aria-invalid]').fill('Büro <b>&')
  await Promise.all([page.waitForURL(/done=passkey_renamed/), page.keyboard.press('Enter')])
  assert.ok((await names(visitor)).includes('Büro <b>&'))

  await visitor.open(ACCOUNT)
  const remove = page.locator(ROW, { hasText: 'Büro' }).locator('button[name="remove"]')
  await openRowOf(remove)
  await Promise.all([page.waitForURL(/done=passkey_removed/), remove.click()])
  assert.equal((await names(visitor)).length, 1)
  await page.waitForLoadState('load')
  const left = async () => [...(await first.ids()), ...(await second.ids())]
  for (let tries = 0; (await left()).length > 1 && tries < 50; tries += 1) await page.waitForTimeout(50)
  assert.equal((await left()).length, 1, 'the browser has forgotten the one that was removed')

  await second.remove()
  await page.addInitScript('PublicKeyCredential.isConditionalMediationAvailable = undefined')
  await logOut(visitor)
  await first.restore(lost)
  await first.setPresent(true)
  await visitor.open(LOGIN)
  await press(visitor)
  await assertProblem(visitor, /^This passkey doesn’t work here/)
  for (let tries = 0; (await first.ids()).length > 0 && tries < 50; tries += 1) await page.waitForTimeout(50)
  assert.deepEqual(await first.ids(), [], 'the browser has forgotten what nobody knows')
})

test('the page says so in the words of people when there is no passkey, no network, no answer, or another address', async (t) => {
  const visitor = await newWindow(t, { isExpected: /./ })
  const { page } = visitor
  await addAuthenticator(page)
  await page.addInitScript('PublicKeyCredential.isConditionalMediationAvailable = undefined')
  await visitor.open('/auth/login')
  await press(visitor)
  await assertProblem(visitor, /^No passkey was used: .* there’s none for this site here/)
  assert.equal(await button(visitor).getAttribute('aria-disabled'), null)
  const answers: [object, RegExp][] = [
    [{ status: 429, json: { error: {} } }, /^Too many attempts/],
    [{ status: 503, json: { error: {} } }, /went wrong on our side/],
    [{ status: 403, json: { error: {} } }, /This page expired/],
    [
      { status: 401, headers: { 'x-svc-reason': 'passkey_wrong' }, json: { error: {} } },
      /couldn’t verify this passkey/,
    ],
    [{ status: 410, json: { error: {} } }, /^This link no longer works/],
    [{ status: 200, body: '<h1>Welcome to our hotel</h1>' }, /We couldn’t connect/],
  ]
  for (const [answer, text] of answers) {
    await page.route('**/login/options', (route) => route.fulfill(answer))
    await visitor.open('/auth/login')
    await press(visitor)
    await assertProblem(visitor, text)
    await page.unroute('**/login/options')
  }
  await page.route('**/login/options', (route) =>
    route.fulfill({ status: 403, headers: { location: '/shop' }, json: { error: {} } }),
  )
  await visitor.open('/auth/login')
  await Promise.all([page.waitForURL('**/shop'), press(visitor)])
  await page.unroute('**/login/options')
  await visitor.open('/auth/login')
  await visitor.context.setOffline(true)
  await press(visitor)
  await assertProblem(visitor, /We couldn’t connect/)
  await visitor.context.setOffline(false)
  await visitor.open(`http://127.0.0.1:${service.port}/auth/login`)
  await press(visitor)
  await assertProblem(visitor, /don’t work at this address/)
})

test('a browser that knows no passkeys shows the other ways on the login page, and says so on the account page', async (t) => {
  const visitor = await signedUp(t)
  await visitor.page.addInitScript('delete globalThis.PublicKeyCredential')
  await visitor.open(ACCOUNT)
  await openRowOf(button(visitor))
  assert.match(await visitor.page.locator('[data-passkey]').innerText(), /^This browser doesn’t support passkeys/)
  await logOut(visitor)
  await visitor.open(LOGIN)
  assert.equal(await visitor.page.locator('[data-passkey]').isVisible(), false)
  await logInInWindow(visitor, visitor.person)
  assert.equal(visitor.path(), '/shop')
})

test('with scripts off, each page says what passkeys need, and all else works', async (t) => {
  const visitor = await signedUp(t, { scripts: false })
  const { page } = visitor
  await openRowOf(button(visitor))
  assert.match(await page.locator(SECTION).innerText(), /Passkeys need JavaScript/)
  assert.equal(await button(visitor).isVisible(), false)
  await visitor.submit('/auth/logout', {})
  await visitor.open(LOGIN)
  assert.match(await page.locator('main').innerText(), /Passkeys need JavaScript/)
  assert.equal(await button(visitor).isVisible(), false)
})

test('a user who has forgotten the password sets a new one with a link and the passkey', async (t) => {
  const visitor = await newWindow(t)
  const { page } = visitor
  const [{ email, password: forgotten }, { password }] = [newPerson(), newPerson()]
  const { token } = await invite(service, email)
  await visitor.open(`/auth/invite?token=${token}`)
  await assertUsable(visitor)
  await visitor.submit('/auth/invite', { password: forgotten })
  await addAuthenticator(page, { synced: true })
  await visitor.open(ACCOUNT)
  await add(visitor)
  await page.addInitScript('PublicKeyCredential.isConditionalMediationAvailable = undefined')
  await logOut(visitor)
  await visitor.open(`/auth/password/reset?token=${await resetTokenOf(service, email)}`)
  await assertUsable(visitor)
  await page.locator('#password').fill(password)
  await Promise.all([page.waitForURL(/ways-in|second-factor|\/$/), press(visitor)])
  assert.deepEqual(await amr(visitor), ['swk', 'mfa'])
  await logOut(visitor)
  await visitor.open(LOGIN)
  await logInInWindow(visitor, { email, password })
  assert.equal(visitor.path(), '/shop')
})

test('where more than a password is required, a passkey is added on the way in, and asked for from then on', async (t) => {
  const strict = await startService({ t, env: { SVC_SECOND_FACTOR: 'required' } })
  const visitor = await openWindow(browser, strict)
  const { page } = visitor
  const person = newPerson()
  await addAuthenticator(page, { synced: true })
  await visitor.open('/auth/signup?return_to=%2Fshop')
  await signUpInWindow(visitor, person)
  assert.match(visitor.path(), /^\/auth\/login\/enrol/)
  await assertUsable(visitor)
  await Promise.all([page.waitForURL(/\/auth\/account\/second-factor\?return_to=%2Fshop/), press(visitor)])
  assert.deepEqual(await amr(visitor), ['swk', 'mfa'])
  await page.addInitScript('PublicKeyCredential.isConditionalMediationAvailable = undefined')
  await logOut(visitor)
  await visitor.open(LOGIN)
  await logInInWindow(visitor, person)
  assert.match(visitor.path(), /^\/auth\/login\/code/)
  await assertUsable(visitor)
  await Promise.all([page.waitForURL('**/shop'), press(visitor)])
  assert.deepEqual(await amr(visitor), ['swk', 'mfa'])
  await visitor.context.close()
})

test('where there are neither passwords nor providers, an invitation and a link with a recovery code make passkeys', async (t) => {
  const alone = await startService({ t, env: { SVC_PASSWORDS: 'off' } })
  const { user, token } = await invite(alone, `${newPerson().username}@example.com`)
  const visitor = await openWindow(browser, alone)
  const { page } = visitor
  const first = await addAuthenticator(page)
  await visitor.open(`/auth/invite?token=${token}`)
  assert.match(await page.locator('main').innerText(), /Choose how to log in\./)
  await assertUsable(visitor)
  await Promise.all([page.waitForURL(/\/auth\/account\/second-factor/), press(visitor)])
  const codes = (await page.locator('main').innerText()).match(/\b[A-Z0-9]{4}(?:-[A-Z0-9]{4})+\b/gi) ?? []
  assert.equal(codes.length, 10)
  await logOut(visitor)

  await first.remove()
  await addAuthenticator(page, { platform: false })
  await visitor.open(`/auth/password/reset?token=${await resetTokenOf(alone, user.email)}`)
  await assertUsable(visitor)
  await page.locator('#recovery_code').fill('not a code')
  await press(visitor)
  await problem(visitor).waitFor()
  assert.match(await problem(visitor).innerText(), /^That recovery code is wrong/)
  await page.locator('#recovery_code').fill(codes[0] ?? '')
  await Promise.all([page.waitForURL(/ways-in|done=passkey_added|\/$/), page.keyboard.press('Enter')])
  await visitor.open(ACCOUNT)
  assert.equal((await names(visitor)).length, 2)
  await visitor.context.close()
})

const assertUsable = async (visitor: BrowserWindow) => {
  const { page } = visitor
  assert.deepEqual(await violations(page), [])
  await page.emulateMedia({ colorScheme: 'light', forcedColors: 'active' })
  const hidden = await page.evaluate(`[...document.querySelectorAll('[data-passkey] button, .problem')].filter(
    (one) => getComputedStyle(one).color === getComputedStyle(one).backgroundColor).length`)
  assert.equal(hidden, 0)
  await page.emulateMedia({ forcedColors: 'none' })
  await page.setViewportSize({ width: 320, height: 640 })
  const overflow = await page.evaluate('document.documentElement.scrollWidth - window.innerWidth')
  assert.ok(Number(overflow) <= 0, page.url())
  await page.setViewportSize({ width: 1280, height: 720 })
}

describe('an accessibility check, light and dark, in forced colours, and no wider than a small phone', () => {
  test('the login page, the account page with and without passkeys, with a form open, and with a problem', async (t) => {
    const visitor = await signedUp(t)
    const { page } = visitor
    await addAuthenticator(page, { synced: true })
    await openRowOf(button(visitor))
    await page.locator('summary', { hasText: 'What is a passkey?' }).waitFor()
    assert.equal(await page.locator('details[open] p', { hasText: 'A passkey logs you in' }).isVisible(), true)
    await assertUsable(visitor)
    await add(visitor)
    await assertUsable(visitor)
    await visitor.open('/auth/account/confirm')
    await assertUsable(visitor)
    await confirm(visitor)
    await page.locator(`${ROW} summary`).first().click()
    await press(visitor)
    await problem(visitor).waitFor()
    await assertUsable(visitor)
    await page.addInitScript('PublicKeyCredential.isConditionalMediationAvailable = undefined')
    await logOut(visitor)
    await visitor.open('/auth/login')
    await assertUsable(visitor)
  })

  test('without passwords and providers, the login page is a button', async (t) => {
    const alone = await startService({ t, env: { SVC_PASSWORDS: 'off' } })
    const visitor = await openWindow(browser, alone)
    const { page } = visitor
    await addAuthenticator(page)
    await visitor.open('/auth/login?return_to=%2Fshop')
    assert.equal(await page.locator('main input:not([type="hidden"])').count(), 0)
    await assertUsable(visitor)
    await press(visitor)
    await assertProblem(visitor, /^No passkey was used: .* there’s none for this site here/)
    await assertUsable(visitor)
    assert.deepEqual(visitor.complaints, [])
    await visitor.context.close()
  })
})
