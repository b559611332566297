// Runs on SQLite.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { launchChrome } from '../support/browser/chrome.ts'
import { cookiesOf } from '../support/browser/site-visitor.ts'
import { currentUser, signedUp } from '../support/client/accounts.ts'
import { canRun, startExample } from '../support/examples/running-example.ts'

const browser = await launchChrome()
after(() => browser.close())

if (canRun('vite')) {
  const { url, svc } = await startExample({ name: 'vite', runtime: 'vite' })

  test('examples/vite greets its user, keeps notes past the end of an access token, and logs out', async (t) => {
    const context = await browser.newContext({ baseURL: url })
    t.after(() => context.close())
    context.setDefaultTimeout(60_000)
    const page = await context.newPage()
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    const logIn = page.getByRole('link', { name: 'Log in' })

    await page.goto('/', { waitUntil: 'networkidle' })
    assert.equal(await logIn.getAttribute('href'), '/auth/login?return_to=%2F')
    assert.ok(!asked.includes('/auth/api/v1/user') && !asked.includes('/api/notes'), asked.join(' '))
    assert.equal((await fetch(`${url}/api/notes`)).status, 401)

    const { agent } = await signedUp(svc)
    await context.addCookies(cookiesOf(agent))
    // The page sees the login without being loaded again.
    await page.getByText(`Hello, ${(await currentUser(agent)).username}.`).waitFor()
    for (const text of ['bread', 'butter']) {
      for (const name of ['svc_access', 'svc_fresh']) await context.clearCookies({ name })
      await page.getByRole('textbox', { name: 'Note' }).fill(text)
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByRole('listitem').getByText(text, { exact: true }).waitFor()
    }
    await page.getByRole('button', { name: 'Log out' }).click()
    await logIn.waitFor()
  })

  test('examples/vite takes no form of another origin', async () => {
    const { agent } = await signedUp(svc)
    const headers = { cookie: agent.cookies.header('/') ?? '', 'content-type': 'text/plain' }
    const { status } = await fetch(`${url}/api/notes`, { method: 'POST', headers, body: '{"text":"forged"}' })
    assert.equal(status, 415)
  })
}
