// Runs on SQLite, alone.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { fetchDocument, FetchProblem } from '../../../src/clients/document-fetch.ts'
import { newAgent, type Person, signedUp } from '../../support/client/accounts.ts'
import { createBackend } from '../../support/client/backend.ts'
import type { UserAgent } from '../../support/client/user-agent.ts'
import { allow, answerToClient, authorizePath, CLIENT_SETTINGS } from '../../support/clients/authorization.ts'
import { LOOPBACK_URI, startDocumentHost } from '../../support/clients/document-host.ts'
import {
  assertEnded,
  assertLive,
  assertOAuthError,
  refresh,
  tokensIn,
  trade,
  type Tokens,
} from '../../support/clients/tokens.ts'
import { turnedClock } from '../../support/clock/turned-clock.ts'
import { runJsonCommandOf } from '../../support/service/operator-commands.ts'
import { startService } from '../../support/service/service.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

const host = await startDocumentHost()
const clock = turnedClock()
const env = { ...CLIENT_SETTINGS, SVC_CLIENT_HOSTS: 'localhost,cursor:', SVC_RATE_LIMIT: 'on' }
const service = await startService({ clock, env })

type Shown = Record<string, unknown>
const show = (id: string): Promise<Shown> => runJsonCommandOf(service, ['clients', 'show', id])

const { agent } = await signedUp(service)
const request = async (id: string, by = agent) => by.get(authorizePath(id, { redirect_uri: LOOPBACK_URI }))
/** A user of their own for each test: fetches are limited. */
const requestByNew = async (id: string) => request(id, (await signedUp(service)).agent)

/** The user proves to be there, and allows the client what it asks for. */
const grantedTo = async (id: string, { agent: by, person }: { agent: UserAgent; person: Person }): Promise<Tokens> => {
  const { location = '' } = await request(id, by)
  const returnTo = new URL(location, service.url).searchParams.get('return_to') ?? assert.fail(location)
  const confirmed = await by.post('/auth/account/confirm', { password: person.password, return_to: returnTo })
  const answer = await allow(by, await by.get(confirmed.location ?? ''))
  const code = answerToClient(answer, LOOPBACK_URI).get('code') ?? ''
  return tokensIn(await trade(service, { id }, code, { redirect_uri: LOOPBACK_URI }))
}

describe('a metadata document', () => {
  test('is fetched once a user is signed in, and not before; then the client is one that nobody has checked', async () => {
    const id = host.publish('first', {
      client_name: 'First agent',
      redirect_uris: [LOOPBACK_URI, 'https://evil.example/cb', 'cursor://x/cb'],
    })
    const stranger = await request(id, newAgent(service))
    assert.match(String(stranger.location), /^\/auth\/login/)
    assert.equal(host.requestsFor('first').length, 0)
    const page = await requestByNew(id)
    assert.notEqual(page.status, 400, page.text)
    const [fetched, ...more] = host.requestsFor('first')
    assert.deepEqual(more, [])
    assert.equal(fetched?.headers['accept-encoding'], 'identity')
    assert.equal(fetched?.headers.cookie, undefined)
    const client = await show(id)
    assert.deepEqual([client.kind, client.name, client.first_party], ['document', 'First agent', false])
    assert.deepEqual(client.redirect_uris, [LOOPBACK_URI, 'cursor://x/cb'], 'those on hosts of the settings count')

    const api = await createBackend(service, ['clients:write'])
    const path = `/clients/${encodeURIComponent(id)}`
    assert.deepEqual((await api.call('GET', path)).json(), client)
    assert.equal((await api.call('PATCH', path, { disabled: true })).status, 200)
    assert.equal((await show(id)).disabled, true)
    assert.equal((await api.call('DELETE', path)).status, 204)
    assert.equal((await api.call('GET', path)).status, 404)
    for (const odd of ['%', '%zz', 'https%3A%2F%2F%ff', 'https%3A%2F%2Fa%00', '%2F'])
      assert.equal((await api.call('GET', `/clients/${odd}`)).status, 404)
  })

  test('counts as fresh for as long as its headers say, a minute to an hour', async () => {
    const cases: [string, Record<string, string>, number][] = [
      ['no-headers', {}, MINUTE_MS],
      ['ten-minutes', { 'cache-control': 'public, max-age=600' }, 10 * MINUTE_MS],
      ['a-day', { 'cache-control': 'max-age=86400' }, HOUR_MS],
      ['no-store', { 'cache-control': 'no-store, max-age=600' }, MINUTE_MS],
      ['aged', { 'cache-control': 'max-age=600', age: '300' }, 5 * MINUTE_MS],
    ]
    const { agent: reader } = await signedUp(service)
    for (const [name, headers, freshMs] of cases) {
      const id = host.publish(name, {}, headers)
      const startMs = clock.aheadMs()
      await request(id, reader)
      await clock.turnTo(startMs + freshMs - 10_000)
      await request(id, reader)
      assert.equal(host.requestsFor(name).length, 1, `${name}: fresh`)
      await clock.turnTo(startMs + freshMs + 10_000)
      await request(id, reader)
      assert.equal(host.requestsFor(name).length, 2, `${name}: stale`)
    }
  })

  test('that has changed changes the client, whose change is recorded', async () => {
    const id = host.publish('changes')
    await requestByNew(id)
    host.publish('changes', { client_name: 'Another name' })
    await clock.turnTo(clock.aheadMs() + 2 * MINUTE_MS)
    await requestByNew(id)
    assert.equal((await show(id)).name, 'Another name')
  })

  const bad: [string, RegExp, Record<string, unknown> | Parameters<typeof host.answer>[1]][] = [
    ['another client_id', /client_id must be the URL/, { client_id: 'https://localhost/other' }],
    ['no client_id', /client_id must be the URL/, { client_id: undefined }],
    ['no redirect URIs', /redirect_uris must have one/, { redirect_uris: undefined }],
    [
      'redirect URIs of other hosts alone',
      /redirect_uris must have one that svc accepts/,
      { redirect_uris: ['https://evil.example/cb'] },
    ],
    ['a redirect URI that runs code', /must be an https URL/, { redirect_uris: ['javascript:alert(1)'] }],
    ['redirect URIs that are no list', /redirect_uris must be a list/, { redirect_uris: LOOPBACK_URI }],
    ['a secret', /no client_secret/, { client_secret: 'x' }],
    [
      'a method with a secret',
      /token_endpoint_auth_method must be none/,
      { token_endpoint_auth_method: 'client_secret_post' },
    ],
    ['a name that turns the direction', /client_name must be/, { client_name: 'a\u202Eb' }],
    ['a name of 61 characters', /client_name must be/, { client_name: 'x'.repeat(61) }],
    ['more than 5 KB', /at most 5120 bytes/, { client_uri: 'x'.repeat(5200) }],
    ['a redirect', /must not be a redirect/, (_, response) => response.writeHead(302, { location: '/first' }).end()],
    ['404', /answered with 200, and is 404/, (_, response) => response.writeHead(404).end()],
    ['500', /its host has answered 500/, (_, response) => response.writeHead(500).end()],
    [
      'another type',
      /Content-Type must be/,
      (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('{}'),
    ],
    [
      'a list',
      /JSON object/,
      (_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('[]'),
    ],
    [
      'no JSON',
      /JSON object/,
      (_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{'),
    ],
    [
      'a compressed body',
      /Content-Encoding/,
      (_, response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
        response.end(gzipSync(JSON.stringify({ x: 'x'.repeat(1_000_000) })))
      },
    ],
    [
      'a body without end',
      /at most 5120 bytes/,
      (_, response) => {
        response.writeHead(200, { 'content-type': 'application/json' })
        const writeOn = () => response.writable && response.write(' '.repeat(1000), () => setImmediate(writeOn))
        writeOn()
      },
    ],
    [
      'a body that breaks off',
      /broken off/,
      (_, response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' }).write('{')
        setTimeout(() => response.destroy(), 10)
      },
    ],
  ]
  for (const [what, problem, given] of bad) {
    test(`with ${what} is refused with a page that says why, and is asked for again after a minute`, async () => {
      const name = what.replaceAll(' ', '-')
      if (typeof given === 'function') host.answer(name, given)
      else host.publish(name, given)
      const { agent: user } = await signedUp(service)
      for (let again = 0; again < 2; again += 1) {
        const { status, text, location } = await request(host.urlOf(name), user)
        assert.deepEqual([status, location], [400, undefined])
        assert.match(text, problem)
        assert.equal(host.requestsFor(name).length, 1)
      }
      assert.equal((await service.cli(['clients', 'show', host.urlOf(name)])).code, 1, 'there is no such client')
      await clock.turnTo(clock.aheadMs() + MINUTE_MS + 1000)
      await request(host.urlOf(name), user)
      assert.equal(host.requestsFor(name).length, 2)
    })
  }

  for (const [what, changes] of [
    ['no method', { token_endpoint_auth_method: undefined }],
    [
      'several methods, one of them none',
      {
        token_endpoint_auth_method: 'private_key_jwt',
        token_endpoint_auth_methods_supported: ['private_key_jwt', 'none'],
      },
    ],
    ['no name', { client_name: undefined }],
  ] as const) {
    test(`with ${what} is a public client's`, async () => {
      const id = host.publish(what.replaceAll(' ', '-'), changes)
      assert.notEqual((await requestByNew(id)).status, 400)
      assert.equal((await show(id)).type, 'native')
    })
  }

  test('of a type that ends in +json is read', async () => {
    const id = host.publish('plus', {}, { 'content-type': 'application/vnd.client+json; charset=utf-8' })
    assert.notEqual((await requestByNew(id)).status, 400)
  })

  test('that was good stays good for a day while its host fails, and not when it is gone', async () => {
    const [failing, gone] = [host.publish('failing'), host.publish('gone')]
    await requestByNew(failing)
    await requestByNew(gone)
    host.answer('failing', (_, response) => response.writeHead(503).end())
    host.answer('gone', (_, response) => response.writeHead(410).end())
    const startMs = clock.aheadMs()
    await clock.turnTo(startMs + 23 * HOUR_MS)
    assert.notEqual((await requestByNew(failing)).status, 400)
    assert.ok(host.requestsFor('failing').length > 1)
    assert.equal((await requestByNew(gone)).status, 400)
    await clock.turnTo(startMs + 25 * HOUR_MS)
    assert.equal((await requestByNew(failing)).status, 400)
  })

  test('is fetched for a user ten times an hour, and those that are known go on', async () => {
    const { agent: busy } = await signedUp(service)
    const known = host.publish('known')
    await request(known, busy)
    for (let count = 1; count < 10; count += 1)
      assert.notEqual((await request(host.publish(`many-${count}`), busy)).status, 429)
    const eleventh = await request(host.publish('many-11'), busy)
    assert.equal(eleventh.status, 429, eleventh.text)
    assert.equal(host.requestsFor('many-11').length, 0)
    await clock.turnTo(clock.aheadMs() + 2 * MINUTE_MS)
    assert.notEqual((await request(known, busy)).status, 429, 'the document that was good')
    assert.notEqual((await requestByNew(host.urlOf('many-11'))).status, 429, 'another user')
  })

  test('is not fetched for tokens: a grant holds what it needs, whatever has become of the document', async () => {
    const id = host.publish('forgotten')
    const user = await signedUp(service)
    const tokens = await grantedTo(id, user)
    assert.equal(host.requestsFor('forgotten').length, 1)
    host.answer('forgotten', (_, response) => response.writeHead(404).end())
    await clock.turnTo(clock.aheadMs() + 48 * HOUR_MS)
    const next = tokensIn(await refresh(service, { id }, tokens.refresh))
    await assertLive(service, next)
    assert.equal(host.requestsFor('forgotten').length, 1)
  })

  test('gives a user 20 grants at most: the one unused for longest ends, and no other client loses one', async () => {
    const [id, other] = [host.publish('greedy'), host.publish('modest')]
    const user = await signedUp(service)
    const kept = await grantedTo(other, user)
    const all: Tokens[] = []
    for (let count = 0; count < 21; count += 1) {
      all.push(await grantedTo(id, user))
      // A user allows 20 an hour.
      if (count === 10) await clock.turnTo(clock.aheadMs() + HOUR_MS + MINUTE_MS)
    }
    const [first, second] = all
    assert.ok(first && second)
    await assertEnded(service, { id }, first)
    tokensIn(await refresh(service, { id }, second.refresh))
    tokensIn(await refresh(service, { id: other }, kept.refresh))
  })

  test('of a client that was disabled is not fetched', async () => {
    const id = host.publish('disabled')
    await requestByNew(id)
    await runJsonCommandOf(service, ['clients', 'disable', id])
    await clock.turnTo(clock.aheadMs() + 2 * HOUR_MS)
    assert.equal((await requestByNew(id)).status, 400)
    assert.equal(host.requestsFor('disabled').length, 1)
  })

  test('is none without a path, with a user, a fragment, dots or http, or on a host that is not in the settings', async () => {
    const base = host.urlOf('')
    for (const id of [
      base,
      base.slice(0, -1),
      `${base}a/../first`,
      `${base}first#x`,
      base.replace('https:', 'http:') + 'first',
      base.replace('//', '//user@') + 'first',
      base.replace('localhost', '127.0.0.1') + 'first',
      base.replace('localhost', 'localhost.') + 'first',
      'https://evil.example/client.json',
    ]) {
      assert.equal((await request(id)).status, 400, id)
      assert.equal((await request(id, newAgent(service))).status, 400, `${id}: nobody has to log in to learn that`)
    }
  })

  test('may name another redirect URI by now: the login page comes first, and prompt=none is a page for the developer', async () => {
    const id = host.publish('moved')
    await requestByNew(id)
    const redirect_uri = 'http://127.0.0.1/moved'
    host.publish('moved', { redirect_uris: [redirect_uri] })
    const ask = (changes = {}) => newAgent(service).get(authorizePath(id, { redirect_uri, ...changes }))
    assert.match((await ask()).location ?? '', /^\/auth\/login\?/)
    const silent = await ask({ prompt: 'none' })
    assert.equal(silent.status, 400)
    assert.match(silent.text, /redirect_uri is none of those of this client/)
    const long = await ask({ state: 'x'.repeat(2048) })
    assert.equal(long.status, 400)
    assert.match(long.text, /more than 2048 bytes/)
    await clock.turnTo(clock.aheadMs() + 2 * MINUTE_MS)
    const { agent: user } = await signedUp(service)
    assert.match((await user.get(authorizePath(id, { redirect_uri }))).location ?? '', /^\/auth\/account\/confirm\?/)
  })
})

describe('a client whose host leaves SVC_CLIENT_HOSTS', () => {
  test('is disabled at the start, and its grants end', async () => {
    const id = host.publish('leaving')
    const tokens = await grantedTo(id, await signedUp(service))
    await service.restart({ env: { SVC_CLIENT_HOSTS: 'other.example' } })
    assert.equal((await show(id)).disabled, true)
    assert.equal((await requestByNew(id)).status, 400)
    assertOAuthError(await refresh(service, { id }, tokens.refresh), 401, 'invalid_client')
    await service.restart({ env: { SVC_CLIENT_HOSTS: 'localhost' } })
    assert.equal((await requestByNew(id)).status, 400, 'until an operator enables it')
    await runJsonCommandOf(service, ['clients', 'enable', id])
    assert.notEqual((await requestByNew(id)).status, 400)
    await assertEnded(service, { id }, tokens)
  })
})

const problemOf = async (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => assert.fail('it was fetched'),
    (error: unknown) => (error instanceof FetchProblem ? error.message : assert.fail(String(error))),
  )

const lookupOf = (address: string) => async () => [{ address, family: 4 }]

describe('the address of a document', () => {
  const url = host.urlOf('address')
  host.publish('address')
  const NOT_PUBLIC = [
    '127.0.0.1',
    '10.0.0.1',
    '172.16.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::1',
    '::',
    'fe80::1',
    'fd00::1',
    '::ffff:10.0.0.1',
    '64:ff9b::a00:1',
    '2002:a00:1::',
    'ff02::1',
  ]

  test('must be public, whatever the name looks like', async () => {
    for (const address of NOT_PUBLIC) {
      const found = { address, family: address.includes(':') ? 6 : 4 }
      for (const addresses of [[found], [{ address: '1.1.1.1', family: 4 }, found]]) {
        const work = fetchDocument(url, { allowsLoopback: false, lookup: async () => addresses })
        assert.match(await problemOf(work), /not public/, address)
      }
    }
    for (const literal of ['https://127.0.0.1/x', 'https://[::1]/x', 'https://10.0.0.1/x', 'https://[::ffff:a00:1]/x'])
      assert.match(await problemOf(fetchDocument(literal, { allowsLoopback: false })), /not public/, literal)
    assert.deepEqual(host.requestsFor('address'), [])
  })

  test('may be loopback beside a service on loopback alone, and no private one then', async () => {
    const lookup = lookupOf('10.0.0.1')
    assert.match(await problemOf(fetchDocument(url, { allowsLoopback: true, lookup })), /not public/)
  })

  test('is looked up once: the connection is made to what was found, and a name that leads elsewhere by then does not', async () => {
    let lookups = 0
    const lookup = async () => {
      lookups += 1
      return [{ address: lookups === 1 ? '127.0.0.1' : '10.0.0.1', family: 4 }]
    }
    const { document } = await fetchDocument(url, { allowsLoopback: true, lookup })
    assert.equal(document.client_id, url)
    assert.equal(lookups, 1)
  })

  test('that is not found, and a host that does not answer in time, are failures of the host', async () => {
    const notFound = fetchDocument(url, {
      allowsLoopback: true,
      lookup: () => Promise.reject(Object.assign(new Error(), { code: 'ENOTFOUND' })),
    })
    await assert.rejects(notFound, { isOfHost: true, message: /was not found \(ENOTFOUND\)/ })
    host.answer('slow', (_, response) => response.writeHead(200, { 'content-type': 'application/json' }).write('{'))
    for (const options of [{}, { lookup: () => new Promise<never>(() => {}) }]) {
      const work = fetchDocument(host.urlOf('slow'), { allowsLoopback: true, timeoutMs: 300, ...options })
      await assert.rejects(work, { isOfHost: true, message: /within 0.3 s/ })
    }
  })

  test('needs a certificate for its name', async () => {
    const lookup = lookupOf('127.0.0.1')
    const other = url.replace('localhost', 'agent.example')
    await assert.rejects(fetchDocument(other, { allowsLoopback: true, lookup }), { isOfHost: true })
  })
})
