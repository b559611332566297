// Runs on SQLite.
import assert from 'node:assert/strict'
import { type TestContext, after, describe, test } from 'node:test'
import { launchChrome } from '../support/browser/chrome.ts'
import {
  type BrowserWindow,
  focusOn,
  logInInWindow,
  openWindow,
  signUpInWindow,
  tabTo,
} from '../support/browser/window.ts'
import { newPerson, signedUp } from '../support/client/accounts.ts'
import { assertCannotLogIn } from '../support/client/assertions.ts'
import { startService } from '../support/service/service.ts'

const service = await startService()
const browser = await launchChrome()
after(() => browser.close())

const account = '/auth/account'

/** A window that is closed after the test. Fails if the browser reported an error. */
const newWindow = async (t: TestContext, scripts: boolean): Promise<BrowserWindow> => {
  const visitor = await openWindow(browser, service, { scripts })
  t.after(async () => {
    await visitor.context.close()
    assert.deepEqual(visitor.complaints, [], 'no error in the console, nothing blocked by the policy')
  })
  return visitor
}

const assertAsksToLogIn = async (visitor: BrowserWindow) => {
  await visitor.open(account)
  assert.equal(visitor.path(), '/auth/login?return_to=%2Fauth%2Faccount')
}

for (const scripts of [true, false]) {
  describe(`with scripts ${scripts ? 'on' : 'off'}`, () => {
    test('a visitor signs up on the way to a page, and is sent there', async (t) => {
      const visitor = await newWindow(t, scripts)
      await visitor.open('/auth/login?return_to=%2Fshop%3Fitem%3D1%23top')
      await visitor.page.locator('a[href^="/auth/signup"]').click()
      await signUpInWindow(visitor, newPerson())
      assert.equal(visitor.path(), '/shop?item=1#top')
      await visitor.open(account)
      assert.equal(visitor.path(), account)
    })

    test('a visitor mistypes, sees where, corrects it and is signed in', async (t) => {
      const visitor = await newWindow(t, scripts)
      const person = newPerson()
      await visitor.open('/auth/signup')
      await signUpInWindow(visitor, { ...person, password: 'password' })
      const password = visitor.page.locator('input[name="password"]')
      assert.equal(await password.getAttribute('aria-invalid'), 'true')
      assert.equal(await password.inputValue(), '')
      assert.equal(await visitor.page.locator('input[name="email"]').inputValue(), person.email)
      await focusOn(visitor.page, 'input[name="password"]')
      const describedBy = await password.getAttribute('aria-describedby')
      assert.ok(describedBy?.split(' ').length, 'the error is tied to its field')
      await visitor.submit('/auth/signup', { password: person.password })
      assert.equal(visitor.path(), '/')
    })

    test('a user logs in with return_to, at first with a wrong password', async (t) => {
      const [first, later] = [await newWindow(t, scripts), await newWindow(t, scripts)]
      const person = newPerson()
      await first.open('/auth/signup')
      await signUpInWindow(first, person)
      await later.open('/auth/login?return_to=%2Fcaf%C3%A9')
      await logInInWindow(later, { ...person, password: 'not my password' })
      assert.equal(await later.page.locator('input[name="email"]').inputValue(), person.email)
      assert.ok(await later.page.locator('[role="alert"]').first().isVisible(), 'the error is announced')
      await logInInWindow(later, person)
      assert.equal(later.path(), '/caf%C3%A9')
    })

    test('a user signs up with a taken email, logs in with it by one click, and no Referer repeats it', async (t) => {
      const visitor = await newWindow(t, scripts)
      const { person } = await signedUp(service)
      const referers: string[] = []
      visitor.page.on('request', (request) => referers.push(request.headers().referer ?? ''))
      await visitor.open('/auth/signup')
      await signUpInWindow(visitor, { ...newPerson(), email: person.email })
      await Promise.all([
        visitor.page.waitForURL(/\/auth\/login\?email=/),
        visitor.page.locator('.svc-field a[href^="/auth/login"]').click(),
      ])
      await visitor.submit('/auth/login', { password: person.password })
      assert.equal(visitor.path(), '/', 'the Origin of the form was real')
      assert.deepEqual(
        referers.filter((referer) => referer.includes('email')),
        [],
      )
    })

    test('a user changes the password in one window, and the other is signed out', async (t) => {
      const [laptop, phone] = [await newWindow(t, scripts), await newWindow(t, scripts)]
      const person = newPerson()
      await laptop.open('/auth/signup')
      await signUpInWindow(laptop, person)
      await phone.open('/auth/login?return_to=%2Fauth%2Faccount')
      await logInInWindow(phone, person)
      assert.equal(phone.path(), account)
      await laptop.open(account)
      const now = { ...person, password: newPerson().password }
      const action = '/auth/account/password'
      await laptop.submit(action, { current_password: 'not my password', new_password: now.password })
      assert.equal(await laptop.page.locator('input[name="current_password"]').getAttribute('aria-invalid'), 'true')
      await laptop.submit(action, { current_password: person.password, new_password: now.password })
      assert.equal(laptop.path(), '/auth/account?done=password#signing-in')
      await assertAsksToLogIn(phone)
      await logInInWindow(phone, person)
      assert.match(phone.path(), /^\/auth\/login/, 'the old password is no longer good')
      await logInInWindow(phone, now)
      assert.equal(phone.path(), account)
    })

    test('a user ends a session from the list, then all others', async (t) => {
      const [laptop, phone, tablet] = [
        await newWindow(t, scripts),
        await newWindow(t, scripts),
        await newWindow(t, scripts),
      ]
      const person = newPerson()
      await laptop.open('/auth/signup')
      await signUpInWindow(laptop, person)
      await laptop.open(account)
      assert.equal(await laptop.page.locator('button[name="session_id"]').count(), 0, 'only this one')
      await phone.open('/auth/login')
      await logInInWindow(phone, person)
      await laptop.open(account)
      const ends = laptop.page.locator('button[name="session_id"]')
      assert.equal(await ends.count(), 1)
      await Promise.all([laptop.page.waitForEvent('load'), ends.first().click()])
      assert.equal(laptop.path(), '/auth/account?done=session#devices')
      await assertAsksToLogIn(phone)
      await logInInWindow(phone, person)
      await tablet.open('/auth/login')
      await logInInWindow(tablet, person)
      await laptop.open(account)
      const endAll = laptop.page.locator('button[name="all_others"]')
      await Promise.all([laptop.page.waitForEvent('load'), endAll.click()])
      assert.equal(laptop.path(), '/auth/account?done=sessions#devices')
      await assertAsksToLogIn(phone)
      await assertAsksToLogIn(tablet)
      await laptop.open(account)
      assert.equal(laptop.path(), account)
    })

    test('a user changes the username and sees it', async (t) => {
      const visitor = await newWindow(t, scripts)
      await visitor.open('/auth/signup')
      await signUpInWindow(visitor, newPerson())
      await visitor.open(account)
      const { username } = newPerson()
      await visitor.submit('/auth/account/username', { username })
      assert.equal(visitor.path(), '/auth/account?done=username#profile')
      assert.equal(await visitor.page.locator('input[name="username"]').inputValue(), username)
      await focusOn(visitor.page, ':is(#profile, #done)')
      assert.match(await visitor.page.locator('section:has(#done)').innerText(), /Username changed/)
      // The browser scrolls there when the page is laid out, which can be after it gave the focus.
      await visitor.page.waitForFunction('scrollY > 0')
    })

    test('a user logs out, and the back button does not bring the account back', async (t) => {
      const visitor = await newWindow(t, scripts)
      const person = newPerson()
      await visitor.open('/auth/signup')
      await signUpInWindow(visitor, person)
      await visitor.open(account)
      await visitor.submit('/auth/logout', {})
      assert.equal(visitor.path(), '/')
      await visitor.page.goBack()
      assert.ok(!(await visitor.page.content()).includes(person.email))
      await assertAsksToLogIn(visitor)
    })

    test('a user deletes the account, with the password', async (t) => {
      const visitor = await newWindow(t, scripts)
      const person = newPerson()
      await visitor.open('/auth/signup')
      await signUpInWindow(visitor, person)
      await visitor.open(account)
      await visitor.submit('/auth/account/delete', { password: 'not my password' })
      const password = visitor.page.locator('form[action="/auth/account/delete"] input[name="password"]')
      assert.ok(await password.isVisible(), 'the form is still open')
      assert.equal(await password.getAttribute('aria-invalid'), 'true')
      await visitor.submit('/auth/account/delete', { password: person.password })
      assert.equal(visitor.path(), '/auth/login?done=deleted')
      assert.ok(await visitor.page.locator('[role="status"]').first().isVisible(), 'it is announced')
      await assertCannotLogIn(service, person)
    })

    test('a form of a page that was open while the session ended leads to the login', async (t) => {
      const visitor = await newWindow(t, scripts)
      await visitor.open('/auth/signup')
      await signUpInWindow(visitor, newPerson())
      await visitor.open(account)
      const old = visitor.page
      const other = await visitor.context.newPage()
      await other.goto(account)
      const logOut = other.locator('form[action="/auth/logout"] button').last()
      await Promise.all([other.waitForEvent('load'), logOut.click()])
      await old.locator('summary', { hasText: 'Username' }).click()
      const save = old.locator('form[action="/auth/account/username"] button').last()
      await Promise.all([old.waitForEvent('load'), save.click()])
      assert.ok((await old.locator('h1').count()) === 1 && (await old.locator('a, form').count()) > 0)
      await assertAsksToLogIn(visitor)
    })
  })
}

test('every form can be reached and sent with the keyboard alone', async (t) => {
  const visitor = await newWindow(t, true)
  const person = newPerson()
  await visitor.open('/auth/signup?return_to=%2Fkeyboard')
  await visitor.page.locator('input[name="email"]').focus()
  await visitor.page.keyboard.type(person.email)
  await tabTo(visitor.page, 'input[name="password"]')
  await visitor.page.keyboard.type(person.password)
  await Promise.all([visitor.page.waitForEvent('load'), visitor.page.keyboard.press('Enter')])
  assert.equal(visitor.path(), '/keyboard')
})
