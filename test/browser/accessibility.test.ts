// Runs on SQLite.
import assert from 'node:assert/strict'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, test } from 'node:test'
import { renderMessage } from '../../src/mail/messages/render.ts'
import { launchChrome } from '../support/browser/chrome.ts'
import {
  type BrowserWindow,
  assertAccessible,
  CHALLENGE,
  logInInWindow,
  openWindow,
  signUpInWindow,
  violations,
} from '../support/browser/window.ts'
import { afterwards } from '../support/cleanup.ts'
import { logIn, newPerson, signedUp } from '../support/client/accounts.ts'
import { createUserAgent } from '../support/client/user-agent.ts'
import { MAIL_BASE_URL, MESSAGES } from '../../src/preview/messages.ts'
import { startService } from '../support/service/service.ts'

const service = await startService()
const limited = await startService({ env: { SVC_RATE_LIMIT: 'on' } })
const broken = await startService()
const browser = await launchChrome()
after(() => browser.close())

const { person: known } = await signedUp(service)
const wrong = { ...known, password: 'not the password' }

/** Documents of the real service, with what it sends around them: their status, and how to get there. */
const states: [string, number, (visitor: BrowserWindow) => Promise<unknown>][] = [
  ['login with return_to', 200, (visitor) => visitor.open('/auth/login?return_to=%2Fshop')],
  [
    'signup with every field at fault',
    422,
    async (visitor) => {
      await visitor.open('/auth/signup')
      await signUpInWindow(visitor, { email: 'x', username: 'y', password: 'z' })
    },
  ],
  [
    'account',
    200,
    async (visitor) => {
      await visitor.open('/auth/login?return_to=%2Fauth%2Faccount')
      await logInInWindow(visitor, known)
    },
  ],
  [
    'error 403',
    403,
    async (visitor) => {
      // The page has its challenge for passkeys before its cookies go: without them it would be refused one.
      const challenge = visitor.page.waitForResponse((response) => response.url().endsWith(CHALLENGE))
      await visitor.open('/auth/login')
      await challenge
      await visitor.context.clearCookies()
      await logInInWindow(visitor, known)
    },
  ],
  [
    'a form of the application that was not sent',
    401,
    async (visitor) => {
      await visitor.open('/auth/login')
      const form = '<form method="post" action="/auth/check/forward/orders"><button>Send</button></form>'
      await visitor.page.evaluate(`document.body.insertAdjacentHTML('beforeend', ${JSON.stringify(form)})`)
      await visitor.submit('/auth/check/forward/orders', {})
    },
  ],
]

const assertState = async (
  of: { url: string },
  status: number,
  reach: (visitor: BrowserWindow) => Promise<unknown>,
) => {
  const visitor = await openWindow(browser, of)
  const statuses: number[] = []
  visitor.page.on('response', (response) => {
    if (response.request().isNavigationRequest()) statuses.push(response.status())
  })
  await reach(visitor)
  assert.equal(statuses.at(-1), status, visitor.path())
  await assertAccessible(visitor)
  assert.deepEqual(visitor.complaints, [])
  const title = await visitor.page.title()
  assert.ok(title.length > 0)
  await visitor.page.setViewportSize({ width: 320, height: 640 })
  const overflow = await visitor.page.evaluate('document.documentElement.scrollWidth - window.innerWidth')
  assert.ok(Number(overflow) <= 0, 'nothing is wider than a small phone')
  await visitor.context.close()
}

for (const [name, status, reach] of states) {
  test(`in the browser, a document of the service is accessible, breaks no policy and fits a small phone: ${name}`, async () => {
    await assertState(service, status, reach)
  })
}

test('in the browser, a document of the service is accessible, breaks no policy and fits a small phone: 429', async () => {
  await assertState(limited, 429, async (visitor) => {
    const attacker = createUserAgent(limited)
    for (let tries = 0; tries < 101; tries += 1) await logIn(attacker, wrong)
    await visitor.open('/auth/login')
    await logInInWindow(visitor, wrong)
  })
})

test('in the browser, a document of the service is accessible, breaks no policy and fits a small phone: error 503', async (t) => {
  const database = new DatabaseSync(path.join(service.directory, 'data', 'svc.db'))
  database.exec('PRAGMA busy_timeout = 5000')
  afterwards(t, () => database.close())
  await assertState(service, 503, async (visitor) => {
    await visitor.open('/auth/login')
    database.exec('BEGIN EXCLUSIVE')
    await logInInWindow(visitor, known)
    database.exec('ROLLBACK')
  })
})

test('in the browser, a document of the service is accessible, breaks no policy and fits a small phone: error 500', async (t) => {
  const database = new DatabaseSync(path.join(broken.directory, 'data', 'svc.db'))
  afterwards(t, () => database.close())
  database.exec("CREATE TRIGGER refuse BEFORE INSERT ON users BEGIN SELECT RAISE(ABORT, 'no'); END")
  await assertState(broken, 500, async (visitor) => {
    await visitor.open('/auth/signup')
    await signUpInWindow(visitor, newPerson())
  })
})

for (const name of ['reset', 'undo_changed']) {
  test(`a message is accessible in light and dark, loads nothing and fits a small phone: ${name}`, async () => {
    const message = MESSAGES.get(name)
    assert.ok(message)
    const email = `${'a'.repeat(64)}@${`${'b'.repeat(60)}.`.repeat(3)}com`
    const page = await browser.newPage({ viewport: { width: 320, height: 640 } })
    const loaded: string[] = []
    page.on('request', (request) => loaded.push(request.url()))
    const { html } = renderMessage(
      { ...message, email },
      {
        appName: 'W'.repeat(60),
        accentColor: '#ffee00',
        baseUrl: MAIL_BASE_URL,
        supportUrl: 'https://help.a-rather-long-name-for-a-host.example.com/accounts',
        passwords: true,
      },
    )
    await page.setContent(html)
    // A message has no landmarks: it is part of the page of a mail program.
    const found = (await violations(page)).filter((violation) => !/ (?:landmark-one-main|region): /.test(violation))
    assert.deepEqual(found, [])
    assert.ok(Number(await page.evaluate('document.documentElement.scrollWidth - window.innerWidth')) <= 0)
    assert.deepEqual(loaded, [])
    await page.close()
  })
}
