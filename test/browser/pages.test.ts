// Runs once.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { after, before, test } from 'node:test'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { inLanguage } from '../../src/languages/language.ts'
import { createLanguages } from '../../src/languages/languages.ts'
import { PSEUDO } from '../../src/languages/pseudo.ts'
import { createAllPages } from '../../src/preview/pages.ts'
import { bringChecker, findProblems } from '../support/browser/accessibility-checker.ts'
import { launchChrome } from '../support/browser/chrome.ts'
import { statesWith, WRONG_STATES } from '../unit/pages-views.ts'

const pages = createAllPages({
  appName: 'Acme',
  logoUrl: undefined,
  accentColor: '#0f6b5c',
  passkeys: true,
  mailIsOn: true,
  supportUrl: 'mailto:help@example.com',
})
const states = statesWith('text')

const [style, script] = pages.assets.map(({ path }) => path)
/** A page with injected links to files that users uploaded to the application. */
const INJECTED = `<!doctype html><title>untouched</title><link rel="stylesheet" href="${style}"><script src="${script}"></script>
<link rel="stylesheet" href="/uploads/style.css"><script src="/uploads/script.js"></script>
<script src="/auth/assets/../../uploads/script.js"></script><script src="/auth/assetsx/script.js"></script>`
const UPLOADS: Record<string, [contentType: string, body: string]> = {
  '/injected': ['text/html', INJECTED],
  '/uploads/style.css': ['text/css', 'html { cursor: wait }'],
  '/uploads/script.js': ['text/javascript', 'document.title = "taken over"'],
  '/auth/assetsx/script.js': ['text/javascript', 'document.title = "taken over"'],
}

/** A page is asked for in a language other than English by `?TAG`. */
const languages = createLanguages({ offered: ['en', PSEUDO] })

const server = createServer((request, response) => {
  const [path = '', tag = 'en'] = decodeURIComponent(request.url ?? '').split('?')
  const body = inLanguage(languages.get(tag), () => states[path.slice(1)]?.(pages))
  // Any icon stands for a provider's icon.
  const asset = pages.assets.find((asset) => asset.path === path) ?? pages.assets.at(-1)
  response.setHeader('content-security-policy', pages.contentSecurityPolicy([request.headers.host ?? '']))
  const [type, upload] = UPLOADS[path] ?? []
  if (type) response.setHeader('content-type', type)
  else response.setHeader('content-type', body ? 'text/html; charset=utf-8' : (asset?.contentType ?? ''))
  // As svc has it: a browser asks once.
  if (!upload && !body) response.setHeader('cache-control', 'max-age=3600')
  response.end(upload ?? body ?? asset?.body)
})

let browser: Browser
let baseURL = ''

before(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  baseURL = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  browser = await launchChrome()
})

after(async () => {
  await browser.close()
  server.close()
})

const withPage = async (options: BrowserContextOptions, visit: (page: Page) => Promise<void>): Promise<void> => {
  const context = await browser.newContext({ baseURL, ...options })
  const complaints: string[] = []
  const page = await context.newPage()
  page.on('console', (message) => complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(error.message))
  await visit(page)
  await context.close()
  assert.deepEqual(complaints, [])
}

// The checker cannot judge contrast on a gradient, which is lowest at its far end, nor of links that are scrolled out of
// their strip.
const FLAT = `document.documentElement.style.background = 'var(--wash)'
for (const strip of document.querySelectorAll('nav.sections')) strip.style.flexWrap = 'wrap'`

/** Links within a text that stand in rows of their own, since what holds the text lays out its children. */
const TORN_TEXTS = `[...document.querySelectorAll('a')]
  .map((link) => link.parentElement)
  .filter((parent) => /grid|flex/.test(getComputedStyle(parent).display))
  .filter(({ childNodes }) => [...childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim()))
  .map(({ textContent }) => textContent)`

/** What can be pressed on the card, and is smaller than so many pixels; links within a sentence may be. */
const SMALL = `(least) => [...document.querySelectorAll('a, button, summary, input:not([type="hidden"], .unseen)')]
  .filter((it) => !it.closest('.sheet'))
  .filter((it) => it.checkVisibility() && !(it.matches('p a, li a') && it.parentElement.innerText !== it.innerText))
  .map((it) => [it, (it.closest('label') ?? it).getBoundingClientRect()])
  .filter(([, { width, height }]) => Math.min(width, height) < least)
  .map(([it, { width, height }]) => it.outerHTML + ' ' + width + ' ' + height)`

/** What hides a part of its text. */
const CUT_TEXTS = `[...document.querySelectorAll('body *')]
  .filter((it) => it.checkVisibility() && !it.matches('.unseen, .unseen *, input, select, textarea, svg *'))
  .filter((it) => /hidden|clip/.test(getComputedStyle(it).overflowX) && it.scrollWidth > it.clientWidth + 1)
  .map((it) => it.outerHTML.slice(0, 300))`

const [NARROW, WIDE] = [
  { width: 320, height: 640 },
  { width: 1280, height: 720 },
]

/** How each element looks: by what styles can ask for, of itself and of what it is in. */
const LOOKS = `[...document.querySelectorAll('body *')].map((element) => {
  let look = ''
  for (let it = element; it !== document.body; it = it.parentElement)
    look += it.tagName + [...it.attributes]
      .filter(({ name }) => /^(?:class|id|type|role|open|hidden|disabled|aria-.*)$/.test(name))
      .map(({ name, value }) => ' ' + name + '=' + value)
      .join('') + '<'
  return look
})`

const focusedOn = (page: Page): Promise<string | null> => page.locator(':focus').getAttribute('id')

const areSmallerThan = (page: Page, least: number): Promise<unknown> => page.evaluate(`(${SMALL})(${least})`)

test('no page in any state violates an accessibility rule, light or dark, is wider than a small phone, or hard to press with a mouse or a finger, and the focus is on the invalid field', async () => {
  // The checker would see colours on their way from light to dark.
  await withPage({ viewport: WIDE, reducedMotion: 'reduce' }, async (page) => {
    await bringChecker(page)
    const devtools = await page.context().newCDPSession(page)
    const beTouched = (enabled: boolean) => devtools.send('Emulation.setTouchEmulationEnabled', { enabled })
    const seen = new Set<string>()
    for (const name of Object.keys(states)) {
      await page.goto(`/${name}`)
      const wrong = WRONG_STATES[name]
      if (wrong !== undefined) assert.equal(await focusedOn(page), wrong, name)
      assert.deepEqual(await areSmallerThan(page, 24), [], name)
      await page.setViewportSize(NARROW)
      await beTouched(true)
      assert.equal(await page.evaluate("matchMedia('(pointer: coarse)').matches"), true)
      assert.deepEqual(await areSmallerThan(page, 44), [], name)
      await beTouched(false)
      await page.evaluate(`${FLAT}; document.querySelectorAll('details').forEach((row) => (row.open = true))`)
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 320, name)
      assert.deepEqual(await page.evaluate(TORN_TEXTS), [], name)
      const found = [await findProblems(page)]
      const looks = (await page.evaluate(LOOKS)) as string[]
      // Colours in the dark are those of pages before, unless something here looks like nothing there.
      if (looks.some((look) => !seen.has(look))) {
        await page.emulateMedia({ colorScheme: 'dark' })
        found.push(await findProblems(page, ['color-contrast']))
        await page.emulateMedia({ colorScheme: 'light' })
      }
      for (const look of looks) seen.add(look)
      for (const { violations, incomplete } of found) assert.deepEqual([violations, incomplete], [[], []], name)
      await page.setViewportSize(WIDE)
    }
  })
})

test('no page is cut or wider than a small phone where all texts are longer', async () => {
  await withPage({ viewport: NARROW, javaScriptEnabled: false }, async (page) => {
    // In the place of the page that is there, under its policy, which costs a third of opening it.
    await page.goto(`/login?${PSEUDO}`)
    for (const [name, view] of Object.entries(states)) {
      await page.setContent(inLanguage(languages.get(PSEUDO), () => view(pages)))
      await page.evaluate("document.querySelectorAll('details').forEach((row) => (row.open = true))")
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 320, name)
      assert.deepEqual(await page.evaluate(CUT_TEXTS), [], name)
    }
  })
})

test('the focus is on the invalid field without scripts, too', async () => {
  await withPage({ javaScriptEnabled: false }, async (page) => {
    for (const [name, id] of Object.entries(WRONG_STATES)) {
      await page.goto(`/${name}`)
      assert.equal(await focusedOn(page), id, name)
    }
  })
})

test('a password can be shown and hidden again by keyboard, and is never sent as text', async () => {
  await withPage({}, async (page) => {
    await page.goto('/login without signup')
    // The browser gives the focus when it first paints, which may be after the page has loaded.
    await page.locator('#email:focus').waitFor()
    await page.keyboard.press('Tab')
    await page.keyboard.type('correct horse')
    assert.equal(await page.locator(':focus').getAttribute('id'), 'password')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    const input = page.locator('#password')
    assert.equal(await input.getAttribute('type'), 'text')
    await page.getByRole('button', { name: 'Hide password' }).press('Space')
    assert.equal(await input.getAttribute('type'), 'password')
    await page.getByRole('button', { name: 'Show password' }).click()
    await page.evaluate("document.forms[0].addEventListener('submit', (event) => event.preventDefault())")
    await input.press('Enter')
    assert.equal(await input.getAttribute('type'), 'password')
    assert.equal(await input.inputValue(), 'correct horse')
  })
})

test('without scripts there is no button that would have no effect', async () => {
  await withPage({ javaScriptEnabled: false }, async (page) => {
    await page.goto('/account')
    assert.equal(await page.getByRole('button', { name: 'Show password', includeHidden: true }).count(), 3)
    assert.equal(await page.getByRole('button', { name: 'Show password' }).count(), 0)
  })
})

/** The texts of all times, and of the button that ends the second session. */
const readTimes = async (page: Page) => ({
  texts: await page.locator('time[data-time]:not([data-time="ago"])').allTextContents(),
  titles: await page.locator('time[title]').evaluateAll((all) => all.map(({ title }) => title)),
  button: await page.locator('button[name="session_id"]').first().innerText(),
})

test('times are in the language of the page, as the browser writes it, and in its zone; without scripts they are in UTC', async () => {
  const abroad = { locale: 'en-GB', timezoneId: 'Asia/Tokyo' }
  await withPage(abroad, async (page) => {
    await page.goto('/devices')
    const date = { day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit' }
    const there = JSON.stringify({ ...date, timeZone: 'Asia/Tokyo' })
    const moments = page.locator('time[data-time="moment"]')
    for (const moment of await moments.all()) {
      const at = await moment.getAttribute('datetime')
      const expected = await page.evaluate(`new Intl.DateTimeFormat('en-GB', ${there}).format(new Date('${at}'))`)
      assert.equal(await moment.textContent(), expected)
      assert.equal(await moment.getAttribute('lang'), 'en-GB')
    }
    assert.ok((await moments.count()) >= 4)
    const { texts, titles, button } = await readTimes(page)
    for (const text of [...texts, ...titles]) assert.match(text, /^\d+ \w+ \d{4}(?:, \d\d:\d\d)?$/)
    assert.match(button, /^Log out\s+Log out .+, active \d+ \w+ \d{4}, \d\d:\d\d$/)
  })
  await withPage({ ...abroad, javaScriptEnabled: false }, async (page) => {
    await page.goto('/devices')
    const { texts, titles, button } = await readTimes(page)
    for (const text of [...texts, ...titles]) assert.match(text, /^\d+ \w+ \d{4}(?:, \d\d:\d\d UTC)?$/)
    assert.match(button, /^Log out\s+Log out .+, active .+ UTC$/)
  })
})

test('the account of a user with everything is no higher than 2,100 px, and 3,000 px on a phone', async () => {
  for (const [width, most] of [
    [1280, 2100],
    [390, 3000],
  ] as const)
    await withPage({ viewport: { width, height: 800 }, hasTouch: width < 500, isMobile: width < 500 }, async (page) => {
      await page.goto('/account with everything')
      const height = Number(await page.evaluate('document.documentElement.scrollHeight'))
      assert.ok(height <= most, `${height} px at a width of ${width} px`)
    })
})

test('an address opens the row that it names, and the keyboard opens and closes rows, with scripts on and off', async () => {
  for (const javaScriptEnabled of [true, false])
    await withPage({ javaScriptEnabled }, async (page) => {
      await page.goto('/account with everything#change-password')
      await page.locator('#current_password').waitFor({ state: 'visible' })
      await page.goto('/account with everything')
      const summary = page.locator('summary', { hasText: 'Username' })
      const username = page.locator('#username')
      assert.equal(await username.isVisible(), false)
      await summary.focus()
      await page.keyboard.press('Enter')
      await username.waitFor({ state: 'visible' })
      await page.keyboard.press('Tab')
      assert.equal(await page.locator(':focus').getAttribute('id'), 'username')
      await summary.press('Space')
      await username.waitFor({ state: 'hidden' })
    })
})

test('each button of a session has a name of its own', async () => {
  await withPage({}, async (page) => {
    await page.goto('/account')
    const buttons = page.locator('button[name="session_id"]')
    const names = await buttons.locator('.unseen').allInnerTexts()
    assert.equal(new Set(names).size, await buttons.count())
    assert.ok(names.length >= 2)
    assert.ok(
      await page.getByRole('button', { name: names[0]?.replaceAll(/\s+/g, ' ') ?? '', exact: true }).isVisible(),
    )
  })
})

for (const host of ['127.0.0.1', 'localhost', 'app.localhost']) {
  test(`scripts and styles are loaded from the folder of the assets only, under every host of the page: ${host}`, async () => {
    const page = await browser.newPage()
    const refused: string[] = []
    page.on('console', (message) => refused.push(message.text()))
    const loaded: string[] = []
    page.on('requestfinished', (request) => loaded.push(new URL(request.url()).pathname))
    await page.goto(`${baseURL.replace('127.0.0.1', host)}/injected`)
    assert.equal(await page.title(), 'untouched')
    assert.equal(await page.evaluate('getComputedStyle(document.documentElement).cursor'), 'auto')
    assert.deepEqual(new Set(loaded), new Set(['/injected', style, script]))
    assert.equal(refused.filter((text) => text.includes('Content Security Policy')).length, 4, refused.join('\n'))
    await page.close()
  })
}

test('the keyboard goes through the login page as people read it, and reaches the link beside a label after its field', async () => {
  await withPage({}, async (page) => {
    await page.goto('/login with providers')
    await page.locator('#password:focus').waitFor()
    const reached: string[] = []
    for (let presses = 0; presses < 6; presses += 1) {
      await page.keyboard.press('Tab')
      reached.push(String(await page.evaluate('document.activeElement.ariaLabel ?? document.activeElement.innerText')))
    }
    const expected = ['Show password', 'Forgot your password?', 'Log in', 'Log in with a passkey', 'Continue with text']
    assert.deepEqual(reached, [...expected, 'Create an account'])
  })
})

test('without scripts the login page has its form and ways elsewhere, and nothing that waits for a script', async () => {
  await withPage({ javaScriptEnabled: false }, async (page) => {
    await page.goto('/login with providers')
    const names = await page.locator('button:visible').allInnerTexts()
    assert.deepEqual(names, ['Log in', 'Continue with text'])
    assert.equal(await page.getByRole('link', { name: 'Forgot your password?' }).isVisible(), true)
    assert.equal(await page.locator('.busy').count(), 0)
  })
})

test('a pressed button shows that it is busy, can be pressed again, and rests when its page is shown again', async () => {
  await withPage({}, async (page) => {
    let sent = 0
    // The page stays, as it does when the user stops the browser.
    await page.route('**/auth/login', async (route) => {
      sent += 1
      await route.fulfill({ status: 204 })
    })
    await page.goto('/login')
    const busy = page.locator('.busy')
    const press = async () => {
      const answer = page.waitForResponse((response) => response.status() === 204)
      await page.getByRole('button', { name: 'Log in', exact: true }).click()
      await answer
      assert.deepEqual(await busy.allInnerTexts(), ['Log in'])
    }
    await press()
    assert.equal(await page.evaluate("getComputedStyle(document.querySelector('.busy'), '::after').content"), '""')
    await press()
    assert.equal(sent, 2)
    await page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))")
    assert.equal(await busy.count(), 0)
  })
})

test('the button of a download does not stay busy', async () => {
  await withPage({}, async (page) => {
    await page.route('**/auth/account/second-factor', (route) =>
      route.fulfill({ headers: { 'content-disposition': 'attachment; filename="codes.txt"' }, body: 'codes' }),
    )
    await page.goto('/recovery codes')
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download' }).click()
    await download
    assert.equal(await page.locator('.busy').count(), 0)
  })
})

test('on paper, recovery codes are large, and nothing else is there', async () => {
  await withPage({}, async (page) => {
    await page.goto('/recovery codes')
    await page.emulateMedia({ media: 'print' })
    assert.deepEqual((await page.locator('body').innerText()).split(/\s+/), ['text1', 'text2'])
    const size = Number(await page.evaluate("parseFloat(getComputedStyle(document.querySelector('.codes')).fontSize)"))
    assert.ok(size >= 20, String(size))
  })
})

const STYLES = `(selector) => {
  const { backgroundColor, borderTopWidth, borderTopColor, color } = getComputedStyle(document.querySelector(selector))
  return { ground: backgroundColor, width: borderTopWidth, edge: borderTopColor, ink: color }
}`
const styleOf = async (page: Page, selector: string): Promise<Record<string, string>> =>
  (await page.evaluate(`(${STYLES})(${JSON.stringify(selector)})`)) as Record<string, string>

test('in forced colours the first button and wrong fields stay distinct', async () => {
  await withPage({ forcedColors: 'active' }, async (page) => {
    await page.goto('/login, a code, refused')
    const [first, second] = [await styleOf(page, '.first'), await styleOf(page, '.second')]
    assert.notEqual(first.ground, second.ground)
    const wrong = await styleOf(page, 'input[aria-invalid]')
    await page.goto('/login')
    assert.notEqual(wrong.width, (await styleOf(page, '#email')).width)
  })
})

test('users who ask for more contrast get darker text, and wrong fields stay red', async () => {
  await withPage({ contrast: 'more' }, async (page) => {
    await page.goto('/signup refused')
    const { edge } = await styleOf(page, 'input[aria-invalid]')
    const problem = await styleOf(page, '.problem')
    assert.equal(edge, problem.ink)
    const muted = (await styleOf(page, '.below')).ink
    await page.emulateMedia({ contrast: 'no-preference' })
    assert.notEqual(muted, (await styleOf(page, '.below')).ink)
  })
})
