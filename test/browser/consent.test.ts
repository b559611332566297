// Runs on SQLite.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { BrowserContext, Page } from 'playwright-core'
import { launchChrome } from '../support/browser/chrome.ts'
import { assertAccessible, logInInWindow, openWindow } from '../support/browser/window.ts'
import { newAgent, newPerson, type Person, signUp } from '../support/client/accounts.ts'
import { authorizePath, CLIENT_SETTINGS, madeClient } from '../support/clients/authorization.ts'
import { startService } from '../support/service/service.ts'

const service = await startService({ env: CLIENT_SETTINGS })
const CLIENT_ORIGIN = 'http://127.0.0.1:50123'
const redirect_uri = `${CLIENT_ORIGIN}/callback`
const SCHEME_URI = 'com.example.app:/callback'
const options = ['--type', 'native', '--redirect-uri', SCHEME_URI]
const client = await madeClient(service, { redirectUri: 'http://127.0.0.1/callback', options })
const resource = 'https://notes.example.com/mcp'
const path = authorizePath(client.id, { redirect_uri, resource })
const browser = await launchChrome()
after(() => browser.close())

const newUser = async (): Promise<Person> => {
  const person = newPerson()
  await signUp(newAgent(service), person)
  return person
}

const allowOn = (page: Page) => page.getByRole('button', { name: 'Allow', exact: true })

/** Turns the clock of the pages of a context by hand from now on. */
const stopClock = async ({ clock }: BrowserContext): Promise<void> => {
  await clock.install({ time: 0 })
  await clock.pauseAt(1000)
}

/** Tells whether a page that has opened another one can still watch it. */
const isWatched = (opener: Page): Promise<unknown> => opener.evaluate('!opened.closed')

test('a client watches the window that it has opened until that is back, and Allow waits on the way', async () => {
  const person = await newUser()
  const visitor = await openWindow(browser, service, { isEverywhere: true })
  const { page: opener, context } = visitor
  await stopClock(context)
  await opener.goto(`${CLIENT_ORIGIN}/opener`)
  const opening = context.waitForEvent('page')
  await opener.evaluate(`opened = open(${JSON.stringify(service.url + path)})`)
  const page = await opening
  await page.waitForURL('**/auth/login**')
  assert.equal(await isWatched(opener), true, 'on the login page')
  await page.fill('form[action="/auth/login"] [name="email"]', person.email)
  await page.fill('form[action="/auth/login"] [name="password"]', person.password)
  await page.click('form[action="/auth/login"] button.first')
  const allow = allowOn(page)
  await allow.waitFor()
  assert.equal(await isWatched(opener), true, 'on the consent page')

  // A user of the keyboard reaches it, and learns that it does not work yet.
  await allow.focus()
  await page.keyboard.press('Enter')
  assert.equal(await page.getByRole('status').textContent(), 'This button works in two seconds.')
  await context.clock.runFor(1999)
  assert.equal(await allow.isDisabled(), true)
  await context.clock.runFor(1)
  assert.equal(await allow.isDisabled(), false)
  assert.equal(await page.getByRole('status').textContent(), 'The button works now.')
  await page.evaluate('dispatchEvent(new Event("focus"))')
  assert.equal(await allow.isDisabled(), true, 'the page came back into view')
  await context.clock.runFor(2000)
  assert.equal(await page.locator(':focus').textContent(), 'Allow', 'the focus has stayed')
  await page.keyboard.press('Enter')
  await page.waitForURL((url) => url.href.startsWith(redirect_uri))
  assert.match(String(await opener.evaluate('opened.location.search')), /[?&]code=svc_ac_/)
  assert.deepEqual(visitor.complaints, [])
  await context.close()
})

for (const scripts of [true, false])
  test(`a login leads to consent and on to a program by its scheme, with scripts ${scripts ? 'on' : 'off'}`, async () => {
    const person = await newUser()
    const visitor = await openWindow(browser, service, { scripts, isEverywhere: true })
    const { page, context } = visitor
    await visitor.open(authorizePath(client.id, { redirect_uri: SCHEME_URI, resource }))
    await logInInWindow(visitor, person)
    const allow = allowOn(page)
    if (scripts) await assertAccessible(visitor)
    else assert.equal(await allow.isDisabled(), false, 'it works at once')
    const leaving = page.waitForEvent('request', (request) => request.url().startsWith(SCHEME_URI))
    await allow.click()
    const address = (await leaving).url()
    assert.match(address, /^com\.example\.app:\/callback\?code=svc_ac_/)
    assert.equal(await page.getByRole('link', { name: 'Back to Notebook' }).getAttribute('href'), address)
    // No program has this scheme here. A policy that had stopped it would have complained.
    assert.deepEqual(
      visitor.complaints.filter((complaint) => complaint !== `${address} net::ERR_ABORTED`),
      [],
    )
    await context.close()
  })
