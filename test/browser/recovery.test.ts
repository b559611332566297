// Runs on SQLite.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, describe, type TestContext, test } from 'node:test'
import { addAuthenticator } from '../support/browser/authenticator.ts'
import { launchChrome } from '../support/browser/chrome.ts'
import {
  assertAccessible,
  type BrowserWindow,
  logInInWindow,
  openRowOf,
  openWatchedWindow,
} from '../support/browser/window.ts'
import { currentUser, newPerson, signedUp } from '../support/client/accounts.ts'
import { assertCanLogIn } from '../support/client/assertions.ts'
import { openDatabase } from '../support/database/database.ts'
import { startSmtpServer } from '../support/network/smtp-server.ts'
import { INVITE, invite } from '../support/recovery/invitation.ts'
import { FORGOT, RESET, resetMailFor, resetTokenOf, withNewPassword } from '../support/recovery/reset.ts'
import { runCommandOf } from '../support/service/operator-commands.ts'
import { startService } from '../support/service/service.ts'

const smtp = await startSmtpServer()
const service = await startService({ env: { ...smtp.env, SVC_EMAIL_VERIFICATION: 'off' } })
const withoutMail = await startService({ env: { SVC_SUPPORT_URL: 'https://help.example.com' } })
const database = await openDatabase(service)
const browser = await launchChrome()
after(() => browser.close())

const newWindow = (t: TestContext, scripts = true, of = service): Promise<BrowserWindow> =>
  openWatchedWindow(t, browser, of, { scripts })

const pathOf = (link: string): string => link.slice(service.url.length)

/** An account to which a provider is connected, and whose address is verified. */
const withProvider = async () => {
  const { agent, person } = await signedUp(service)
  const { id } = await currentUser(agent)
  await runCommandOf(service, ['users', 'verify-email', id])
  await database.rows(
    'INSERT INTO identities (id, user_id, provider, issuer, subject, email, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
    randomUUID(),
    id,
    'github',
    'https://github.com',
    randomUUID(),
    person.email,
    Date.now(),
  )
  return { person, token: await resetTokenOf(service, id) }
}

for (const scripts of [true, false]) {
  describe(`with scripts ${scripts ? 'on' : 'off'}`, () => {
    test('a user forgets the password, follows the link in the mail, and arrives at the application', async (t) => {
      const { person } = await signedUp(service)
      const next = withNewPassword(person)
      const visitor = await newWindow(t, scripts)
      await visitor.open('/auth/login?return_to=%2Fmembers%3Fpage%3D2')
      await visitor.submit('/auth/login', { email: person.email, password: 'not my password' })
      await visitor.page.getByRole('link', { name: 'Forgot your password?' }).click()
      assert.equal(await visitor.page.locator('input[name="email"]').inputValue(), person.email)
      await visitor.submit(FORGOT, {})
      assert.match(await visitor.page.locator('main').innerText(), /If there is an account, we have sent a link/)

      const { link } = await resetMailFor(smtp, person.email)
      await visitor.open(pathOf(link))
      assert.ok((await visitor.page.locator('main').innerText()).includes(person.email))
      await visitor.submit(RESET, { password: 'password' })
      assert.equal(await visitor.page.locator('input[name="password"]').getAttribute('aria-invalid'), 'true')
      await visitor.submit(RESET, { password: next.password })
      assert.equal(visitor.path(), '/members?page=2')
      await assertCanLogIn(service, next)

      await visitor.open(pathOf(link))
      assert.match(await visitor.page.locator('h1').innerText(), /Link already used/)
    })

    test('an invited user follows the link in the mail, chooses a password, and is logged in', async (t) => {
      const person = newPerson()
      await runCommandOf(service, ['users', 'invite', person.email, '--mail'])
      const { link } = await smtp.receivedFor(person.email)
      const visitor = await newWindow(t, scripts)
      await visitor.open(pathOf(link))
      assert.ok((await visitor.page.locator('main').innerText()).includes(person.email))
      await visitor.submit(INVITE, { password: 'password', username: 'a b' })
      for (const name of ['password', 'username'])
        assert.equal(await visitor.page.locator(`input[name="${name}"]`).getAttribute('aria-invalid'), 'true')
      await visitor.submit(INVITE, { password: person.password, username: person.username })
      assert.equal(visitor.path(), '/')
      await assertCanLogIn(service, person)
      await visitor.open(pathOf(link))
      assert.match(await visitor.page.locator('h1').innerText(), /Link already used/)
    })

    test('a user removes a provider that is not theirs after a reset, and goes on', async (t) => {
      const { token, person } = await withProvider()
      const visitor = await newWindow(t, scripts)
      await visitor.open(`${RESET}?token=${token}`)
      await visitor.submit(RESET, { password: withNewPassword(person).password })
      assert.match(visitor.path(), /^\/auth\/account\/ways-in\?/)
      await visitor.submit('/auth/account/identities', {})
      assert.equal(visitor.path(), '/')
    })
  })
}

const assertGood = async (visitor: BrowserWindow): Promise<void> => {
  await assertAccessible(visitor)
  await visitor.page.setViewportSize({ width: 320, height: 640 })
  const overflow = await visitor.page.evaluate('document.documentElement.scrollWidth - window.innerWidth')
  assert.ok(Number(overflow) <= 0, 'nothing is wider than a small phone')
}

describe('accessibility, light and dark, and 320 pixels wide', () => {
  test('forgot, refused and sent', async (t) => {
    const visitor = await newWindow(t)
    await visitor.open(FORGOT)
    await assertGood(visitor)
    await visitor.submit(FORGOT, { email: 'ada' })
    await assertGood(visitor)
    await visitor.submit(FORGOT, { email: 'ada@example.com' })
    await assertGood(visitor)
  })

  test('a new password, the other ways in, and a link that is not good', async (t) => {
    const { token, person } = await withProvider()
    const visitor = await newWindow(t)
    await visitor.open(`${RESET}?token=${token}`)
    await assertGood(visitor)
    await visitor.submit(RESET, { password: withNewPassword(person).password })
    await assertGood(visitor)
    await visitor.open(`${RESET}?token=${token}`)
    await assertGood(visitor)
  })

  test('an invitation, in place of another account and refused', async (t) => {
    const { token } = await invite(service, newPerson().email)
    const visitor = await newWindow(t)
    await visitor.open('/auth/signup')
    await visitor.submit('/auth/signup', newPerson())
    await visitor.open(`${INVITE}?token=${token}`)
    await assertGood(visitor)
    await visitor.submit(INVITE, { password: 'password', username: 'a b' })
    await assertGood(visitor)
  })

  test('without mail', async (t) => {
    const visitor = await newWindow(t, true, withoutMail)
    await visitor.open(FORGOT)
    await assertGood(visitor)
  })
})

/** A verified account whose passkey this window has, and a link for a new password; nobody is logged in. */
const withPasskey = async (t: TestContext) => {
  const { agent, person } = await signedUp(service)
  const { id } = await currentUser(agent)
  await runCommandOf(service, ['users', 'verify-email', id])
  const visitor = await newWindow(t)
  const device = await addAuthenticator(visitor.page, { synced: true })
  await visitor.open('/auth/login')
  await device.setPresent(false)
  await logInInWindow(visitor, person)
  await device.setPresent(true)
  await visitor.open('/auth/account')
  const add = visitor.page.locator('[data-passkey] button')
  await openRowOf(add)
  await Promise.all([visitor.page.waitForURL(/second-factor/), add.click()])
  await visitor.context.clearCookies()
  return { visitor, person, token: await resetTokenOf(service, id) }
}

describe('§4.16 a second factor on the page of a link', () => {
  test('a passkey sends the form with the new password, and the next page has a button that removes it', async (t) => {
    const { visitor, person, token } = await withPasskey(t)
    const next = withNewPassword(person)
    await visitor.open(`${RESET}?token=${token}`)
    await assertAccessible(visitor)
    await visitor.page.locator('input[name="password"]').fill(next.password)
    const use = visitor.page.locator('[data-passkey="fill"] button')
    await Promise.all([visitor.page.waitForURL(/ways-in/), use.click()])
    await assertAccessible(visitor)
    await visitor.page.getByRole('button', { name: /^Remove/ }).click()
    await visitor.page.waitForURL(`${service.url}/`)
    await assertCanLogIn(service, next)
  })
})
