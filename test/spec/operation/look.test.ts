// Runs on SQLite.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { newAgent } from '../../support/client/accounts.ts'
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
