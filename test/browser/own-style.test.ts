// Runs once.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { parseOwnStyle } from '../../src/lib/own-style.ts'
import { launchChrome } from '../support/browser/chrome.ts'
import { createAllPages, type AllPages } from '../../src/preview/pages.ts'
import { statesWith } from '../unit/pages-views.ts'

const browser = await launchChrome()
after(() => browser.close())

const states = statesWith('text')
const ORIGIN = 'http://app.example.com'

const pagesWith = (css: string | undefined): AllPages =>
  createAllPages({
    appName: 'Acme',
    logoUrl: undefined,
    accentColor: '#0f6b5c',
    passkeys: true,
    ownStyle: css === undefined ? undefined : parseOwnStyle(css),
  })

/** A page that shows states with stylesheets of the operator's, and what svc sends with it. */
const openPage = async (options: BrowserContextOptions = {}) => {
  let pages = pagesWith(undefined)
  let [shown, body] = ['', '']
  const context = await browser.newContext({
    baseURL: ORIGIN,
    reducedMotion: 'reduce',
    viewport: { width: 640, height: 700 },
    ...options,
  })
  /** What the page asked for elsewhere. */
  const elsewhere: string[] = []
  await context.route('**', async (route) => {
    const url = new URL(route.request().url())
    if (url.origin !== ORIGIN) {
      elsewhere.push(url.href)
      return route.abort()
    }
    const found = pages.assets.find(({ path }) => path === url.pathname)
    const headers = { 'content-security-policy': pages.contentSecurityPolicy([url.host]) }
    if (found) return route.fulfill({ contentType: found.contentType, body: found.body })
    if (url.pathname !== '/page') return route.fulfill({ status: 404 })
    return route.fulfill({ headers, contentType: 'text/html; charset=utf-8', body })
  })
  const page = await context.newPage()
  return {
    page,
    elsewhere,
    close: () => context.close(),
    show: async (css: string | undefined, name: string): Promise<void> => {
      if (shown === `${name} ${css}`) return
      shown = `${name} ${css}`
      pages = pagesWith(css)
      body = states[name]?.(pages) ?? ''
      await page.goto('/page')
      await page.evaluate('document.activeElement.blur()')
    },
  }
}

type Shown = Awaited<ReturnType<typeof openPage>>

/** Opens a page in a state with a stylesheet of the operator's. */
const withState = async (css: string, name: string, look: (shown: Shown) => Promise<void>): Promise<void> => {
  const shown = await openPage()
  try {
    await shown.show(css, name)
    await look(shown)
  } finally {
    await shown.close()
  }
}

/** Each promise, with a rule that uses it, where a picture must change, and where it must not: the greys have a tint of the accent. */
const PROMISES: [rule: string, state: string, changes: string, keeps: string | undefined][] = [
  [':root { --svc-accent: #c2185b }', 'login', '.first', 'h1'],
  [':root { --svc-accent: #c2185b }', 'login', '.mark', 'h1'],
  [':root { --svc-accent: #c2185b }', 'login', 'footer a', 'h1'],
  [':root { --svc-text: light-dark(#7b1fa2, #e1bee7) }', 'login', 'h1', '.first'],
  [':root { --svc-background: light-dark(#fff8e1, #263238) }', 'login', 'html', 'h1'],
  [':root { --svc-surface: light-dark(#fff3e0, #1b2631) }', 'login', '#email', undefined],
  [':root { --svc-surface: light-dark(#fff3e0, #1b2631) }', 'account', '.panel', 'h1'],
  [':root { --svc-border: light-dark(#b35900, #ffb74d) }', 'login', '#email', '.first'],
  [':root { --svc-border: light-dark(#b35900, #ffb74d) }', 'account', '.panel', 'h1'],
  [':root { --svc-danger: light-dark(#880e4f, #f48fb1) }', 'login incomplete', '.problem', '.first'],
  [':root { --svc-danger: light-dark(#880e4f, #f48fb1) }', 'account', '.danger', 'h1'],
  [':root { --svc-radius: 0 }', 'login', '.first', 'h1'],
  [':root { --svc-radius: 0 }', 'login', '.svc-card', 'h1'],
  [
    `@font-face { font-family: Own; src: local('Open Sans'), local('Open Sans Regular'), local('OpenSans-Regular'), local('DejaVu Sans'), local('Liberation Sans'), local('Arial'), local('Helvetica'); size-adjust: 150% } :root { --svc-font: Own }`,
    'login',
    'h1',
    undefined,
  ],
  [':root { --svc-width: 36rem }', 'login', '.svc-card', '.mark'],
  [':root { --svc-gap: 3rem }', 'login', 'form', 'h1'],
  ['.svc-card { border-width: 6px }', 'login', '.svc-card', '.mark'],
  ['.svc-card { border-width: 6px }', 'account', '.panel', 'h1'],
  ['.svc-button { text-transform: uppercase }', 'login', '.first', 'h1'],
  ['.svc-button { text-transform: uppercase }', 'account', '.second', 'h1'],
  ['.svc-field { font-style: italic }', 'login', '.svc-field', '.first'],
]

const pictureOf = async (page: Page, selector: string): Promise<string> =>
  (await page.locator(selector).first().screenshot()).toString('base64')

/** Counts the pixels that a person would see to differ; pictures of other sizes have no pixel in common. */
const COUNT = `async (pictures) => {
  const [one, other] = await Promise.all(pictures.map(async (picture) => {
    const image = await createImageBitmap(await (await fetch('data:image/png;base64,' + picture)).blob())
    const canvas = new OffscreenCanvas(image.width, image.height).getContext('2d')
    canvas.drawImage(image, 0, 0)
    return { width: image.width, height: image.height, data: canvas.getImageData(0, 0, image.width, image.height).data }
  }))
  if (one.width !== other.width || one.height !== other.height) return Infinity
  return one.data.reduce((count, value, index) => count + (Math.abs(value - other.data[index]) > 8 ? 1 : 0), 0)
}`

const picturesOf = async (page: Page, selectors: readonly string[]): Promise<Map<string, string>> => {
  const pictures = new Map<string, string>()
  for (const selector of selectors) pictures.set(selector, await pictureOf(page, selector))
  return pictures
}

for (const colorScheme of ['light', 'dark'] as const)
  test(`§8.8 each promised property and class changes what it says, and nothing else: ${colorScheme}`, async () => {
    const [beside, { page, show, close }] = [await browser.newPage(), await openPage({ colorScheme })]
    const before = new Map<string, string>()
    for (const state of new Set(PROMISES.map(([, one]) => one))) {
      const selectors = PROMISES.filter(([, one]) => one === state).flatMap(([, , ...both]) => both.filter(Boolean))
      await show(undefined, state)
      for (const [selector, picture] of await picturesOf(page, [...new Set(selectors)] as string[]))
        before.set(`${state} ${selector}`, picture)
    }
    // What is no colour is the same in the dark.
    for (const [rule, state, changes, keeps] of PROMISES.filter(
      ([rule]) => colorScheme === 'light' || rule.includes('#'),
    )) {
      await show(rule, state)
      const now = await picturesOf(page, keeps === undefined ? [changes] : [changes, keeps])
      const differ = async (selector: string): Promise<number> => {
        const pictures = JSON.stringify([now.get(selector), before.get(`${state} ${selector}`)])
        return Number(await beside.evaluate(`(${COUNT})(${pictures})`))
      }
      assert.ok((await differ(changes)) > 20, `${rule} changes ${changes} of ${state}`)
      if (keeps !== undefined) assert.equal(await differ(keeps), 0, `${rule} changes ${keeps} of ${state}`)
    }
    await Promise.all([beside.close(), close()])
  })

const styleOf = async (page: Page, selector: string, property: string): Promise<string> =>
  String(await page.evaluate(`getComputedStyle(document.querySelector('${selector}')).getPropertyValue('${property}')`))

test('a rule of the operator wins over one of ours that is more specific, in both of our stylesheets; what is hidden stays hidden', async () => {
  const css = 'a { color: rgb(1, 2, 3) } input { width: 10px } .rows { margin-left: 7px } * { display: block }'
  await withState(css, 'account with everything', async ({ page }) => {
    assert.equal(await styleOf(page, '.sections a', 'color'), 'rgb(1, 2, 3)')
    assert.equal(await styleOf(page, 'input.unseen, input[type="password"]', 'width'), '10px')
    assert.equal(await styleOf(page, '.rows', 'margin-left'), '7px')
    assert.equal(await styleOf(page, '[hidden]', 'display'), 'none')
    assert.equal(await page.evaluate('document.styleSheets.length'), 3)
  })
})

test('colours that svc cannot read are followed in the browser: text on buttons is black or white, whichever is readable', async () => {
  for (const [accent, ink] of [
    ['oklch(0.92 0.19 100)', 0],
    ['oklch(0.35 0.12 260)', 1],
    ['color-mix(in srgb, yellow, white)', 0],
    ['rebeccapurple', 1],
  ] as const)
    await withState(`:root { --svc-accent: ${accent} }`, 'login', async ({ page }) => {
      const shown = await styleOf(page, '.first', 'color')
      const [, x, y, z] = /^color\(xyz-d65 ([\d.]+) ([\d.]+) ([\d.]+)\)$/.exec(shown) ?? []
      for (const channel of [x, y, z]) assert.equal(Math.round(Number(channel)), ink, `${accent}: ${shown}`)
      assert.equal(await styleOf(page, 'footer a', 'color'), await styleOf(page, '.first', 'background-color'), accent)
    })
})

test('a stylesheet of the operator loads nothing from elsewhere, by whatever means', async () => {
  const css = `@import url(https://evil.example/import.css);
@import "https://evil.example/import2.css" layer(x);
@font-face { font-family: Own; src: url(https://evil.example/font.woff2) }
:root { --svc-font: Own }
body { background: url(https://evil.example/image.png) }
.svc-card { background: image-set(url(https://evil.example/2x.png) 2x, url(https://evil.example/1x.png) 1x); cursor: url(https://evil.example/cursor.cur), auto }
h1::before { content: url(https://evil.example/content.svg) }
.mark { mask: url(https://evil.example/mask.svg#m); border-image: url(https://evil.example/border.png) 1 }`
  await withState(css, 'login', async ({ page, elsewhere }) => {
    await page.hover('.svc-card')
    await page.evaluate('document.fonts.ready.then(() => null)')
    assert.deepEqual(elsewhere, [])
  })
})
