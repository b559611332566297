// Runs on SQLite.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { launchChrome } from '../support/browser/chrome.ts'
import { assertAccessible, logInInWindow, openWindow } from '../support/browser/window.ts'
import { newAgent, newPerson, signUp } from '../support/client/accounts.ts'
import { authorizePath, CLIENT_SETTINGS, madeClient } from '../support/clients/authorization.ts'
import { startService } from '../support/service/service.ts'

const service = await startService({ env: CLIENT_SETTINGS })
const redirect_uri = 'http://127.0.0.1:50123/callback'
const client = await madeClient(service, { redirectUri: 'http://127.0.0.1/callback' })
const path = authorizePath(client.id, { redirect_uri, resource: 'https://notes.example.com/mcp' })
const browser = await launchChrome()
after(() => browser.close())

for (const scripts of [true, false]) {
  test(`a login leads to consent and on to the client, with scripts ${scripts ? 'on' : 'off'}`, async () => {
    const person = newPerson()
    await signUp(newAgent(service), person)
    const visitor = await openWindow(browser, service, { scripts })
    const { page } = visitor
    await visitor.open(path)
    await visitor.submit('/auth/login', { email: person.email, password: person.password })
    const allow = page.getByRole('button', { name: 'Allow', exact: true })
    if (scripts) {
      assert.equal(await allow.isDisabled(), true, 'Allow waits')
      await assertAccessible(visitor)
      await page.setViewportSize({ width: 320, height: 640 })
      assert.ok(Number(await page.evaluate('document.documentElement.scrollWidth - window.innerWidth')) <= 0)
    }
    // The browser waits for the button to work.
    await allow.click()
    await page.waitForURL((url) => url.href.startsWith(redirect_uri))
    assert.match(new URL(page.url()).searchParams.get('code') ?? '', /^svc_ac_/)
    assert.deepEqual(visitor.complaints, [])
  })
}

test('Allow waits again after the page came back into view', async () => {
  const person = newPerson()
  await signUp(newAgent(service), person)
  const visitor = await openWindow(browser, service)
  const { page } = visitor
  await visitor.open(path)
  await logInInWindow(visitor, person)
  const allow = page.getByRole('button', { name: 'Allow', exact: true })
  // This waits until it could be pressed, and presses nothing.
  await allow.click({ trial: true })
  await page.evaluate('dispatchEvent(new Event("focus"))')
  assert.equal(await allow.isDisabled(), true)
})
