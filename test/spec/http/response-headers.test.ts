// Runs on SQLite.
import assert from 'node:assert/strict'
import { type IncomingMessage, get } from 'node:http'
import { type TestContext, describe, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { newAgent } from '../../support/client/accounts.ts'
import { type Answer, createUserAgent } from '../../support/client/user-agent.ts'
import { connectRaw } from '../../support/network/raw-connection.ts'
import { providerSettings } from '../../support/provider/provider-service.ts'
import { routeTable } from '../../support/service/route-table.ts'
import { type Service, startService } from '../../support/service/service.ts'
import { runCommand } from '../../support/service/warm-command.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const provider = { issuer: 'https://login.example.com', clientId: 'client', clientSecret: 'secret' }
// The paths of assets contain the name of the service, so both services must have the same name.
const service = await startService({
  env: {
    ...providerSettings({ company: provider }),
    SVC_APP_NAME: 'Any',
    SVC_CLIENTS: 'on',
    SVC_CLIENT_REGISTRATION: 'on',
  },
})
const routes = routeTable('company')

const NAMES = ['svc_access', 'svc_refresh', 'svc_csrf', 'svc_oauth']
/** Each of svc's cookies twice, which a response would expire. */
const repeated = NAMES.flatMap((name) => [`${name}=one`, `${name}=two`]).join('; ')

const mayBeStored = ({ headers }: Answer): boolean => !/\bno-store\b/.test(headers['cache-control'] ?? '')

describe('a response that caches may store', () => {
  for (const { path } of routes.filter(({ method }) => method === 'GET')) {
    test(`carries no cookie: ${path}`, async () => {
      for (const method of ['GET', 'HEAD', 'POST', 'PUT']) {
        const answer = await createUserAgent(service).send({ method, path, headers: { cookie: repeated } })
        assert.ok(answer.headers['cache-control'], 'every answer says whether it may be stored')
        if (mayBeStored(answer)) assert.deepEqual(answer.setCookies, [], method)
      }
    })
  }

  test('is an asset, the session script, the JWK Set or the discovery document, and nothing else', async () => {
    const stored: string[] = []
    for (const { path, method } of routes) {
      const answer = await newAgent(service).send({ method, path })
      if (mayBeStored(answer)) stored.push(path)
    }
    const expected = routes.filter(
      ({ method, path }) =>
        method === 'GET' &&
        !path.includes('{') &&
        /^\/auth\/(?:assets\/|session\.js$)|\.well-known\/(?:jwks\.json$|openid-c|oauth-a)/.test(path),
    )
    assert.deepEqual(
      stored,
      expected.map(({ path }) => path),
    )
    assert.ok(stored.length > 5)
  })

  test('an asset is compressed for a client that takes gzip, and no page is', async () => {
    const { path = '' } = routes.find((route) => route.path.endsWith('.css')) ?? {}
    const plain = await ask(path)
    assert.deepEqual([plain.encoding, plain.vary], [undefined, 'accept-encoding'])
    for (const accepted of ['gzip', 'br, GZIP;q=0.5', 'deflate,gzip; q=1.0']) {
      const packed = await ask(path, accepted)
      assert.deepEqual([packed.encoding, packed.vary], ['gzip', 'accept-encoding'], accepted)
      assert.deepEqual(gunzipSync(packed.body), plain.body)
      assert.ok(packed.body.length < plain.body.length / 2)
    }
    for (const accepted of ['', 'br', 'gzip;q=0', 'gzip; q=0.000', 'x-gzip', 'identity', 'gzip;q=2'])
      assert.equal((await ask(path, accepted)).encoding, undefined, accepted)
    // It has a token, which the length of a compressed page would give away (BREACH).
    assert.equal((await ask('/auth/login', 'gzip')).encoding, undefined)
  })

  test('other responses still expire cookies that arrive twice', async () => {
    const answer = await createUserAgent(service).get('/auth/login', { cookie: repeated })
    assert.deepEqual([...new Set(answer.cleared)].toSorted(), [...NAMES, 'svc_fresh', 'svc_session'].toSorted())
  })
})

/** Asks as a browser does, and takes the bytes as they come. */
const ask = async (address: string, accepted?: string) => {
  const headers = accepted === undefined ? {} : { 'accept-encoding': accepted }
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    get(new URL(address, service.url), { headers }, resolve).on('error', reject)
  })
  const body = Buffer.concat(await Array.fromAsync(answer))
  return { encoding: answer.headers['content-encoding'], vary: answer.headers.vary, body }
}

const UNREADABLE = [
  'nonsense\r\n\r\n',
  'FETCH /auth/login HTTP/1.1\r\nHost: localhost\r\n\r\n',
  'CONNECT x:443 HTTP/1.1\r\nHost: localhost\r\n\r\n',
  'GET /auth/login HTTP/1.1\r\nHost: localhost\r\nExpect: 200-ok\r\n\r\n',
  `GET /auth/login HTTP/1.1\r\nX: ${'x'.repeat(40_000)}\r\n\r\n`,
]

/** The headers of the response to a connection without a readable request. */
const refusalOf = async ({ port }: { port: number }, bytes: string, t: TestContext) => {
  const connection = await connectRaw({ port }, t)
  connection.write(bytes)
  const lines = (await connection.answer()).split('\r\n\r\n', 1)[0]?.split('\r\n').slice(1) ?? []
  return Object.fromEntries(lines.map((line) => [line.split(': ', 1)[0] ?? '', line.slice(line.indexOf(': ') + 2)]))
}

/** A response of every route to every method, and of an unknown path. */
const everyAnswer = async (own: { url: string }): Promise<[path: string, Answer][]> => {
  const agent = newAgent(own)
  const requested = [
    ...routes.map(({ path }) => path),
    '/auth/nothing',
    '/auth/api/v1/nothing',
    '/',
    '/auth/login?return_to=//x',
  ]
  const answers: [string, Answer][] = []
  for (const path of new Set(requested))
    for (const method of ['GET', 'HEAD', 'POST', 'PUT']) answers.push([path, await agent.send({ method, path })])
  return answers
}

/** Programs of any origin ask here, without cookies. */
const OPEN_TO_ANY_ORIGIN = new Set(routes.flatMap(({ anyOrigin, path }): string[] => (anyOrigin ? [path] : [])))
/** A client may watch the window in which it has sent a user here. */
const isForClients = (path: string): boolean => path.startsWith('/auth/oauth2/')

describe('every response', () => {
  test('forbids other types and embedding by other origins, and isolates HTML from other windows', async () => {
    const { host } = new URL(service.url)
    for (const [path, { headers }] of await everyAnswer(service)) {
      assert.equal(headers['x-content-type-options'], 'nosniff', path)
      assert.equal(headers['cross-origin-resource-policy'], 'same-origin', path)
      assert.equal(headers['strict-transport-security'], undefined, path)
      const policy = String(headers['content-security-policy'])
      assert.match(policy, /default-src 'none';.*frame-ancestors 'none'/, path)
      assert.doesNotMatch(policy, /'unsafe-eval'|script-src[^;]*'unsafe-inline'/, path)
      const isOpen = OPEN_TO_ANY_ORIGIN.has(path)
      assert.equal(headers['access-control-allow-origin'], isOpen ? '*' : undefined, path)
      assert.equal(headers['access-control-allow-credentials'], undefined, path)
      if (!headers['content-type']?.startsWith('text/html')) continue
      assert.equal(headers['cross-origin-opener-policy'], isForClients(path) ? undefined : 'same-origin', path)
      assert.ok(policy.includes(`style-src ${host}/auth/assets/; script-src ${host}/auth/assets/;`), policy)
    }
  })

  test('names the type of its content, and the character set where the type has one', async () => {
    const types = new Set<string>()
    for (const [path, { headers, text }] of await everyAnswer(service)) {
      if (text !== '') types.add(headers['content-type'] ?? `missing: ${path}`)
    }
    const withSet = ['image/svg+xml', 'text/css', 'text/html', 'text/javascript'].map(
      (type) => `${type}; charset=utf-8`,
    )
    assert.deepEqual([...types].toSorted(), ['application/json', ...withSet])
  })

  test('to an unreadable request forbids other types, framing and embedding', async (t) => {
    for (const bytes of UNREADABLE) {
      const headers = await refusalOf(service, bytes, t)
      assert.equal(headers['x-content-type-options'], 'nosniff', bytes)
      assert.equal(headers['cross-origin-resource-policy'], 'same-origin')
      assert.match(headers['content-security-policy'] ?? '', /default-src 'none'; frame-ancestors 'none'/)
    }
  })
})

/** Where the policy of a page allows scripts from. */
const scriptSourcesOf = async (of: Pick<Service, 'url'>, headers: Record<string, string>) => {
  const answer = await newAgent(of).get('/auth/login', headers)
  return /script-src ([^;]*);/.exec(String(answer.headers['content-security-policy']))?.[1]
}

test('a page also allows scripts and styles of the host that it was opened with, but of no invalid host', async () => {
  const { host } = new URL(service.url)
  const sourcesOf = (headers: Record<string, string>) => scriptSourcesOf(service, headers)
  const own = `${host}/auth/assets/`
  assert.equal(await sourcesOf({ host: 'app.example.com' }), `${own} app.example.com/auth/assets/`)
  const forwarded = { host: '127.0.0.1:1', 'x-forwarded-host': 'app.example.com' }
  assert.equal(await sourcesOf(forwarded), `${own} 127.0.0.1:1/auth/assets/ app.example.com/auth/assets/`)
  assert.equal(await sourcesOf({ host: "a.example;script-src'unsafe-inline'" }), `${own} 'self'`)
  assert.equal(await sourcesOf({ host: '[::1]:8080' }), `${own} 'self'`)
})

test('with SVC_BASE_URL, no proxy says which other host a page allows scripts and styles of', async (t) => {
  const fixed = await startService({
    t,
    env: { ...service.env, SVC_PORT: '0', SVC_BASE_URL: 'https://app.example.com' },
  })
  for (const host of ['app.example.com', '127.0.0.1:1']) {
    const plain = await scriptSourcesOf(fixed, { host })
    assert.match(String(plain), /^app\.example\.com\/auth\/assets\//)
    assert.equal(await scriptSourcesOf(fixed, { host, 'x-forwarded-host': 'evil.example' }), plain)
  }
})

describe('SVC_HSTS', () => {
  test('is sent with every response, for the configured time and this host alone', async (t) => {
    const env = { ...service.env, SVC_PORT: '0', SVC_BASE_URL: 'https://app.example.com', SVC_HSTS: '8760h' }
    const secure = await startService({ t, env })
    const values = (await everyAnswer(secure)).map(([, { headers }]) => headers['strict-transport-security'])
    for (const bytes of UNREADABLE) values.push((await refusalOf(secure, bytes, t))['strict-transport-security'])
    assert.deepEqual([...new Set(values)], ['max-age=31536000'])
  })

  for (const [what, env, named] of [
    [
      'with a base URL of http',
      { SVC_HSTS: '8760h', SVC_BASE_URL: 'http://app.example.com' },
      /^svc: SVC_HSTS .*https/,
    ],
    ['without a base URL', { SVC_HSTS: '8760h' }, /^svc: SVC_HSTS .*https/],
    ['that is no duration', { SVC_HSTS: '365d', SVC_BASE_URL: 'https://app.example.com' }, /^svc: SVC_HSTS/],
  ] as const) {
    test(`is a configuration error ${what}`, async (t) => {
      const { code, stderr } = await runCommand({ args: ['serve'], cwd: temporaryDirectory(t), env })
      assert.equal(code, 78, stderr)
      assert.match(stderr, named)
    })
  }
})
