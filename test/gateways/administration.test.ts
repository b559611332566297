// Runs on SQLite.
import assert from 'node:assert/strict'
import https from 'node:https'
import { after, describe, test, type TestContext } from 'node:test'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { type AdminGateway, startAdminGateway } from '../support/admin/admin-gateway.ts'
import { NAVIGATION } from '../support/admin/machine-admin.ts'
import { ADMIN_URL, adminSettings } from '../support/admin/origin-admin.ts'
import { addAuthenticator } from '../support/browser/authenticator.ts'
import { launchChrome } from '../support/browser/chrome.ts'
import { focusOn, tabTo, violations } from '../support/browser/window.ts'
import { logIn, newAgent, newPerson } from '../support/client/accounts.ts'
import { startMailedService } from '../support/email/email-change.ts'
import { GATEWAYS, type GatewayName } from '../support/gateway/gateway-configuration.ts'
import { runCommandOf } from '../support/service/operator-commands.ts'
import { eventually } from '../support/wait.ts'

const { service, operator } = await startMailedService({
  env: { ...(await adminSettings()), SVC_CLIENTS: 'on', SVC_NAMES: 'optional', SVC_EMAIL_VERIFICATION: 'optional' },
})
const svc = Number(service.env.SVC_ADMIN_PORT)
const gateway = await startAdminGateway('nginx', { svc })
const browser = await launchChrome({ args: gateway.chromeArgs })
after(() => browser.close())

const HOSTILE = `<img src=x onerror="document.title='owned'">"'&`

const newUser = async () => {
  const person = newPerson()
  const { id } = await operator.users.create({ ...person, emailVerified: true, name: HOSTILE })
  return { ...person, id }
}

type Window = { page: Page; context: BrowserContext; complaints: string[] }

/** A window at the pages, which says what the browser complains of. */
const openWindow = async (
  t: TestContext,
  { of = browser, scripts = true, cookies }: { of?: Browser; scripts?: boolean; cookies?: BrowserContext } = {},
): Promise<Window> => {
  const context = await of.newContext({ baseURL: ADMIN_URL, javaScriptEnabled: scripts, ignoreHTTPSErrors: true })
  if (cookies) await context.addCookies(await cookies.cookies())
  t.after(() => context.close())
  const page = await context.newPage()
  page.setDefaultTimeout(30_000)
  const complaints: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' && !/status of 4\d\d/.test(message.text())) complaints.push(message.text())
  })
  page.on('pageerror', ({ message }) => {
    // The browser says so by itself when it leaves for a page at once.
    if (!message.startsWith('Transition was aborted')) complaints.push(message)
  })
  page.on('dialog', (dialog) => complaints.push(dialog.message()))
  return { page, context, complaints }
}

let made = 0

/** Invites an administrator by command, and makes their passkey in the link. */
const joined = async (window: Window, role: 'look' | 'change') => {
  made += 1
  const name = `grace-${made}`
  const args = ['admins', 'invite', name, '--email', `${name}@example.com`, '--role', role]
  const link = (await runCommandOf(service, args)).trim()
  const authenticator = await addAuthenticator(window.page)
  await window.page.goto(link)
  await window.page.getByRole('button', { name: 'Make your passkey' }).click()
  await window.page.waitForURL('**/passkeys')
  return { name, link, authenticator }
}

const FORGED = '198.51.100.66'

/** Sends a request over TLS, with a header that only the proxy may set. */
const request = ({ port, certificate }: AdminGateway, path: string, host = 'admin.example.com') =>
  new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
    const headers = { ...NAVIGATION, host, 'x-forwarded-for': FORGED }
    const own = { servername: 'admin.example.com', ca: certificate, rejectUnauthorized: false }
    const sent = https.get({ host: '127.0.0.1', port, path, headers, agent: false, ...own }, async (response) => {
      const chunks = (await response.toArray()) as Buffer[]
      resolve({ status: response.statusCode, text: Buffer.concat(chunks).toString() })
    })
    sent.once('error', reject)
  })

/** Traefik reads routers and certificate after it has begun to listen. */
const untilRouting = (front: AdminGateway): Promise<void> =>
  eventually('Traefik has its routers', () =>
    request(front, '/health').then(
      ({ status }) => status === 200,
      () => false,
    ),
  )

const LOGS_IN_FILE: ReadonlySet<GatewayName> = new Set(['nginx', 'Caddy', 'Apache'])

for (const name of GATEWAYS)
  test(`${name} passes the host, the path and the address of the client, and no other host gets to the pages`, async (t) => {
    const front = name === 'nginx' ? gateway : await startAdminGateway(name, { svc, t })
    if (name === 'Traefik') await untilRouting(front)
    const page = await request(front, '/events?type=signup%2Fx&token=abc')
    assert.equal(page.status, 401)
    assert.ok(page.text.includes(encodeURIComponent('/events?type=signup%2Fx&token=abc')), page.text)
    const other = await request(front, '/events', 'other.example.com')
    assert.doesNotMatch(other.text, /Sign in/)
    const line = service.logLines().findLast(({ route }) => route === '/events')
    // Envoy names the machine where a connection comes from loopback.
    if (name === 'Envoy') assert.notEqual(line?.client, FORGED)
    else assert.equal(line?.client, '127.0.0.1')
    if (!LOGS_IN_FILE.has(name)) return
    await eventually('it is logged', () => front.log().includes('/events'))
    assert.doesNotMatch(front.log(), /token=/)
  })

for (const name of ['nginx', 'Caddy'] as const)
  describe(`an administrator behind ${name}`, () => {
    test('comes in by an invitation, has two passkeys, and is refused as soon as an operator says so', async (t) => {
      const front = name === 'nginx' ? gateway : await startAdminGateway(name, { svc, t })
      const of = name === 'nginx' ? browser : await launchChrome({ args: front.chromeArgs })
      if (of !== browser) t.after(() => of.close())
      const window = await openWindow(t, { of })
      const { page } = window
      const user = await newUser()
      const { name: administrator, link, authenticator } = await joined(window, 'change')
      await page.getByText('You have one passkey.').waitFor()
      await authenticator.remove()
      const second = await addAuthenticator(page, { platform: false })
      const loads: string[] = []
      page.on('request', (sent) => void (sent.isNavigationRequest() && loads.push(sent.url())))
      await page.getByRole('button', { name: 'Add a passkey' }).click()
      await page.locator('#done').waitFor()
      assert.deepEqual(loads, [new URL('/passkeys', page.url()).href], 'the page says once what was done')
      assert.equal((await second.ids()).length, 1)
      await page.getByRole('button', { name: 'Sign out' }).click()
      await page.goto('/events?type=user.disabled')
      await page.getByRole('button', { name: /passkey/i }).click()
      await page.getByRole('heading', { name: 'Events' }).waitFor()
      assert.equal(new URL(page.url()).search, '?type=user.disabled')
      await page.goto(`/users/${user.id}/disable`)
      await runCommandOf(service, ['admins', 'set-role', administrator, '--role', 'look'])
      await page.getByRole('button', { name: 'Disable the account' }).click()
      await page.getByRole('heading', { name: 'Sign in' }).waitFor()
      assert.equal((await operator.users.find(user.id))?.disabled, false)
      await page.getByText('What you sent was not done.').waitFor()
      await page.getByRole('button', { name: /passkey/i }).click()
      await page.getByText('only looks').waitFor()
      for (const args of [['reset'], ['remove']]) {
        await runCommandOf(service, ['admins', ...args, administrator])
        await page.goto('/')
        await page.getByRole('heading', { name: 'Sign in' }).waitFor()
      }
      assert.deepEqual(window.complaints, [])
      const token = new URL(link).searchParams.get('token') ?? assert.fail(link)
      assert.match(front.log(), /\/join/)
      assert.ok(!front.log().includes(token), 'the log of the proxy holds no token')
    })
  })

const PAGES = [
  '/',
  '/?q=nobody-has-this',
  '/?show=disabled',
  '/events',
  '/deliveries',
  '/deliveries?kind=messages',
  '/clients',
  '/system',
  '/passkeys',
  '/invite',
  '/events/export',
  '/nothing',
]

/** Everything that is pressed, and is smaller than WCAG 2.2 (2.5.8) allows, but for links in a sentence or a line of text. */
const SMALL_TARGETS = `[...document.querySelectorAll('a, button, summary, input:not([type=hidden]), select')]
  .filter((each) => each.checkVisibility() && !each.closest('label, p, dd, .about, .what, .state'))
  .map((each) => [each.outerHTML.slice(0, 120), each.getBoundingClientRect()])
  .filter(([, { width, height }]) => width < 24 || height < 24)
  .map(([html]) => html)`

const signedIn = async (
  t: TestContext,
): Promise<Window & { user: Awaited<ReturnType<typeof newUser>>; pages: string[] }> => {
  const window = await openWindow(t)
  await joined(window, 'change')
  const user = await newUser()
  await logIn(newAgent({ url: service.url, headers: { 'user-agent': HOSTILE } }), user)
  const own = `/users/${user.id}`
  const forms = ['disable', 'delete', 'email', 'roles', 'reset-second-factor', 'end-sessions', 'reset-link']
  return { ...window, user, pages: [...PAGES, own, ...forms.map((form) => `${own}/${form}`)] }
}

describe('the pages in a browser', () => {
  test('have no violations, targets that are large enough, and fit into 320 px, in light, dark and forced colours', async (t) => {
    const { page, pages, complaints } = await signedIn(t)
    for (const path of pages) {
      await page.setViewportSize({ width: 1280, height: 800 })
      await page.goto(path)
      assert.deepEqual(await violations(page), [], path)
      assert.deepEqual(await page.evaluate(SMALL_TARGETS), [], path)
      await page.setViewportSize({ width: 320, height: 640 })
      const width = await page.evaluate('document.documentElement.scrollWidth')
      assert.equal(width, 320, `${path} is as wide as the window`)
      assert.deepEqual(await page.evaluate(SMALL_TARGETS), [], `${path} at 320 px`)
      assert.notEqual(await page.title(), 'owned')
    }
    await page.emulateMedia({ forcedColors: 'active' })
    await page.goto('/')
    const outline = `getComputedStyle(document.querySelector('.tabs [aria-current]')).outlineStyle`
    assert.equal(await page.evaluate(outline), 'solid')
    assert.equal(await page.locator('img').count(), 0, 'no text of users has become an element')
    assert.deepEqual(complaints, [])
  })

  test('are used by keyboard alone: a user is found, looked at and disabled', async (t) => {
    const { page, user, complaints } = await signedIn(t)
    await page.goto('/')
    await tabTo(page, '#q')
    await page.keyboard.type(user.email)
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/users/${user.id}`)
    await tabTo(page, `a[href="/users/${user.id}/disable"]`, 'Shift+Tab')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/disable')
    await tabTo(page, '#reason')
    await page.keyboard.type('Fraud')
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/users/${user.id}#done`)
    await focusOn(page, '#done')
    assert.equal((await operator.users.find(user.id))?.disabled, true)
    assert.deepEqual(complaints, [])
  })

  test('work without scripts, but for passkeys', async (t) => {
    const { context, user } = await signedIn(t)
    const { page } = await openWindow(t, { scripts: false, cookies: context })
    await page.goto('/')
    await page.locator('#q').fill(user.username)
    await page.getByRole('button', { name: 'Find' }).click()
    await page.getByRole('link', { name: user.email }).click()
    await page.getByRole('link', { name: 'Change the roles' }).click()
    await page.locator('#roles').fill('no*role')
    await page.locator('#reason').fill('Kept')
    await page.getByRole('button', { name: 'Change the roles' }).click()
    assert.equal(await page.locator('#reason').inputValue(), 'Kept')
    await page.locator('#roles').fill('editor')
    await page.getByRole('button', { name: 'Change the roles' }).click()
    assert.match(await page.locator('#done').innerText(), /The roles are editor now/)
    await page.goto('/events/export')
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export' }).click(),
    ])
    assert.equal(download.suggestedFilename(), 'records.csv')
    await page.goto('/')
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  })
})
