// Runs on SQLite.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { addAuthenticator } from '../support/browser/authenticator.ts'
import { launchChrome } from '../support/browser/chrome.ts'
import { openRowOf, violations } from '../support/browser/window.ts'
import { newPerson } from '../support/client/accounts.ts'
import { startDevHere } from '../support/dev/dev.ts'
import { eventually } from '../support/wait.ts'

const browser = await launchChrome()
after(() => browser.close())
const dev = await startDevHere({ options: { name: 'shop' } })

const emails = async (): Promise<string[]> => {
  const answer = await dev.get('/auth/api/v2/users', { authorization: `Bearer ${dev.apiKey}` })
  return answer.json<{ users: { email: string }[] }>().users.map(({ email }) => email)
}

const newPages = async (count: number): Promise<{ pages: Page[]; complaints: string[] }> => {
  const context = await browser.newContext({ baseURL: dev.url })
  after(() => context.close())
  context.setDefaultTimeout(60_000)
  const complaints: string[] = []
  context.on('console', (line) => void (line.type() === 'error' && complaints.push(line.text())))
  context.on('weberror', (error) => complaints.push(error.error().message))
  return { pages: await Promise.all(Array.from({ length: count }, () => context.newPage())), complaints }
}

test('a developer signs up, reads the message, follows its link, signs in by the provider, and sees the events', async () => {
  const { pages, complaints } = await newPages(2)
  const [page = assert.fail(), mailbox = assert.fail()] = pages
  await addAuthenticator(page)
  await mailbox.goto('/auth/dev/mail')
  await mailbox.getByText('There is no message yet').waitFor()
  const { email, password } = newPerson()
  await page.goto('/')
  await page.getByRole('link', { name: 'Sign up' }).click()
  await page.locator('input[name=email]').fill(email)
  await page.locator('input[name=password]').fill(password)
  await page.locator('form[action="/auth/signup"] button:not([type=button])').click()
  await page.locator('b', { hasText: email }).waitFor()

  // The list shows it without being loaded again by hand. The button in the message itself leads to its page.
  await mailbox.getByRole('link', { name: 'Confirm your email address' }).click()
  await mailbox.frameLocator('iframe').getByRole('link', { name: 'Confirm email address' }).click()
  await mailbox.waitForURL('**/auth/email/verify?token=*')
  await mailbox.getByRole('button', { name: 'Confirm' }).click()
  await mailbox.getByText('confirmed').first().waitFor()

  await page.goto('/auth/logout')
  await page.getByRole('button', { name: 'Log out' }).click()
  await page.goto('/auth/login')
  await page.getByRole('button', { name: /Dev Provider/ }).click()
  assert.deepEqual(await violations(page), [])
  await page.getByRole('textbox', { name: 'Another email' }).fill('alan@example.com')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.locator('b', { hasText: 'alan@example.com' }).waitFor()

  await page.getByRole('link', { name: 'Webhooks' }).first().click()
  await page.locator('summary').first().click()
  await page.getByText('webhook-signature: v1,').first().waitFor()
  const count = await page.locator('summary').count()
  await page.getByRole('button', { name: 'Send again' }).first().click()
  await eventually('another delivery', async () => (await page.locator('summary').count()) > count)
  for (const path of ['/', '/auth/dev/mail', '/auth/dev/mail/1', '/auth/dev/webhooks', '/auth/dev/nothing']) {
    await page.goto(path)
    assert.deepEqual(await violations(page), [], path)
  }
  assert.deepEqual(
    complaints.filter((line) => !/ 404 |^Transition was aborted/.test(line)),
    [],
  )
})

test('its buttons sign users in, move the clock and empty everything, and passkeys work under its name', async () => {
  const { pages } = await newPages(1)
  const [page = assert.fail()] = pages
  await addAuthenticator(page)
  await page.goto('/')
  const ofGrace = page.locator('li', { hasText: 'grace@example.com' })
  await ofGrace.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('link', { name: 'Log out' }).waitFor()
  await page.goto('/auth/account')
  const add = page.locator('[data-passkey] button')
  await openRowOf(add)
  await Promise.all([page.waitForURL(/(?:done=passkey_added|second-factor)/), add.click()])

  await page.goto('/auth/dev')
  await page.getByText('It is right.').waitFor()
  await page.getByRole('button', { name: '+ 30 days' }).click()
  await page.getByText('It was moved forward.').waitFor()
  await page.getByText('Nobody').waitFor()
  await page.getByRole('button', { name: 'Reset everything' }).click()
  await page.getByText('It is right.').waitFor()
  assert.deepEqual(await emails(), ['ada@example.com', 'grace@example.com'])
})

/** What a page of another origin can try. It says "done" when the browser has answered all of it. */
const attackOn = (url: string): string => `<!doctype html><title>evil</title>
<iframe name="form"></iframe><iframe id="page" src="${url}/auth/dev/mail"></iframe><img src="${url}/auth/dev/mail.json">
<form method="post" action="${url}/auth/dev/reset" target="form" enctype="text/plain"><input name="{&quot;email&quot;:&quot;evil@example.com&quot;,&quot;x" value="&quot;:1}"></form>
<script>
const settle = (promise) => promise.catch(() => {})
const post = (path, init) => settle(fetch('${url}/auth/dev/' + path, { method: 'POST', credentials: 'include', ...init }))
const body = JSON.stringify({ email: 'evil@example.com' })
const closed = (source) => new Promise((resolve) => { source.onerror = resolve; source.onopen = () => resolve('OPEN') })
Promise.all([
  post('reset'), post('reset', { mode: 'no-cors' }), post('sign-in', { mode: 'no-cors', body }),
  post('sign-in', { headers: { 'content-type': 'application/json' }, body }),
  post('sign-in', { mode: 'no-cors', body: new Blob([body], { type: 'application/json' }) }),
  settle(fetch('${url}/auth/dev/mail.json').then((answer) => answer.text()).then((text) => document.title = text)),
  closed(new EventSource('${url}/auth/dev/events')), closed(new WebSocket('${url.replace('http', 'ws')}/auth/dev/events')),
  new Promise((resolve) => { document.querySelector('iframe').onload = resolve; document.forms[0].submit() }),
]).then((results) => { document.body.append('done', results.includes('OPEN') ? 'OPEN' : '') })
</script>`

test('no page of another origin reaches it, at another port of localhost neither', async () => {
  const evil = createServer((_, response) => response.setHeader('content-type', 'text/html').end(attackOn(dev.url)))
  after(() => evil.close().closeAllConnections())
  await once(evil.listen(0, '127.0.0.1'), 'listening')
  const { port } = evil.address() as AddressInfo
  await dev.post('/auth/dev/sign-in', { email: 'witness@example.com' })
  const before = await emails()
  const { pages } = await newPages(1)
  const [page = assert.fail()] = pages
  await page.goto('/auth/dev')
  for (const host of [`shop.localhost:${port}`, `127.0.0.1:${port}`]) {
    await page.goto(`http://${host}/`)
    await page.getByText('done').waitFor()
    assert.equal(await page.getByText('OPEN').count(), 0)
    assert.equal(await page.title(), 'evil')
    const shown = page.frames().filter((frame) => frame.url().startsWith(dev.url))
    for (const frame of shown) assert.doesNotMatch(await frame.content(), /Mailbox/)
    assert.deepEqual(await emails(), before, host)
  }
})
