// Runs once.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { before, describe, type TestContext, test } from 'node:test'
import { afterwards } from '../support/cleanup.ts'
import { newPerson } from '../support/client/accounts.ts'
import type { Answer } from '../support/client/user-agent.ts'
import { turnedClock } from '../support/clock/turned-clock.ts'
import { startEchoApplication } from '../support/gateway/echo-application.ts'
import { startGateway } from '../support/gateway/gateway.ts'
import { ASKING_GATEWAYS, PUBLIC_ORIGIN, replaced } from '../support/gateway/gateway-configuration.ts'
import {
  asPassedBy,
  assertInjectsNothing,
  assertLeadsBack,
  echoOf,
  headersOf,
  identityOf,
  pathOf,
  type Visitor,
  visitorOf,
} from '../support/gateway/visitor.ts'
import { connectRaw } from '../support/network/raw-connection.ts'
import { startService } from '../support/service/service.ts'

const HOST = new URL(PUBLIC_ORIGIN).host

/** How long each waits for the answer to a check. */
const PATIENCE: Record<Exclude<(typeof ASKING_GATEWAYS)[number], 'Traefik'>, string> = {
  nginx: 'proxy_read_timeout 5s',
  Caddy: 'response_header_timeout 5s',
  HAProxy: 'set-timeout server 5s',
  Envoy: 'timeout: 5s',
}

const clock = turnedClock()
const svc = await startService({ env: { SVC_BASE_URL: PUBLIC_ORIGIN, SVC_NAMES: 'optional' }, clock })
const app = await startEchoApplication()
/** As the comment there says. */
const withNames = (text: string): string =>
  text.replace('copy_headers X-Svc-User-Id', 'copy_headers X-Svc-User-Name X-Svc-User-Id')
const gateways = await Promise.all(
  ASKING_GATEWAYS.map(async (name) => ({
    name,
    port: await startGateway(name, { svc: svc.port, app, change: withNames }),
  })),
)

const MINUTE = 60_000
let passedMs = 0
/** Time passes, for all tests of this file. */
const passMinutes = async (minutes: number): Promise<void> => {
  passedMs += minutes * MINUTE
  await clock.turnTo(passedMs)
}

const memberOf = async (port: number): Promise<Visitor> => {
  const member = visitorOf(port)
  assert.equal((await member.submit('/auth/signup', { ...newPerson(), name: 'José' })).status, 303)
  return member
}

/** Each must come back from the login page exactly as it was sent. */
const TARGETS = [
  '/members',
  '/members/',
  '/members/a?b=1&c=2&d',
  '/members/%0d%0aSet-Cookie:%20stolen=1%0d%0aX-Injected:%201',
  '/members/?q=%0d%0aSet-Cookie:%20stolen=1',
  '/members/%0aX-Injected:%201?q=%0aX-Injected:%201',
  '/members/a%26b?c=%26d&e=f%26g',
  '/members/%23a?b=%23c',
  '/members/%3fa=b?c=%3fd',
  '/members/%2f%2fevil.example?to=%2f%2fevil.example',
  '/members/a?to=//evil.example&return_to=/elsewhere&return_to=%2Felsewhere&redirect=0&headers=remote',
  '/members/%E6%97%A5%e6%9c%ac?caf%C3%A9=%c3%a9',
  '/members/%25?a=%2525+b%20c',
  '/members/a;b=c,d?e;f=g,h',
]

/** Ways to write an address of the protected part that an application may understand. */
const SPELLINGS = ['//members/a', '/members//a', '/%6dembers/a', '/x/../members/a', '/./members/a', '/members/./a']

/** Targets in which many URL parsers find a path of the protected part, and a comparison of paths does not. */
const AMBIGUOUS = [
  '//x/members',
  '///members',
  '/\\x/members',
  '/\\/x/members',
  '/members\\a',
  '/x/..\\members',
  '/x\\..\\members?a',
  '/members#a',
  `${PUBLIC_ORIGIN}/members`,
  `${PUBLIC_ORIGIN}//x/members`,
  `${PUBLIC_ORIGIN}\\members`,
  '/x/.%2e/members',
  '/mem\tbers',
  '/x/.\t./members',
]

/** What a client may tell a proxy to leave out. */
const CONNECTIONS = [
  'close, X-Svc-User-Roles, X-Svc-User-Amr',
  'x_svc_user_roles',
  'keep-alive, Remote-User, remote-groups',
  'close, X-Forwarded-For, X-Forwarded-Proto, X-Forwarded-Uri, X-Forwarded-Method',
]

const FORGED = {
  'X-Svc-User-Roles': 'admin',
  'X-SVC-USER-ID': '1',
  'X-Svc-User-Name': 'Admin',
  'x-svc-user-amr': 'mfa',
  'Remote-User': 'admin',
  'remote-groups': 'admin',
  X_Svc_User_Roles: 'admin',
  X_Svc_User_Amr: 'mfa',
  'X-Svc.User-Amr': 'mfa',
  x_svc_user_email: 'admin',
  Remote_User: 'admin',
  'X.Svc.User.Roles': 'admin',
  'X-Svc.User.Email': 'admin',
  'remote.user': 'admin',
}

/** What svc and the proxy have set of what the application got. */
const setOnTheWay = (answer: Answer) => headersOf(echoOf(answer), /^(x-svc|remote|x-forwarded|connection)/)

const assertNotShown = ({ text, status }: { text: string; status: number }, title: string): void => {
  assert.doesNotMatch(text, /"application":true/, title)
  assert.notEqual(status, 200, title)
}

for (const { name, port } of gateways) {
  describe(name, { concurrency: false }, () => {
    test('the application is told who the user is, and nothing that the client says about it', async () => {
      const member = await memberOf(port)
      const user = (await member.fetch('/auth/api/v1/user')).json<{ id: string; email: string; username: string }>()
      const expected = {
        'x-svc-user-id': user.id,
        'x-svc-user-email': user.email,
        'x-svc-user-username': user.username,
        'x-svc-user-name': 'Jos%C3%A9',
        'x-svc-user-roles': '-',
        'x-svc-user-email-verified': 'false',
        'x-svc-user-amr': 'pwd',
      }
      assert.deepEqual(identityOf(echoOf(await member.open('/members/a'))), expected)
      const seen = identityOf(echoOf(await member.open('/members/a', FORGED)))
      assert.deepEqual(seen, expected)
      assert.equal((await svc.cli(['users', 'set-roles', user.id, 'a', 'b:c'])).code, 0)
      assert.equal(identityOf(echoOf(await member.fetch('/members/a', FORGED)))['x-svc-user-roles'], 'a,b:c')
    })

    test('where svc tells no names, neither does the client', async (t) => {
      const nameless = await startService({ t, env: { SVC_BASE_URL: PUBLIC_ORIGIN } })
      const member = await memberOf(await startGateway(name, { svc: nameless.port, app, t }))
      const { status } = await member.open('/members/a', FORGED)
      assert.equal(status, 200)
      const seen = identityOf(echoOf(await member.open('/members/a', FORGED)))
      assert.deepEqual([seen['x-svc-user-name'] || undefined, seen['x-svc-user-roles']], [undefined, '-'])
    })

    test('a visitor without a session returns to exactly the requested address', async () => {
      const member = await memberOf(port)
      for (const sent of TARGETS) {
        const target = asPassedBy(name, sent)
        const stranger = visitorOf(port)
        const answer = await stranger.open(sent)
        assertLeadsBack(answer, target)
        const login = pathOf(answer.location)
        assert.equal((await stranger.open(login)).status, 200, login)
        assert.equal((await member.open(login)).location, target)
        const arrived = await member.open(sent)
        assert.equal(echoOf(arrived).target, target)
        assertInjectsNothing(arrived)
      }
    })

    test('a request of a script is 401, and a form gets a page that tells its user what to do', async () => {
      const stranger = visitorOf(port)
      const script = await stranger.fetch('/members/data')
      assert.deepEqual([script.status, script.location], [401, undefined])
      const form = await stranger.post('/members/form?a=1', { text: 'typed' })
      assert.deepEqual([form.status, form.location], [401, undefined])
      assert.match(form.text.replaceAll(/<[^>]+>/g, ''), /You were logged out before this was sent\./)
      assert.match(String(form.headers['content-type']), /^text\/html/)
      for (const answer of [script, form]) {
        assertNotShown(answer, name)
        assert.deepEqual(answer.cleared, [])
      }
    })

    test('a form of a user who is signed in arrives whole', async () => {
      const member = await memberOf(port)
      const text = 'x'.repeat(50_000)
      const echo = echoOf(await member.post('/members/form?a=1', { text }))
      assert.deepEqual([echo.method, echo.target], ['POST', '/members/form?a=1'])
      assert.ok(echo.body.includes(text))
    })

    test('after the access token has expired, 100 requests at once end no session, and the login page renews it', async () => {
      const member = await memberOf(port)
      await passMinutes(11)
      const answers = await Promise.all(Array.from({ length: 100 }, (_, index) => member.fetch(`/members/${index}`)))
      for (const { status, setCookies } of answers) assert.deepEqual([status, setCookies], [401, []])
      const pages = await Promise.all(Array.from({ length: 10 }, () => member.open('/members/a?b&c')))
      for (const page of pages) assertLeadsBack(page, '/members/a?b&c')
      // Without a script: the login page renews the session on the way.
      assert.equal((await member.open(pathOf(pages[0]?.location))).location, '/members/a?b&c')
      assert.equal(echoOf(await member.open('/members/a?b&c')).target, '/members/a?b&c')
      // With one: it renews, and asks again.
      await passMinutes(11)
      assert.equal((await member.fetch('/members/1')).status, 401)
      assert.equal((await member.refresh()).status, 200)
      const again = await Promise.all(Array.from({ length: 100 }, (_, index) => member.fetch(`/members/${index}`)))
      for (const { status } of again) assert.equal(status, 200)
    })

    test('nothing is shown to a session that has ended, a forged one or none, however the address is written', async () => {
      const member = await memberOf(port)
      const access = member.cookies.get('svc_access') ?? ''
      assert.equal(echoOf(await member.open('/members/a')).target, '/members/a')
      assert.equal((await member.submit('/auth/logout', {})).status, 303)
      for (const token of [access, 'x', '', `${access}; svc_access=${access}`]) {
        member.cookies.set('svc_access', token)
        assertLeadsBack(await member.open('/members/a?b&c'), '/members/a?b&c')
        for (const target of SPELLINGS) assertNotShown(await member.open(target), `${target} ${token}`)
      }
      for (const target of ['/members/a#b', '/members/../members/a', '/x/%2e%2e/members/a']) {
        const answer = await visitorOf(port).open(target)
        assertInjectsNothing(answer)
        assertNotShown(answer, target)
      }
    })

    test('no address is open in which an application finds the protected part by its URL parser', async (t) => {
      for (const target of AMBIGUOUS) {
        const raw = await connectRaw({ port }, t)
        raw.write(`GET ${target} HTTP/1.1\r\nHost: ${HOST}\r\nConnection: close\r\n\r\n`)
        const [, arrived] = /"target":("[^"]*")/.exec(await raw.answer()) ?? []
        if (arrived === undefined) continue
        assert.doesNotMatch(new URL(JSON.parse(arrived), 'http://application').pathname, /^\/members(\/|$)/, target)
      }
      assert.equal(echoOf(await visitorOf(port).open('/a?b=\\c&d=//e')).target, '/a?b=\\c&d=//e')
    })

    test('no client has headers left out that svc or the proxy has set', async () => {
      const member = await memberOf(port)
      const usual = setOnTheWay(await member.open('/members/a'))
      for (const connection of CONNECTIONS) {
        const answer = await member.open('/members/a', { connection })
        if (answer.status !== 400) assert.deepEqual(setOnTheWay(answer), usual, connection)
      }
    })

    test('bytes that are not percent-encoded are returned unchanged, or refused', async () => {
      const target = '/members/日本?é=è'
      const answer = await visitorOf(port).open(Buffer.from(target).toString('latin1'))
      assertInjectsNothing(answer)
      if (answer.status === 400) return
      const login = new URL(answer.location ?? '', PUBLIC_ORIGIN)
      assert.equal(decodeURI(login.searchParams.get('return_to') ?? ''), target)
    })

    test('what a visitor says about the original request changes nothing', async () => {
      const answer = await visitorOf(port).open('/members/a?b', {
        'x-forwarded-uri': '/elsewhere',
        'x-original-uri': '/elsewhere',
        'x-original-url': 'http://members.example/elsewhere',
        'x-forwarded-method': 'POST',
        'x-original-method': 'POST',
      })
      assertLeadsBack(answer, '/members/a?b')
    })
  })
}

/** How everything is protected, as the notes of each gateway say. */
const PROTECT_ALL: Record<(typeof ASKING_GATEWAYS)[number], [from: string, to: string][]> = {
  nginx: [
    ['  location / {\n    proxy_pass http://application;\n  }\n', ''],
    ['location ~ ^/members(/|$) {', 'location / {'],
  ],
  Caddy: [
    ['@members path /members /members/*\n', ''],
    ['forward_auth @members', 'forward_auth'],
  ],
  HAProxy: [['if is_members', 'if !is_auth']],
  Traefik: [],
  Envoy: [
    [`timeout: 60s }\n${' '.repeat(26)}typed_per_filter_config: *open\n\n  clusters:`, 'timeout: 60s }\n\n  clusters:'],
  ],
}

/** Paths that take tokens stay open: what is there verifies them. */
const OPEN_TO_TOKENS = ['/mcp', '/mcp/a?b', '/.well-known/oauth-protected-resource/mcp']
/** An application may find another path in these. */
const NOT_OPEN = [
  '/mcp/../members/a',
  '/mcp/%2e%2e/members/a',
  '/mcp/..%2fmembers/a',
  '/mcp/x/../../members',
  '/mcp/..',
  '/mcp/..;/members/a',
  '/mcp/%2e./members',
  '/mcpx',
  '/MCP/a',
  '/.well-known/oauth-protected-resourcex',
]

for (const { name } of gateways) {
  // Its routers are in another file than the one that a test can change.
  if (name === 'Traefik') continue
  test(`${name} protects everything but the pages of svc, where it is told to`, async (t) => {
    const change = (text: string) => PROTECT_ALL[name].reduce((rest, [from, to]) => replaced(rest, from, to), text)
    const port = await startGateway(name, { svc: svc.port, app, t, change })
    const member = await memberOf(port)
    for (const target of ['/', '/a?b&c', '/x/members']) {
      assertLeadsBack(await visitorOf(port).open(target), target)
      assert.equal((await visitorOf(port).fetch(target)).status, 401)
      assert.equal(echoOf(await member.open(target)).target, target)
    }
    assert.equal((await visitorOf(port).open('/auth/login')).status, 200)
    for (const target of OPEN_TO_TOKENS)
      assert.deepEqual(
        identityOf(echoOf(await member.fetch(target, { ...FORGED, authorization: 'Bearer x' }))),
        {},
        target,
      )
    for (const target of NOT_OPEN) {
      const raw = await connectRaw({ port }, t)
      raw.write(`GET ${target} HTTP/1.1\r\nHost: ${HOST}\r\nConnection: close\r\n\r\n`)
      assert.doesNotMatch(await raw.answer(), /"application":true/, target)
    }
    assert.equal((await member.open('/auth/check')).status, 404)
  })
}

test('software that knows Remote-User gets it from Caddy, and not from the client', async (t) => {
  const named =
    'X-Svc-User-Id X-Svc-User-Email X-Svc-User-Username X-Svc-User-Roles X-Svc-User-Email-Verified X-Svc-User-Amr'
  const change = (text: string) =>
    replaced(
      replaced(text, '?redirect=1', '?redirect=1&headers=remote'),
      named,
      'Remote-User Remote-Email Remote-Groups',
    )
  const port = await startGateway('Caddy', { svc: svc.port, app, t, change })
  const member = await memberOf(port)
  const { email, username } = (await member.fetch('/auth/api/v1/user')).json<{ email: string; username: string }>()
  assert.deepEqual(identityOf(echoOf(await member.open('/members/a', FORGED))), {
    'remote-user': username,
    'remote-email': email,
    'remote-groups': '-',
  })
})

/** Checks for 503 without a redirect, and without a page of the application. */
const assertAway = async (port: number, status = 503): Promise<void> => {
  const visitor = visitorOf(port)
  const answers = [[], 'svc_access=x'].flatMap((cookie) => [
    visitor.open('/members/a', { cookie }),
    visitor.fetch('/members/a', { cookie }),
  ])
  for (const answer of await Promise.all(answers)) {
    assert.deepEqual([answer.status, answer.location], [status, undefined])
    if (status === 503) assert.equal(answer.headers['retry-after'], '2')
    assertNotShown(answer, 'away')
  }
  assert.equal(echoOf(await visitorOf(port).open('/elsewhere')).target, '/elsewhere')
}

/** Something in place of svc that takes connections and never answers. */
const startSilence = async (t: TestContext): Promise<number> => {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    afterwards(t, () => socket.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  afterwards(t, () => server.close())
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

describe('while svc is away', () => {
  for (const { name } of gateways) {
    // Traefik waits for half a minute, which no setting changes.
    if (name === 'Traefik') continue
    test(`${name} answers 503 for the protected part while svc takes its time`, async (t) => {
      const silent = await startSilence(t)
      const patience = PATIENCE[name]
      const change = (text: string) => replaced(text, patience, patience.replace('5s', '1s'))
      await assertAway(await startGateway(name, { svc: silent, app, t, change }))
    })
  }

  describe('and is stopped', () => {
    before(() => svc.stop())

    for (const { name, port } of gateways) {
      const status = name === 'Traefik' ? 500 : 503
      test(`${name} answers ${status} for the protected part, and neither shows it nor asks for a login`, () =>
        assertAway(port, status))
    }
  })
})
