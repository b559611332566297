// Runs once.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { startEchoApplication } from '../support/gateway/echo-application.ts'
import { startGateway } from '../support/gateway/gateway.ts'
import { ALL_GATEWAYS, replaced } from '../support/gateway/gateway-configuration.ts'
import { createAuthority } from '../support/network/certificates.ts'
import { freePort } from '../support/network/free-port.ts'
import { startService } from '../support/service/service.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

type Findings = { findings: { code: string; message: string; cure: string }[] }

// All configurations listen on the port of the public address, one after the other.
const gateway = await freePort()
const svc = await startService({ env: { SVC_BASE_URL: `http://localhost:${gateway}` } })
const app = await startEchoApplication()

type Change = (text: string) => string

/** The location of svc in the documented configuration, with further directives. */
const withDirectives =
  (...directives: string[]): Change =>
  (text) =>
    replaced(text, 'proxy_pass http://svc;', `proxy_pass http://svc;\n    ${directives.join('\n    ')}`)

const inLocation =
  (location: string, proxyPass: string): Change =>
  (text) =>
    replaced(replaced(text, 'location ~ ^/auth(/|$)', `location ${location}`), 'proxy_pass http://svc;', proxyPass)

const inHttp =
  (directive: string, then: Change = (text) => text): Change =>
  (text) =>
    then(replaced(text, 'http {', `http {\n  ${directive}`))

/** In place of a line that holds for all locations. */
const inPlaceOf =
  (line: string, other: string): Change =>
  (text) =>
    text.replace(`\n  ${line}\n`, `\n  ${other}\n`)

const HOST = 'proxy_set_header Host $http_host;'
const PROTO = 'proxy_set_header X-Forwarded-Proto $scheme;'

/** What people write, and what it does. */
const BROKEN: [code: string, what: string, change: (folder: string) => Change][] = [
  [
    'prefix_stripped',
    'a slash after proxy_pass takes /auth away',
    () => inLocation('/auth/', 'proxy_pass http://svc/;'),
  ],
  [
    'prefix_doubled',
    'a path after proxy_pass adds it again',
    () => inLocation('/auth', 'proxy_pass http://svc/auth$request_uri;'),
  ],
  [
    'path_changed',
    'a path after proxy_pass decodes the rest',
    () => inLocation('/auth/', 'proxy_pass http://svc/auth/;'),
  ],
  ['host_lost', 'the host of the request is left out', () => inPlaceOf(HOST, '')],
  [
    'host_lost',
    'a location with a header of its own inherits no others',
    () => withDirectives('proxy_set_header X-Own 1;'),
  ],
  ['cookies_lost', 'cookies are taken away', () => inPlaceOf(HOST, `${HOST} proxy_set_header Cookie "";`)],
  [
    'cookies_renamed',
    'cookies are renamed',
    () => inPlaceOf(HOST, `${HOST} proxy_set_header Cookie "app_$http_cookie";`),
  ],
  ['set_cookie_lost', 'Set-Cookie is hidden', () => withDirectives('proxy_hide_header Set-Cookie;')],
  [
    'set_cookie_lost',
    'of several Set-Cookie one is passed on',
    () => withDirectives('proxy_hide_header Set-Cookie;', 'add_header Set-Cookie $upstream_http_set_cookie;'),
  ],
  ['set_cookie_changed', 'the paths of cookies are rewritten', () => withDirectives('proxy_cookie_path / /app/;')],
  [
    'responses_cached',
    'everything is cached',
    (folder) =>
      inHttp(
        `proxy_cache_path ${folder}/cache keys_zone=all:1m;`,
        withDirectives(
          'proxy_cache all;',
          'proxy_cache_valid 200 1m;',
          'proxy_ignore_headers Cache-Control Set-Cookie;',
        ),
      ),
  ],
  ['responses_cached', 'expires replaces Cache-Control', () => withDirectives('expires 1h;')],
  [
    'responses_cached',
    'another Cache-Control is put in place of that of svc',
    () => withDirectives('proxy_hide_header Cache-Control;', 'add_header Cache-Control "public, max-age=3600" always;'),
  ],
  [
    'responses_cached',
    'pages alone get an age',
    () => inHttp('map $sent_http_content_type $age { default off; ~text/html 1h; }', withDirectives('expires $age;')),
  ],
  [
    'streams_buffered',
    'event streams are compressed, and what svc says about buffering is ignored',
    () =>
      withDirectives(
        'proxy_ignore_headers X-Accel-Buffering;',
        'gzip on;',
        'gzip_proxied any;',
        'gzip_types text/event-stream;',
      ),
  ],
  [
    'base_url_differs',
    'the proxy says https, and SVC_BASE_URL is http',
    () => inPlaceOf(PROTO, 'proxy_set_header X-Forwarded-Proto https;'),
  ],
  [
    'request_headers_too_large',
    'the buffers for requests are small',
    () => inHttp('large_client_header_buffers 4 2k;'),
  ],
  [
    'response_headers_too_large',
    'the buffers for responses are small',
    () => withDirectives('proxy_buffer_size 1k;', 'proxy_buffers 8 1k;'),
  ],
]

const examine = async (args: string[] = [], env: Record<string, string> = {}) => {
  const { code, stdout, stderr } = await svc.cli(['doctor', '--json', ...args], { env })
  assert.ok(stdout.startsWith('{'), stderr)
  const { findings }: Findings = JSON.parse(stdout)
  assert.equal(code, findings.length === 0 ? 0 : 1)
  return findings
}
const codesOf = (findings: Findings['findings']) => findings.map(({ code }) => code)

const startNginx = (t: TestContext, change: (folder: string) => Change = () => (text) => text) => {
  const folder = temporaryDirectory(t)
  return startGateway('nginx', { svc: svc.port, app, gateway, folder, t, change: change(folder) })
}

describe('svc doctor', { concurrency: false }, () => {
  for (const name of ALL_GATEWAYS) {
    test(`finds nothing with the documented configuration of ${name}`, async (t) => {
      await startGateway(name, { svc: svc.port, app, gateway, t })
      assert.deepEqual(await examine(), [])
    })
  }
})

describe('svc doctor behind nginx', { concurrency: false }, () => {
  test('says that it has found nothing', async (t) => {
    await startNginx(t)
    const { code, stdout } = await svc.cli(['doctor'])
    assert.equal(code, 0)
    assert.equal(stdout, `http://localhost:${gateway}: nothing to complain about.\n`)
  })

  for (const [expected, what, change] of BROKEN) {
    test(`${expected}: ${what}`, async (t) => {
      await startNginx(t, change)
      const findings = await examine()
      assert.deepEqual(codesOf(findings), [expected], JSON.stringify(findings))
      for (const { message, cure } of findings) assert.ok(message.endsWith('.') && cure.length > 20, message)
    })
  }

  test('finds nothing where the proxy says more than once that nothing is to be kept', async (t) => {
    await startNginx(t, () => withDirectives('add_header Cache-Control "private, no-cache" always;'))
    assert.deepEqual(await examine(), [])
  })

  test('no_backend: svc does not run', async (t) => {
    await startGateway('nginx', { svc: await freePort(), app, gateway, t })
    assert.deepEqual(codesOf(await examine()), ['no_backend'])
  })

  test('not_svc: the application has all paths', async (t) => {
    await startGateway('nginx', { svc: app, app, gateway, t })
    assert.deepEqual(codesOf(await examine()), ['not_svc'])
  })

  test('unreachable: nothing listens', async () => {
    const [finding] = await examine()
    assert.equal(finding?.code, 'unreachable')
    assert.match(finding?.message ?? '', /ECONNREFUSED/)
  })

  test('base_url_differs: the address is not that of SVC_BASE_URL', async (t) => {
    await startNginx(t)
    assert.deepEqual(codesOf(await examine([`http://127.0.0.1:${gateway}`])), ['base_url_differs'])
  })

  test('probe_unanswered: the command has another root secret than the service', async (t) => {
    await startNginx(t)
    const findings = await examine([], { SVC_SECRET: randomBytes(32).toString('base64') })
    assert.deepEqual(codesOf(findings), ['probe_unanswered', 'keys_unreadable'])
  })

  test('redirected: the address leads to another one', async (t) => {
    await startNginx(t, () => withDirectives('return 301 https://www.example.com$request_uri;'))
    const [finding] = await examine()
    assert.equal(finding?.code, 'redirected')
    assert.match(finding?.message ?? '', /https:\/\/www\.example\.com\/auth\/health/)
  })
})

describe('svc doctor behind nginx with TLS', { concurrency: false }, () => {
  const authority = createAuthority('Authority of the tests')

  const startTls = async (t: TestContext, meddle: Change = (text) => text) => {
    const folder = temporaryDirectory(t)
    const { certificate, key } = authority.issue('localhost', 'localhost')
    for (const [name, text] of Object.entries({ certificate, key, root: authority.root }))
      writeFileSync(path.join(folder, `${name}.pem`), text)
    await svc.restart({ env: { SVC_BASE_URL: `https://localhost:${gateway}` } })
    t.after(() => svc.restart({ env: { SVC_BASE_URL: `http://localhost:${gateway}` } }))
    const tls = `ssl_certificate ${folder}/certificate.pem;\n  ssl_certificate_key ${folder}/key.pem;`
    const change: Change = (text) =>
      replaced(meddle(text), `listen 127.0.0.1:${gateway};`, `listen 127.0.0.1:${gateway} ssl;\n  ${tls}`)
    await startGateway('nginx', { svc: svc.port, app, gateway, folder, t, change })
    return ['--ca', path.join(folder, 'root.pem')]
  }

  test('finds nothing with an authority that it is told of, and refuses one that it does not know', async (t) => {
    const ca = await startTls(t)
    assert.deepEqual(await examine(ca), [])
    const [finding] = await examine()
    assert.equal(finding?.code, 'certificate_refused')
  })

  for (const [what, line] of [
    ['left out', ''],
    ['wrong', 'proxy_set_header X-Forwarded-Proto http;'],
  ] as const)
    test(`scheme_lost: X-Forwarded-Proto is ${what}`, async (t) => {
      const ca = await startTls(t, inPlaceOf(PROTO, line))
      assert.deepEqual(codesOf(await examine(ca)), ['scheme_lost'])
    })

  test('cookies_not_secure: the flag is taken away', async (t) => {
    const ca = await startTls(t, withDirectives('proxy_cookie_flags ~ nosecure;'))
    assert.deepEqual(codesOf(await examine(ca)), ['cookies_not_secure'])
  })
})
