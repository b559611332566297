// Runs on SQLite.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { readConfig } from '../../../src/config/config.ts'
import { toHex } from '../../../src/lib/colour.ts'
import { parseOwnStyle } from '../../../src/lib/own-style.ts'
import { adminSettings, newAdminBrowser } from '../../support/admin/origin-admin.ts'
import { newAgent } from '../../support/client/accounts.ts'
import { startSmtpServer } from '../../support/network/smtp-server.ts'
import { startOpenIdProvider } from '../../support/provider/openid-provider.ts'
import { startServiceWith } from '../../support/provider/provider-service.ts'
import type { Environment } from '../../support/service/command.ts'
import { startService } from '../../support/service/service.ts'
import { runCommand } from '../../support/service/warm-command.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const loginOf = async (t: TestContext, env: Environment) => newAgent(await startService({ t, env })).get('/auth/login')

/** Finds in which order these stand on a page. Each stands there once. */
const orderOf = (text: string, marks: Record<string, string>): string[] =>
  Object.entries(marks)
    .map(([name, mark]): [string, number] => {
      assert.equal(text.split(mark).length, 2, `${name} in ${text}`)
      return [name, text.indexOf(mark)]
    })
    .toSorted(([, a], [, b]) => a - b)
    .map(([name]) => name)

const corp = await startOpenIdProvider()

test('§8.8 a logo for dark pages is chosen by the browser; logo and icon may lie elsewhere, and the policy names where', async (t) => {
  const { text, headers } = await loginOf(t, {
    SVC_LOGO_URL: '/logo.svg',
    SVC_LOGO_DARK_URL: 'https://cdn.example/dark.svg?a=1&b',
    SVC_FAVICON_URL: 'https://icons.example:8443/icon.png',
  })
  assert.ok(
    text.includes(
      '<picture><source srcset="https://cdn.example/dark.svg?a=1&amp;b" media="(prefers-color-scheme:dark)"><img src="/logo.svg" alt="localhost"></picture>',
    ),
    text,
  )
  assert.ok(text.includes('<link rel="icon" href="https://icons.example:8443/icon.png">'))
  assert.ok(!text.includes('/auth/assets/icon.'))
  assert.match(
    String(headers['content-security-policy']),
    /; img-src 'self' https:\/\/cdn\.example https:\/\/icons\.example:8443;/,
  )
})

test('SVC_COLOR_SCHEME holds for everybody: one scheme in page and stylesheet, and its logo alone', async (t) => {
  for (const [scheme, logo, other] of [
    ['light', '/logo.svg', '/dark.svg'],
    ['dark', '/dark.svg', '/logo.svg'],
  ] as const) {
    const env = { SVC_LOGO_URL: '/logo.svg', SVC_LOGO_DARK_URL: '/dark.svg', SVC_COLOR_SCHEME: scheme }
    const agent = newAgent(await startService({ t, env }))
    const { text } = await agent.get('/auth/login')
    assert.ok(text.includes(`<meta name="color-scheme" content="${scheme}">`))
    assert.equal(text.match(/<meta name="theme-color" content="#[\da-f]{6}">/g)?.length, 1)
    assert.ok(text.includes(`<img src="${logo}"`) && !text.includes(other) && !text.includes('prefers-color-scheme'))
    const style = await agent.get(/\/auth\/assets\/style\.[^"]*/.exec(text)?.[0] ?? '')
    assert.ok(style.text.startsWith(`:root{color-scheme:${scheme};`), style.text.slice(0, 60))
  }
  const usual = await loginOf(t, {})
  assert.ok(usual.text.includes('<meta name="color-scheme" content="light dark">'))
})

test('SVC_PROVIDERS_FIRST puts the buttons of providers above the forms of login and signup', async (t) => {
  const marks = { form: 'name="email"', or: '<div class="or">', provider: 'action="/auth/oauth/corp"' }
  for (const [value, expected] of [
    ['off', ['form', 'or', 'provider']],
    ['on', ['provider', 'or', 'form']],
  ] as const) {
    const env = { SVC_PROVIDERS_FIRST: value, SVC_PASSKEYS: 'off' }
    const agent = newAgent(await startServiceWith({ corp }, { t, env }))
    for (const page of ['/auth/login', '/auth/signup'])
      assert.deepEqual(orderOf((await agent.get(page)).text, marks), expected, `${value} ${page}`)
  }
})

test('§8.8 what users agree to is said where a provider or a code by mail makes an account, and not where signup is closed', async (t) => {
  const smtp = await startSmtpServer({ t })
  const agreed = 'By creating an account, you agree to our <a href="/terms">terms of use</a>.'
  for (const [signup, where] of [
    ['on', ['login', 'code']],
    ['providers', ['login']],
    ['off', []],
  ] as const) {
    const env = { ...smtp.env, SVC_TERMS_URL: '/terms', SVC_EMAIL_SIGN_IN: 'on', SVC_SIGNUP: signup }
    const agent = newAgent(await startServiceWith({ corp }, { t, env }))
    const login = await agent.get('/auth/login')
    const code = await agent.post('/auth/login/email', { email: 'ada@example.com' })
    assert.match(code.text, /name="code"/)
    const found = Object.entries({ login, code }).filter(([, { text }]) => text.includes(agreed))
    assert.deepEqual(
      found.map(([name]) => name),
      where,
      signup,
    )
  }
})

test('a bad value is refused, and so is a logo for dark pages alone', async (t) => {
  const refused = async (env: Environment): Promise<string> => {
    const { code, stdout, stderr } = await runCommand({
      args: ['serve'],
      cwd: temporaryDirectory(t),
      env: { SVC_PORT: '0', ...env },
    })
    assert.equal(code, 78, stdout + stderr)
    return stdout + stderr
  }
  const output = await refused({
    SVC_LOGO_DARK_URL: 'javascript:alert(1)',
    SVC_FAVICON_URL: 'data:image/png,x',
    SVC_COLOR_SCHEME: 'black',
    SVC_PROVIDERS_FIRST: 'yes',
    SVC_TERMS_URL: 'terms',
    SVC_PRIVACY_URL: '//evil.example/privacy',
  })
  for (const line of [
    'SVC_LOGO_DARK_URL="javascript:alert(1)" is not accepted',
    'SVC_FAVICON_URL="data:image/png,x" is not accepted',
    'SVC_COLOR_SCHEME="black" is not accepted: "auto" or "light" or "dark"',
    'SVC_PROVIDERS_FIRST="yes" is not accepted: "on" or "off"',
    'SVC_TERMS_URL="terms" is not accepted: a path such as /terms, or an https:// or http:// URL',
    'SVC_PRIVACY_URL="//evil.example/privacy" is not accepted',
  ])
    assert.ok(output.includes(line), `${line}\n${output}`)
  assert.match(
    await refused({ SVC_LOGO_DARK_URL: '/dark.svg' }),
    /SVC_LOGO_URL is missing: it must be set when SVC_LOGO_DARK_URL is/,
  )
})

const styleFile = (t: TestContext, css: string | Uint8Array): string => {
  const file = path.join(temporaryDirectory(t), 'own.css')
  writeFileSync(file, css)
  return file
}

test('§8.8 SVC_STYLE_FILE is served as it is, under its hash, above the stylesheet of svc; the policy stays as tight', async (t) => {
  const css = ':root { --svc-accent: #c2185b }\n.svc-card::after { content: "é" }\n'
  const usual = newAgent(await startService({ t }))
  const agent = newAgent(await startService({ t, env: { SVC_STYLE_FILE: styleFile(t, `\ufeff${css}`) } }))
  const page = await agent.get('/auth/login')
  const [style, own, ...more] = page.text.match(/(?<=<link rel="stylesheet" href=")[^"]*/g) ?? []
  assert.ok(style && own)
  assert.deepEqual(more, [])
  const hash = createHash('sha256').update(css).digest('hex').slice(0, 12)
  assert.equal(own, `/auth/assets/own.${hash}.css`)
  const answer = await agent.get(own)
  assert.deepEqual(
    [answer.status, answer.text, answer.headers['content-type'], answer.headers['cache-control']],
    [200, css, 'text/css; charset=utf-8', 'public, max-age=31536000, immutable'],
  )
  assert.match((await agent.get(style)).text, /^@layer svc\{:root\{.*\}$/)
  const policyOf = (found: typeof page) =>
    String(found.headers['content-security-policy']).replaceAll(/localhost:\d+/g, 'HOST')
  assert.equal(policyOf(page), policyOf(await usual.get('/auth/login')))
})

test('§8.8 the pages of administrators have nothing of SVC_STYLE_FILE', async (t) => {
  const css = ':root { --svc-accent: #c2185b }'
  const service = await startService({ t, env: { ...(await adminSettings()), SVC_STYLE_FILE: styleFile(t, css) } })
  const browser = newAdminBrowser(service)
  const { text } = await browser.open('/')
  const styles = text.match(/(?<=<link rel="stylesheet" href=")[^"]*/g) ?? []
  assert.equal(styles.length, 2, text)
  for (const style of styles) {
    const { text: body } = await browser.open(style)
    assert.doesNotMatch(body, /@layer|c2185b/)
    assert.match(body, /\{/)
  }
  const own = /\/own\.[\da-f]+\.css/.exec((await newAgent(service).get('/auth/login')).text)?.[0]
  assert.equal((await browser.open(`/assets${own}`)).status, 404)
})

test('§8.8 a stylesheet that svc cannot take is refused at the start, with its name and the mistake', async (t) => {
  const folder = temporaryDirectory(t)
  for (const [file, problem] of [
    [path.join(folder, 'none.css'), 'cannot be read (ENOENT)'],
    [folder, 'is no regular file'],
    [styleFile(t, Buffer.from('.a { content: "\xe9" }', 'latin1')), 'is not UTF-8'],
    [styleFile(t, 'a'.repeat(262_145)), 'is larger than 256 KiB'],
  ] as const) {
    const env = { SVC_PORT: '0', SVC_STYLE_FILE: file }
    const { code, stdout, stderr } = await runCommand({ args: ['serve'], cwd: folder, env })
    assert.equal(code, 78)
    assert.ok((stdout + stderr).includes(`SVC_STYLE_FILE is not accepted: "${file}" ${problem}`), stdout + stderr)
  }
  assert.equal(
    readConfig({ SVC_STYLE_FILE: styleFile(t, 'a'.repeat(262_144)) }, () => '').ownStyle?.css.length,
    262_144,
  )
})

test('§8.8 colours that are hard to read are warned about, with their contrast', (t) => {
  const warningsOf = (css: string, env: Environment = {}) =>
    readConfig({ ...env, ...(css && { SVC_STYLE_FILE: styleFile(t, css) }) }, () => '').warnings
  assert.deepEqual(warningsOf(''), [])
  assert.deepEqual(
    warningsOf(':root { --svc-text: #111; --svc-surface: #fff; --svc-font: serif }', { SVC_COLOR_SCHEME: 'light' }),
    [],
  )
  assert.deepEqual(warningsOf('', { SVC_ACCENT_COLOR: '#ffee00' }), [
    'SVC_ACCENT_COLOR (#ffee00) has a contrast of 1.14:1 to #fafaf4 on light pages, and WCAG AA asks for 4.5:1: as text it is shown as #756d00',
  ])
  assert.deepEqual(
    warningsOf(':root { --svc-text: light-dark(#999, #aaa); --svc-surface: light-dark(white, rgb(30, 30, 30)) }'),
    [
      'SVC_STYLE_FILE: --svc-text (#999999) has a contrast of 2.64:1 to #f5f7f6 on light pages, and WCAG AA asks for 4.5:1',
    ],
  )
  const dark = '@media (prefers-color-scheme: dark) { :root { --svc-danger: #800; --svc-border: #222 } }'
  assert.deepEqual(
    warningsOf(dark).map((line) => line.replace(/ has a contrast of [\d.]+:1 to #[\da-f]{6}/, '')),
    [
      'SVC_STYLE_FILE: --svc-danger (#880000) on dark pages, and WCAG AA asks for 4.5:1',
      'SVC_STYLE_FILE: --svc-border (#222222) on dark pages, and WCAG AA asks for 3:1',
    ],
  )
  assert.deepEqual(warningsOf(dark, { SVC_COLOR_SCHEME: 'light' }), [])
})

const shown = (colours: object): string[] => Object.entries(colours).map(([name, colour]) => `${name} ${toHex(colour)}`)

test('§8.8 colours are read where they are written plainly, and are left to browsers everywhere else', () => {
  for (const [css, ...expected] of [
    ['html{--svc-accent:#ABC!important}', ['accent #aabbcc'], ['accent #aabbcc'], []],
    ['@layer mine { :root, .x { --svc-text : rgb(1 2 3) } }', ['text #010203'], ['text #010203'], []],
    [':root{--svc-accent:light-dark(#111111,rgb(9,9,9))', ['accent #111111'], ['accent #090909'], []],
    ['/* :root { --svc-accent: red } */ a { content: "} :root { --svc-accent: red }" }', [], [], []],
    [':root{--svc-accent:#111111;--svc-accent:oklch(0.5 0.1 20)}', ['accent #111111'], ['accent #111111'], ['accent']],
    [':root{--svc-accent:light-dark(#111111,red)}', ['accent #111111'], [], ['accent']],
    ['@media (prefers-contrast: more){:root{--svc-text:#000000}}', [], [], ['text']],
    ['.svc-card{--svc-surface:#ffffff}', [], [], ['surface']],
    ['@media(prefers-color-scheme:light){html{--svc-border:black}}', ['border #000000'], [], []],
    [':root{--svc-radius:0;--svc-accents:#111111;--SVC-accent:#111111}', [], [], []],
    ['}}}{{{', [], [], []],
    [':root{--svc-accent:constructor}', [], [], ['accent']],
  ] as const) {
    const { light, dark, unread } = parseOwnStyle(css)
    assert.deepEqual([shown(light), shown(dark), [...unread]], expected, css)
  }
})
