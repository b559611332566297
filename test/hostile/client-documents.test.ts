// Runs on SQLite, alone.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { MAX_NAME_LENGTH } from '../../src/clients/client-rules.ts'
import { readDocument } from '../../src/clients/metadata-document.ts'
import { findUriProblem, isOnHosts } from '../../src/clients/redirect-uri.ts'
import { AppError } from '../../src/lib/errors.ts'
import { signedUp } from '../support/client/accounts.ts'
import { assertErrorPage } from '../support/client/assertions.ts'
import { openRedirects } from '../support/client/open-redirects.ts'
import { authorizePath, CLIENT_SETTINGS } from '../support/clients/authorization.ts'
import { LOOPBACK_URI, startDocumentHost } from '../support/clients/document-host.ts'
import { nasty } from '../support/fuzz/nasty.ts'
import { startService } from '../support/service/service.ts'

const host = await startDocumentHost()
const HOSTS = ['localhost', 'agent.example', 'cursor:']
const service = await startService({
  env: { ...CLIENT_SETTINGS, SVC_CLIENT_HOSTS: HOSTS.join(), SVC_LOG_LEVEL: 'info' },
})
const { agent } = await signedUp(service)

const ID = host.urlOf('fuzzed')
const URIS = [LOOPBACK_URI, 'https://agent.example/cb', 'cursor://x/cb', ...openRedirects(service.port)]

/** Mostly what belongs there, so that one wrong member is not always found before another. */
const member = (usual: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight: 15, arbitrary: usual },
    { weight: 1, arbitrary: nasty },
    { weight: 1, arbitrary: fc.array(nasty, { maxLength: 3 }) },
    { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
  )
const uris = fc.array(fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...URIS) }, nasty), { maxLength: 25 })

const document = fc.record(
  {
    client_id: fc.oneof({ weight: 9, arbitrary: fc.constant(ID) }, member(fc.constant(`${ID}/`))),
    redirect_uris: member(uris),
    post_logout_redirect_uris: member(uris),
    client_name: member(fc.string({ unit: 'grapheme', maxLength: 70 })),
    token_endpoint_auth_method: member(fc.constant('none')),
    token_endpoint_auth_methods_supported: member(fc.constant(['none'])),
    scope: member(fc.constant('openid')),
    client_secret: member(fc.constant(undefined)),
    __proto__: fc.jsonValue({ maxDepth: 1 }),
  },
  { requiredKeys: ['client_id', 'redirect_uris'] },
)

test('whatever a document says, it is refused with the member that is wrong, or makes a client that is what it may be', () => {
  let [good, bad] = [0, 0]
  fc.assert(
    fc.property(document, (given) => {
      // As it comes: from JSON.
      const sent = JSON.parse(JSON.stringify(given)) as Record<string, unknown>
      try {
        const client = readDocument(ID, sent, HOSTS)
        good += 1
        assert.ok(client.redirectUris.length > 0)
        for (const uri of [...client.redirectUris, ...client.logoutUris])
          assert.ok(findUriProblem(uri, 'native') === undefined && isOnHosts(uri, HOSTS), uri)
        assert.ok(client.name.length > 0 && [...client.name].length <= MAX_NAME_LENGTH)
        assert.doesNotMatch(client.name, /\p{Cc}|[\u202a-\u202e\u2066-\u2069]/u)
        const { kind, type, firstParty, scopes, resources, backchannelLogoutUri } = client
        assert.deepEqual(
          { kind, type, firstParty, scopes, resources, backchannelLogoutUri },
          {
            kind: 'document',
            type: 'native',
            firstParty: false,
            scopes: undefined,
            resources: [],
            backchannelLogoutUri: undefined,
          },
        )
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        bad += 1
        assert.equal(error.code, 'unprocessable')
        assert.ok(error.field && error.message.includes(error.field), error.message)
      }
    }),
    { seed: 20_261_128, numRuns: 2000 },
  )
  assert.ok(good > 200 && bad > 200, `${good} good, ${bad} bad`)
})

const GOOD = { client_id: ID, redirect_uris: [LOOPBACK_URI] }

/** A response as a host could send it, broken off or not. */
const response = fc.record({
  status: fc.oneof(
    { weight: 3, arbitrary: fc.constant(200) },
    fc.constantFrom(201, 204, 206, 301, 304, 401, 404, 429, 500, 599),
  ),
  type: fc.oneof(
    { weight: 3, arbitrary: fc.constant('application/json') },
    fc.constantFrom(
      '',
      'text/html',
      'application/jsonp',
      'application/a+json',
      'application/json; charset=latin1',
      'json',
    ),
  ),
  headers: fc.dictionary(
    fc.constantFrom('cache-control', 'expires', 'age', 'date', 'location', 'content-encoding', 'set-cookie', 'etag'),
    fc.constantFrom(
      'max-age=1e9',
      'max-age=-1',
      'no-store',
      'gzip',
      'br',
      'identity',
      '0',
      '-1',
      'Thu, 01 Jan 1970 00:00:00 GMT',
      '/',
    ),
    { maxKeys: 3 },
  ),
  body: fc.oneof(
    { weight: 3, arbitrary: fc.oneof(fc.constant(GOOD), document).map((value) => Buffer.from(JSON.stringify(value))) },
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    fc.jsonValue({ maxDepth: 2 }).map((value) => Buffer.from(JSON.stringify(value))),
    fc
      .constantFrom('', '{"client_id":', `{"a":${'['.repeat(4000)}`, ' '.repeat(6000), '\ufeff{}', '{"a":"\ud800"}')
      .map((text) => Buffer.from(text)),
  ),
  isWhole: fc.oneof({ weight: 4, arbitrary: fc.constant(true) }, fc.constant(false)),
})

test('whatever a host sends, the user gets a page that names the mistake, or goes on: no error, and no way out', async () => {
  let count = 0
  const seen = new Map<number, number>()
  const property = fc.asyncProperty(response, async ({ status, type, headers, body, isWhole }) => {
    const name = `of-${(count += 1)}`
    const id = host.urlOf(name)
    const bytes = Buffer.from(body.toString('latin1').replaceAll(ID, id), 'latin1')
    host.answer(name, (_, outgoing) => {
      const length = bytes.length + (isWhole ? 0 : 9)
      outgoing.writeHead(status, { ...headers, 'content-type': type, 'content-length': length }).write(bytes)
      if (isWhole) outgoing.end()
      else outgoing.destroy()
    })
    const answer = await agent.get(authorizePath(id, { redirect_uri: LOOPBACK_URI }))
    seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1)
    if (answer.status === 303) return assert.match(answer.location ?? '', /^\/auth\/account\/confirm\?/)
    assertErrorPage(answer, 400)
    assert.deepEqual([answer.location, answer.headers.refresh], [undefined, undefined])
    assert.equal(host.requestsFor(name).length, 1)
  })
  await fc.assert(property, { seed: 20_261_128, numRuns: 150 })
  assert.ok((seen.get(303) ?? 0) > 5 && (seen.get(400) ?? 0) > 20, JSON.stringify([...seen]))
  for (const { level, ...line } of service.logLines())
    assert.ok(level !== 'error' && level !== 'fatal', JSON.stringify(line))
})
