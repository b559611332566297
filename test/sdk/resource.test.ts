// Runs on SQLite.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { protectedResource, requireToken, type SvcUnavailableError, tokenOf } from '../../sdk/src/resource.ts'
import { signedUp } from '../support/client/accounts.ts'
import { createUserAgent } from '../support/client/user-agent.ts'
import { startServer } from '../support/network/http-server.ts'
import { claimsOfCookie, newKey, ORIGIN, publishKeys, sign } from '../support/sdk/published-keys.ts'
import { RESOURCE_SERVERS } from '../support/sdk/resource-servers.ts'
import { startService } from '../support/service/service.ts'

const RESOURCE = 'https://example.com/mcp'
const ISSUER = `${ORIGIN}/auth`
const METADATA = 'https://example.com/.well-known/oauth-protected-resource/mcp'
const CHALLENGE = `Bearer resource_metadata="${METADATA}", scope="notes:read"`
const OPTIONS = { resource: RESOURCE, issuer: ISSUER, scopes: ['notes:read'] }

const key = await newKey('key')
const OF_CLIENT = { iss: ISSUER, aud: RESOURCE, client_id: 'client', scope: 'openid notes:read' }
const clientToken = (changes: object = {}, header: Record<string, string> = {}) =>
  sign(key, { ...OF_CLIENT, ...changes }, header)

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

for (const [name, start] of Object.entries(RESOURCE_SERVERS)) {
  describe(name, () => {
    test('lets a good token through and hands over what it says, whatever the cookies', async (t) => {
      const { url } = await publishKeys(t, [key])
      const server = createUserAgent({ url: await start(t, { ...OPTIONS, url, more: ['notes:write'] }) })
      const token = await clientToken()
      const answer = await server.get('/mcp', { ...bearer(token), cookie: 'svc_access=forged' })
      const { sub, client_id, scope, aud } = answer.json<Record<string, string>>()
      assert.deepEqual(
        { sub, client_id, scope, aud },
        { sub: 'user', client_id: 'client', scope: OF_CLIENT.scope, aud: RESOURCE },
      )
      assert.equal((await server.get('/mcp', { authorization: `bearer   ${token}` })).status, 200)
      const body = 'abc'.repeat(100_000)
      const headers = { ...bearer(token), 'content-type': 'application/octet-stream' }
      assert.ok((await server.send({ method: 'POST', path: '/mcp/echo', headers, body })).text === body)
    })

    test('answers 401 with the address of the document, and names an error where a token was there', async (t) => {
      const { url } = await publishKeys(t, [key])
      const server = createUserAgent({ url: await start(t, { ...OPTIONS, url, more: [] }) })
      const token = await clientToken()
      const without = { '': {}, basic: { authorization: 'Basic YTpi' }, cookie: { cookie: `svc_access=${token}` } }
      for (const [title, headers] of Object.entries(without)) {
        const answer = await server.get(`/mcp?access_token=${token}`, headers)
        assert.deepEqual([answer.status, answer.headers['www-authenticate']], [401, CHALLENGE], title)
      }
      for (const wrong of [
        '',
        'x',
        `${token}, Bearer ${token}`,
        await clientToken({ aud: 'https://example.com/other' }),
      ]) {
        const answer = await server.get('/mcp', bearer(wrong))
        assert.deepEqual(
          [answer.status, answer.headers['www-authenticate']],
          [401, `${CHALLENGE}, error="invalid_token"`],
        )
        assert.equal(answer.json<{ error: string }>().error, 'invalid_token')
        assert.equal(answer.headers['cache-control'], 'no-store')
      }
    })

    test('answers 403 with all scopes that are needed where the token has not all of them', async (t) => {
      const { url } = await publishKeys(t, [key])
      const server = createUserAgent({ url: await start(t, { ...OPTIONS, url, more: ['notes:read', 'notes:write'] }) })
      const refused = await server.get('/mcp/more', bearer(await clientToken()))
      const challenge = `Bearer resource_metadata="${METADATA}", scope="notes:read notes:write", error="insufficient_scope"`
      assert.deepEqual([refused.status, refused.headers['www-authenticate']], [403, challenge])
      for (const scope of [undefined, '', 'notes:reader', 'notes:read,notes:write', 'NOTES:READ']) {
        assert.equal((await server.get('/mcp', bearer(await clientToken({ scope })))).status, 403, scope)
      }
      const more = await server.get('/mcp/more', bearer(await clientToken({ scope: ' notes:write  notes:read ' })))
      assert.equal(more.status, 200)
    })

    test('answers 503 while the keys cannot be read, and never as if the token were wrong', async (t) => {
      const published = await publishKeys(t, [key])
      published.goAway()
      const told: SvcUnavailableError[] = []
      const onUnavailable = (error: SvcUnavailableError) => void told.push(error)
      const options = { ...OPTIONS, url: published.url, onUnavailable, more: [] }
      const server = createUserAgent({ url: await start(t, options) })
      const answer = await server.get('/mcp', bearer(await clientToken()))
      assert.deepEqual(
        [answer.status, answer.headers['retry-after'], answer.headers['www-authenticate']],
        [503, '2', undefined],
      )
      assert.equal((await server.get('/mcp')).status, 401)
      assert.equal((await server.get('/.well-known/oauth-authorization-server/auth')).status, 503)
      assert.equal(told.length, 2)
    })

    test('answers with the document about the resource at its own address, for every origin', async (t) => {
      const { url } = await publishKeys(t, [key])
      const server = createUserAgent({ url: await start(t, { ...OPTIONS, url, more: [] }) })
      const path = new URL(METADATA).pathname
      const { status, headers, json } = await server.get(path, { origin: 'https://claude.ai' })
      assert.deepEqual([status, headers['access-control-allow-origin']], [200, '*'])
      assert.match(String(headers['content-type']), /^application\/json/)
      assert.deepEqual(json(), {
        resource: RESOURCE,
        authorization_servers: [ISSUER],
        scopes_supported: ['notes:read'],
        bearer_methods_supported: ['header'],
      })
      const preflight = await server.send({ method: 'OPTIONS', path, headers: { origin: 'https://claude.ai' } })
      assert.equal(preflight.status, 204)
      assert.equal(
        preflight.headers['access-control-allow-headers'],
        'Authorization, Content-Type, MCP-Protocol-Version',
      )
      for (const other of ['/.well-known/oauth-protected-resource', `${path}/x`, `${path}?a=b`])
        assert.equal((await server.get(other)).status, 404, other)
      assert.equal((await server.send({ method: 'POST', path })).status, 404)
    })

    test('passes the discovery document of svc on at the two addresses of the site', async (t) => {
      const document = JSON.stringify({ issuer: ISSUER })
      const asked: unknown[] = []
      let status = 200
      const url = await startServer(t, ({ url, headers }, response) => {
        asked.push([url, headers.cookie])
        const own = { 'content-type': 'application/json', 'cache-control': 'max-age=300', 'set-cookie': 'a=b' }
        response.writeHead(status, own).end(document)
      })
      const server = createUserAgent({ url: await start(t, { ...OPTIONS, url, more: [] }) })
      for (const name of ['oauth-authorization-server', 'openid-configuration']) {
        const answer = await server.get(`/.well-known/${name}/auth?a=b`, { cookie: 'svc_access=x' })
        assert.deepEqual([answer.status, answer.text], [200, document])
        assert.equal(answer.headers['access-control-allow-origin'], '*')
        assert.equal(answer.headers['cache-control'], 'max-age=300')
        assert.deepEqual(answer.setCookies, [])
        assert.equal((await server.get(`/.well-known/${name}`)).status, 404)
      }
      assert.deepEqual(
        asked,
        Array.from({ length: 2 }, () => ['/auth/.well-known/openid-configuration', undefined]),
      )
      status = 404
      assert.equal((await server.get('/.well-known/openid-configuration/auth')).status, 404)
      status = 302
      const away = await server.get('/.well-known/openid-configuration/auth')
      assert.deepEqual([away.status, away.location], [503, undefined])
    })

    test('says where requireToken() is missing', async (t) => {
      const server = createUserAgent({ url: await start(t, { ...OPTIONS, url: 'http://127.0.0.1:1', more: [] }) })
      const { status, text } = await server.get('/open', bearer(await clientToken()))
      assert.deepEqual([status, /put requireToken\(\) in front/.test(text)], [500, true], text)
    })
  })
}

describe('requireToken', () => {
  test('refuses what is wrong in one respect', async (t) => {
    const { url } = await publishKeys(t, [key])
    const admit = requireToken({ ...OPTIONS, url })
    const statusOf = async (token: string) => (await admit(new Request(RESOURCE, { headers: bearer(token) })))?.status
    assert.equal(await statusOf(await clientToken()), undefined)
    const foreign = await newKey('key')
    const now = claimsOfCookie().iat
    const wrong: Record<string, string> = {
      'the issuer of cookies': await clientToken({ iss: ORIGIN }),
      'another issuer': await clientToken({ iss: 'https://evil.example/auth' }),
      'another audience': await clientToken({ aud: 'https://example.com/mcp/' }),
      'the issuer as audience': await clientToken({ aud: ISSUER }),
      'a resource that is longer': await clientToken({ aud: `${RESOURCE}x` }),
      'several audiences': await clientToken({ aud: [RESOURCE, 'https://evil.example'] }),
      'without an audience': await clientToken({ aud: undefined }),
      expired: await clientToken({ exp: now }),
      'without an end': await clientToken({ exp: undefined }),
      'not begun': await clientToken({ nbf: now + 600 }),
      'without a client': await clientToken({ client_id: undefined }),
      'with an empty client': await clientToken({ client_id: '' }),
      'with a client that is no text': await clientToken({ client_id: {} }),
      'without a user': await clientToken({ sub: undefined }),
      'an ID token': await clientToken({}, { typ: 'JWT' }),
      'a logout token': await clientToken({}, { typ: 'logout+jwt' }),
      'another algorithm': `${Buffer.from('{"alg":"none","typ":"at+jwt"}').toString('base64url')}.${Buffer.from(JSON.stringify({ ...claimsOfCookie(), ...OF_CLIENT })).toString('base64url')}.`,
      'another key': await sign(foreign, OF_CLIENT),
      'a cookie': await sign(key),
      'a cookie of this audience': await sign(key, { aud: RESOURCE }),
      'an API key': 'svc_sk_abc',
      'a refresh token': 'svc_rt_abc',
    }
    for (const [title, token] of Object.entries(wrong)) assert.equal(await statusOf(token), 401, title)
  })

  test('refuses the token of the cookie of a real session', async (t) => {
    const service = await startService({ t })
    const { agent } = await signedUp(service)
    const token = agent.cookies.get('svc_access') ?? assert.fail('no cookie')
    for (const resource of [RESOURCE, service.url]) {
      const admit = requireToken({ resource, url: service.url, issuer: service.url })
      assert.equal((await admit(new Request(resource, { headers: bearer(token) })))?.status, 401)
    }
  })

  test('takes a bare origin with and without its slash, and the issuer with and without /auth', async (t) => {
    const { url } = await publishKeys(t, [key])
    for (const issuer of [ORIGIN, ISSUER])
      for (const resource of ['https://example.com', 'https://EXAMPLE.com:443/'])
        for (const aud of ['https://example.com', 'https://example.com/']) {
          const request = new Request(resource, { headers: bearer(await clientToken({ aud })) })
          assert.equal(await requireToken({ resource, issuer, url })(request), undefined, `${resource} ${aud}`)
          assert.equal(tokenOf(request).aud, aud)
        }
  })

  test('has the address of the document in each spelling of RFC 9728 section 3.1', async () => {
    const addresses = {
      'https://example.com': 'https://example.com/.well-known/oauth-protected-resource',
      'https://example.com/': 'https://example.com/.well-known/oauth-protected-resource',
      'https://example.com/mcp/': 'https://example.com/.well-known/oauth-protected-resource/mcp/',
      'http://localhost:3000/a/b': 'http://localhost:3000/.well-known/oauth-protected-resource/a/b',
      'https://example.com/a?k=v': 'https://example.com/.well-known/oauth-protected-resource/a?k=v',
    }
    for (const [resource, address] of Object.entries(addresses)) {
      const refused = await requireToken({ resource, issuer: ISSUER })(new Request(resource))
      assert.equal(refused?.headers.get('www-authenticate'), `Bearer resource_metadata="${address}"`)
      const document = await protectedResource({ resource, issuer: ISSUER, name: 'Notes' })(new Request(address))
      assert.deepEqual(await document?.json(), {
        resource,
        authorization_servers: [ISSUER],
        bearer_methods_supported: ['header'],
        resource_name: 'Notes',
      })
    }
  })

  test('refuses settings that are wrong, each with the name of its option', () => {
    for (const resource of [
      '',
      'mcp',
      '/mcp',
      'https://example.com/mcp#a',
      'https://a@example.com',
      'ftp://example.com',
    ])
      assert.throws(() => requireToken({ resource }), { name: 'TypeError', message: /^resource / }, resource)
    for (const scopes of [['a b'], [''], ['a"'], ['é']])
      assert.throws(() => requireToken({ resource: RESOURCE, scopes }), { name: 'TypeError', message: /^scopes / })
    for (const issuer of ['https://example.com/other', 'https://example.com/auth/', 'example.com'])
      assert.throws(() => requireToken({ resource: RESOURCE, issuer }), { name: 'TypeError', message: /^issuer / })
    assert.throws(() => requireToken({ resource: RESOURCE, url: 'svc' }), { name: 'TypeError', message: /^url / })
  })
})
