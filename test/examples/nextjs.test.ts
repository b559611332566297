// Runs on SQLite.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { after, describe, type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { launchChrome } from '../support/browser/chrome.ts'
import { cookiesOf } from '../support/browser/site-visitor.ts'
import { signedUp } from '../support/client/accounts.ts'
import { canRun, requirePrepared, type RunningExample, startExample } from '../support/examples/running-example.ts'

/** Ways to a page: the router of Next.js fetches it in parts, a browser loads it. */
const LINKS: Record<string, (page: Page, path: string) => Promise<void>> = {
  '<Link>': (page, path) => page.locator(`nav a[href="${path}"]`).click(),
  '<a>': async (page, path) => {
    await page.evaluate(`document.body.insertAdjacentHTML('beforeend', '<a id=plain href="${path}">Plain</a>')`)
    await page.locator('#plain').click()
  },
}

/** A page that `authProxy` protects, too, and one that asks alone. */
const PAGES = { '/notes': /^Notes of /, '/profile': /^Profile of / }

const htmlFor = async (url: string, cookie: string): Promise<string> =>
  (await fetch(url, { headers: { cookie } })).text()

const tests = ({ url, svc }: RunningExample): void => {
  const open = async (t: TestContext) => {
    const context = await browser.newContext({ baseURL: url })
    t.after(() => context.close())
    context.setDefaultTimeout(60_000)
    const complaints: string[] = []
    context.on('console', (line) => void (line.type() === 'error' && complaints.push(line.text())))
    return { context, complaints, page: await context.newPage() }
  }

  for (const [link, follow] of Object.entries(LINKS)) {
    for (const [path, heading] of Object.entries(PAGES)) {
      test(`${link} leads a signed-out visitor to ${path} by way of the login page, without a complaint`, async (t) => {
        const { page, complaints } = await open(t)
        await page.goto('/', { waitUntil: 'networkidle' })
        await follow(page, path)
        await page.waitForURL(`${url}/auth/login?return_to=${encodeURIComponent(path)}`)
        assert.deepEqual(complaints, [])
      })

      test(`${link} leads to ${path} a user whose access token has just run out`, async (t) => {
        const { page, context, complaints } = await open(t)
        await context.addCookies(cookiesOf((await signedUp(svc)).agent))
        await page.goto('/', { waitUntil: 'networkidle' })
        for (const name of ['svc_access', 'svc_fresh']) await context.clearCookies({ name })
        await follow(page, path)
        await page.getByRole('heading', { name: heading }).waitFor()
        assert.equal(page.url(), url + path)
        assert.deepEqual(complaints, [])
      })
    }
  }

  test('the page that the server sends says already who is signed in, and who is not', async () => {
    const { agent, person } = await signedUp(svc)
    const [user, visitor] = [await htmlFor(url, agent.cookies.header('/') ?? ''), await htmlFor(url, '')]
    assert.deepEqual([user.includes(`${person.username}<!-- -->. <a`), user.includes('Log in</a>')], [true, false])
    assert.deepEqual([visitor.includes('Hello, '), visitor.includes('Log in</a>')], [false, true])
  })

  test('a program without a bundler can import the entries, as Vitest does', async () => {
    const code =
      "console.log(...Object.keys({ ...(await import('@svc/sdk/next')), ...(await import('@svc/sdk/react')) }))"
    const args = ['--input-type=module', '--eval', code]
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: requirePrepared('nextjs') })
    for (const name of ['requireUser', 'getUser', 'authProxy', 'SvcProvider']) assert.ok(stdout.includes(name), stdout)
  })

  test('a public page goes on in an outage, and says of nobody that they are signed out', async (t) => {
    const { page, context } = await open(t)
    await context.addCookies(cookiesOf((await signedUp(svc)).agent))
    await page.goto('/')
    await page.getByText('Hello, ').waitFor()
    await svc.stop()
    assert.equal((await page.goto('/'))?.status(), 200)
    assert.equal(await page.getByText('Hello, ').count(), 0)
    assert.equal(await page.getByRole('link', { name: 'Log in' }).count(), 0)
    await svc.restart()
  })
}

const browser = await launchChrome()
after(() => browser.close())

if (canRun('nextjs')) {
  const example = await startExample({ name: 'nextjs', runtime: 'next' })
  describe('examples/nextjs', { concurrency: false }, () => tests(example))
}
