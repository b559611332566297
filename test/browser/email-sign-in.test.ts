// Runs on SQLite.
import assert from 'node:assert/strict'
import { after, describe, type TestContext, test } from 'node:test'
import { addAuthenticator } from '../support/browser/authenticator.ts'
import { launchChrome } from '../support/browser/chrome.ts'
import { type BrowserWindow, focusOn, openWatchedWindow } from '../support/browser/window.ts'
import { newPerson, type Person } from '../support/client/accounts.ts'
import { createUserAgent } from '../support/client/user-agent.ts'
import { turnedClock } from '../support/clock/turned-clock.ts'
import type { ReceivedMail } from '../support/network/smtp-server.ts'
import { ASK, CODE, codeOf, LINK, startSignInByMail, WRONG } from '../support/recovery/sign-in-by-mail.ts'
import { setUpCodes } from '../support/second-factor/account-with-codes.ts'
import { storePasskey } from '../support/second-factor/guarded-account.ts'
import { eventually } from '../support/wait.ts'

const clock = turnedClock()
const { service, smtp, core, newUser, signInMails } = await startSignInByMail({ clock })
const browser = await launchChrome()
after(() => browser.close())

const newWindow = (t: TestContext, { scripts = true, of = service } = {}): Promise<BrowserWindow> =>
  openWatchedWindow(t, browser, of, { scripts })

const textOf = ({ page }: BrowserWindow): Promise<string> => page.locator('main').innerText()

const press = ({ page }: BrowserWindow, name: string) =>
  Promise.all([page.waitForEvent('load'), page.getByRole('button', { name, exact: true }).click()])

/** With the password, by the first button: that for a code is the last. */
const logIn = async (visitor: BrowserWindow, { email, password }: Pick<Person, 'email' | 'password'>) => {
  const { page } = visitor
  await visitor.open('/auth/login')
  await page.locator('input[name="email"]').fill(email)
  await page.locator('input[name="password"]').fill(password)
  await Promise.all([page.waitForEvent('load'), page.locator('form[action="/auth/login"] button.first').click()])
}

/** Types the address on the login page, presses "Email me a code", and resolves to the message. */
const askOnLoginPage = async (visitor: BrowserWindow, email: string, returnTo = '/shop'): Promise<ReceivedMail> => {
  await visitor.open(`/auth/login?return_to=${encodeURIComponent(returnTo)}`)
  await visitor.page.locator('input[name="email"]').fill(email)
  const before = signInMails(email).length
  await press(visitor, 'Email me a code')
  await eventually(`a message to ${email}`, () => signInMails(email).length > before)
  return signInMails(email).at(-1) as ReceivedMail
}

const pathOf = ({ link }: ReceivedMail, of = service): string => link.slice(of.url.length)

const isSignedIn = async ({ page }: BrowserWindow): Promise<boolean> =>
  (await page.request.get('/auth/api/v1/user')).status() === 200

for (const scripts of [true, false])
  describe(`with scripts ${scripts ? 'on' : 'off'}`, () => {
    test('a user types the code where it was asked for, after wrong ones, and goes on', async (t) => {
      const { email } = await newUser()
      const visitor = await newWindow(t, { scripts })
      const mail = await askOnLoginPage(visitor, email)
      assert.match(await textOf(visitor), new RegExp(`If ${email} can log in here, a code is on its way`))
      await focusOn(visitor.page, '#code')
      const field = visitor.page.locator('#code')
      assert.equal(await field.getAttribute('autocomplete'), 'one-time-code')
      assert.equal(await field.getAttribute('inputmode'), 'numeric')
      await visitor.submit(CODE, { code: WRONG })
      assert.equal(await field.getAttribute('aria-invalid'), 'true')
      await visitor.submit(CODE, { code: codeOf(mail).replace(/^(....)/, '$1 ') })
      assert.equal(visitor.path(), '/shop')
      assert.ok(await isSignedIn(visitor))

      // Back: the form of the code is not sent once more, and no page of it signs in again.
      await visitor.open('/auth/logout')
      await visitor.submit('/auth/logout', {})
      await visitor.open(CODE)
      await visitor.submit(CODE, { code: codeOf(mail) })
      assert.ok(!(await isSignedIn(visitor)))
      await visitor.page.goBack()
      assert.ok(!(await isSignedIn(visitor)))
    })

    test('five wrong codes end the code, and its link still signs in', async (t) => {
      const { email } = await newUser()
      const visitor = await newWindow(t, { scripts })
      const mail = await askOnLoginPage(visitor, email)
      for (let tries = 1; tries <= 6; tries += 1) await visitor.submit(CODE, { code: WRONG })
      assert.match(await textOf(visitor), /Too many wrong codes\. Open the link/)
      await visitor.open(pathOf(mail))
      assert.match(await textOf(visitor), /You’ll be logged in as/)
      await press(visitor, 'Log in')
      assert.equal(visitor.path(), '/shop')
    })

    test('the link in another browser signs in there, and never where it was asked for', async (t) => {
      const { email } = await newUser()
      const [asking, other] = [await newWindow(t, { scripts }), await newWindow(t, { scripts })]
      const mail = await askOnLoginPage(asking, email)
      await other.open(pathOf(mail))
      assert.match(await textOf(other), /You asked for this on another device\. Log in here instead\?/)
      assert.ok(!(await isSignedIn(other)))
      await press(other, 'Log in')
      assert.equal(other.path(), '/')
      assert.deepEqual([await isSignedIn(other), await isSignedIn(asking)], [true, false])
      await asking.submit(CODE, { code: codeOf(mail) })
      assert.ok(!(await isSignedIn(asking)), 'the link has used up the code')
    })
  })

test('a scanner that opens every link first, in a browser of its own, uses nothing up', async (t) => {
  const { email } = await newUser()
  const [visitor, scanner] = [await newWindow(t), await newWindow(t)]
  const mail = await askOnLoginPage(visitor, email)
  for (const url of mail.links.filter((link) => link.startsWith(service.url)))
    await scanner.open(url.slice(service.url.length) || '/')
  const head = await createUserAgent(service).send({ method: 'HEAD', path: pathOf(mail) })
  assert.equal(head.status, 200)
  assert.ok(!(await isSignedIn(scanner)))
  await visitor.submit(CODE, { code: codeOf(mail) })
  assert.equal(visitor.path(), '/shop')
})

test('two tabs ask for two addresses: each takes the code of its own', async (t) => {
  const [one, two] = [await newUser(), await newUser()]
  const visitor = await newWindow(t)
  const first = await askOnLoginPage(visitor, one.email, '/one')
  const tab = await visitor.context.newPage()
  await tab.goto('/auth/login/email?return_to=%2Ftwo')
  await tab.locator('input[name="email"]').fill(two.email)
  await Promise.all([tab.waitForEvent('load'), tab.getByRole('button', { name: 'Email me a code' }).click()])
  const second = await smtp.receivedFor(two.email)
  await visitor.submit(CODE, { code: codeOf(second) })
  assert.equal(await visitor.page.locator('#code').getAttribute('aria-invalid'), 'true', 'of the other address')
  await visitor.submit(CODE, { code: codeOf(first) })
  assert.equal(visitor.path(), '/one')
})

test('"Send another" comes after half a minute, and both codes work; "Use another address" begins again', async (t) => {
  const { email } = await newUser()
  const visitor = await newWindow(t)
  const first = await askOnLoginPage(visitor, email)
  const again = visitor.page.getByRole('button', { name: 'Send another' })
  assert.equal(await again.isVisible(), false)
  // The style sheet waits; a test need not.
  await visitor.page.evaluate('document.getAnimations().forEach((animation) => animation.finish())')
  assert.equal(await again.isVisible(), true)
  await Promise.all([visitor.page.waitForEvent('load'), again.click()])
  const second = await smtp.receivedFor(email, 2)
  assert.notEqual(codeOf(second), codeOf(first))
  await visitor.submit(CODE, { code: codeOf(first) })
  assert.equal(visitor.path(), '/shop')

  const next = await newWindow(t)
  await askOnLoginPage(next, email)
  await Promise.all([
    next.page.waitForEvent('load'),
    next.page.getByRole('link', { name: 'Use another address' }).click(),
  ])
  assert.equal(next.path(), `${ASK}?return_to=%2Fshop`)
})

test('an address without an account gets the same page, and an account by the code', async (t) => {
  const { email } = newPerson()
  const visitor = await newWindow(t)
  const mail = await askOnLoginPage(visitor, email)
  assert.match(mail.text, /This email address has no account yet/)
  await visitor.submit(CODE, { code: codeOf(mail) })
  assert.equal(visitor.path(), '/shop')
  await visitor.open('/auth/account')
  assert.match(await textOf(visitor), /Log in faster next time, without a code\?/)
})

test('an unverified account that was made by someone else goes to the owner of its address, who is told before', async (t) => {
  const attacker = newPerson()
  const taken = await newWindow(t)
  await taken.open('/auth/signup')
  await taken.submit('/auth/signup', attacker)
  const owner = await newWindow(t)
  const mail = await askOnLoginPage(owner, attacker.email)
  await owner.open(pathOf(mail))
  assert.match(await textOf(owner), /All earlier ways to log in, and two-step verification, are removed/)
  await press(owner, 'Log in')
  assert.deepEqual([await isSignedIn(owner), await isSignedIn(taken)], [true, false])
  await logIn(taken, attacker)
  assert.ok(!(await isSignedIn(taken)), 'nor by the password')
})

test('the second factor is asked for after the code', async (t) => {
  const user = await newUser()
  const app = await setUpCodes({ core, clock }, { id: user.id, person: user })
  const visitor = await newWindow(t)
  const mail = await askOnLoginPage(visitor, user.email)
  await visitor.submit(CODE, { code: codeOf(mail) })
  assert.equal(visitor.path(), '/auth/login/code?return_to=%2Fshop')
  assert.ok(!(await isSignedIn(visitor)))
  await visitor.submit('/auth/login/code', { code: await app.nextCode() })
  assert.equal(visitor.path(), '/shop')
})

test('an account with a passkey: no code in an unknown browser, its link works in a known one', async (t) => {
  const user = await newUser()
  const known = await newWindow(t)
  await logIn(known, user)
  assert.ok(await isSignedIn(known))
  await storePasskey(core, user.id)
  await known.open('/auth/logout')
  await known.submit('/auth/logout', {})

  const unknown = await newWindow(t)
  const mail = await askOnLoginPage(unknown, user.email)
  assert.match(await textOf(unknown), /can log in here, a code is on its way/)
  assert.doesNotMatch(mail.text, /^\d{8}$/m)
  await unknown.open(pathOf(mail))
  assert.match(await textOf(unknown), /Use your passkey/)
  await known.open(pathOf(mail))
  await press(known, 'Log in')
  assert.ok(await isSignedIn(known))
  assert.match((await askOnLoginPage(await newWindow(t), newPerson().email)).text, /^\d{8}$/m)
})

test('without passwords: signup and login by mail, then by the passkey that the account page has offered', async (t) => {
  const without = await startSignInByMail({ t, env: { SVC_PASSWORDS: 'off' } })
  const { email } = newPerson()
  const visitor = await newWindow(t, { of: without.service })
  await addAuthenticator(visitor.page)
  await visitor.open('/auth/login')
  await visitor.page.getByRole('link', { name: 'Create an account' }).click()
  await visitor.submit(ASK, { email })
  const mail = await without.smtp.receivedFor(email)
  await visitor.open(mail.link.slice(without.service.url.length))
  await visitor.submit(LINK, {})
  assert.ok(await isSignedIn(visitor))
  await visitor.open('/auth/account')
  await visitor.page.getByRole('link', { name: 'Add a passkey' }).click()
  await visitor.page
    .getByRole('button', { name: /passkey/i })
    .first()
    .click()
  await visitor.page.waitForURL(/second-factor/)
  await visitor.open('/auth/logout')
  await visitor.submit('/auth/logout', {})
  // The browser offers the passkey by itself, and its user takes it.
  await visitor.page.goto('/auth/login', { waitUntil: 'commit' })
  await visitor.page.waitForURL((url) => !url.pathname.startsWith('/auth/login'))
  assert.ok(await isSignedIn(visitor))
})
