// Runs on SQLite.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { signedUp } from '../../support/client/accounts.ts'
import { assertJsonError } from '../../support/client/assertions.ts'
import { answerToClient, authorizePath, CLIENT_SETTINGS, madeClient } from '../../support/clients/authorization.ts'
import { assertOAuthError, basic, get, newlyGranted, send, VERIFIER } from '../../support/clients/tokens.ts'
import { createUserAgent } from '../../support/client/user-agent.ts'
import { startService } from '../../support/service/service.ts'
import { startServiceProcess } from '../../support/service/service-process.ts'
import { watchModules } from '../../support/service/loaded-modules.ts'
import { eventually } from '../../support/wait.ts'

const service = await startService({ env: CLIENT_SETTINGS })
const issuer = `${service.url}/auth`
const web = await madeClient(service)
const native = await madeClient(service, { name: 'Phone', options: ['--type', 'native'] })

const ADDRESSES = [
  '/auth/.well-known/openid-configuration',
  '/auth/.well-known/oauth-authorization-server',
  '/.well-known/oauth-authorization-server/auth',
  '/.well-known/openid-configuration/auth',
]

describe('discovery', () => {
  for (const address of ADDRESSES) {
    test(address, async () => {
      const { status, body, headers } = await get(service, address)
      assert.equal(status, 200)
      assert.equal(body.issuer, issuer)
      assert.equal(headers.get('access-control-allow-origin'), '*')
      assert.deepEqual(body.token_endpoint_auth_methods_supported, [
        'client_secret_basic',
        'client_secret_post',
        'none',
      ])
      assert.deepEqual(body.code_challenge_methods_supported, ['S256'])
      assert.equal(body.authorization_response_iss_parameter_supported, true)
      assert.ok(!('client_id_metadata_document_supported' in body) && !('registration_endpoint' in body))
    })
  }

  test('every endpoint that it names is there', async () => {
    const { body } = await get(service, ADDRESSES[0] ?? '')
    for (const [name, url] of Object.entries(body)) {
      if (!name.endsWith('_endpoint') && name !== 'jwks_uri') continue
      assert.notEqual((await fetch(String(url), { redirect: 'manual' })).status, 404, name)
    }
  })

  test('hosts and registration are said while they are on', async (t) => {
    const env = { ...CLIENT_SETTINGS, SVC_CLIENT_HOSTS: 'claude.ai', SVC_CLIENT_REGISTRATION: 'on' }
    const open = await startService({ env, t })
    const { body } = await get(open, ADDRESSES[0] ?? '')
    assert.equal(body.client_id_metadata_document_supported, true)
    assert.equal(body.registration_endpoint, `${open.url}/auth/oauth2/register`)
    const schemes = await startService({ env: { ...CLIENT_SETTINGS, SVC_CLIENT_HOSTS: 'cursor:' }, t })
    assert.ok(!('client_id_metadata_document_supported' in (await get(schemes, ADDRESSES[0] ?? '')).body))
  })

  test('switched off, a service that serves loads nothing of it but what ends grants', async (t) => {
    const { env, loaded } = watchModules(t)
    const off = await startServiceProcess({ t, env })
    const { agent, person } = await signedUp(off)
    assert.equal((await agent.get('/auth/account')).status, 200)
    assert.equal((await agent.get(authorizePath('client'))).status, 404)
    await agent.post('/auth/account/sessions', { all_others: '1' })
    await agent.post('/auth/account/delete', { password: person.password })
    await eventually('the other modules', () => loaded().includes('web/links/undo-email.ts'))
    const ofClients = loaded().filter((name) => /^(?:clients|api\/oauth2|web\/authorize)\//.test(name))
    assert.deepEqual(ofClients.toSorted(), [
      'clients/grant-ending-store.ts',
      'clients/grant-endings.ts',
      'clients/redirect-uri.ts',
      'clients/scope.ts',
    ])
  })

  test('switched off, every route is 404', async (t) => {
    const off = await startService({ t })
    const routes = [
      'token',
      'revoke',
      'introspect',
      'userinfo',
      'authorize',
      'consent',
      'logout',
      'logout/confirm',
      'register',
    ]
    for (const address of [...ADDRESSES, ...routes.map((route) => `/auth/oauth2/${route}`)])
      for (const method of ['GET', 'POST', 'OPTIONS'])
        assert.equal((await createUserAgent(off).send({ method, path: address })).status, 404, `${method} ${address}`)
  })
})

describe('requests of other origins', () => {
  const open = [
    ...ADDRESSES,
    '/auth/.well-known/jwks.json',
    ...['token', 'revoke', 'userinfo'].map((it) => `/auth/oauth2/${it}`),
  ]
  for (const path of open) {
    test(`are allowed at ${path}`, async () => {
      const { status, headers, text } = await createUserAgent(service).send({ method: 'OPTIONS', path })
      assert.equal(status, 204, text)
      assert.equal(headers['access-control-allow-origin'], '*')
      assert.equal(headers['access-control-allow-headers'], 'Authorization, Content-Type, MCP-Protocol-Version')
      assert.equal(headers['access-control-max-age'], '86400')
      assert.match(String(headers['access-control-expose-headers']), /\bWWW-Authenticate\b/)
      assert.equal(headers['access-control-allow-credentials'], undefined)
    })
  }

  test('are refused at introspect', async () => {
    const answer = await send(
      service,
      'introspect',
      { token: 'x' },
      { ...basic(web.id, web.secret ?? ''), origin: 'https://app.example.net' },
    )
    assertOAuthError(answer, 403, 'access_denied')
    assert.equal(answer.headers.get('access-control-allow-origin'), null)
    const preflight = await createUserAgent(service).send({ method: 'OPTIONS', path: '/auth/oauth2/introspect' })
    assert.equal(preflight.status, 405)
  })

  test('a cookie changes nothing, and no answer sets one', async () => {
    const { agent } = await signedUp(service)
    const answer = await agent.get('/auth/oauth2/userinfo', { cookie: 'svc_access=a; svc_access=b; svc_csrf=c' })
    assert.equal(answer.status, 401)
    assert.equal(answer.headers['www-authenticate'], 'Bearer realm="svc"')
    assert.match(String(answer.headers['access-control-expose-headers']), /\bWWW-Authenticate\b/)
    assert.deepEqual(answer.setCookies, [])
  })

  test('another method is 405, as OAuth says it, and as ever at the keys', async () => {
    assertOAuthError(await get(service, '/auth/oauth2/token'), 405, 'invalid_request')
    const path = '/auth/.well-known/jwks.json'
    assertJsonError(await createUserAgent(service).send({ method: 'PUT', path }), 405, 'method_not_allowed')
  })
})

describe('introspection', () => {
  test('shows the tokens of a client to itself, and to nobody else', async () => {
    const { tokens } = await newlyGranted(service, web, 'openid notes:read')
    const own = basic(web.id, web.secret ?? '')
    const { body } = await send(service, 'introspect', { token: tokens.access }, own)
    assert.equal(body.active, true)
    assert.equal(body.client_id, web.id)
    assert.equal(body.iss, issuer)
    const { tokens: phone } = await newlyGranted(service, native)
    for (const token of [phone.access, phone.refresh]) {
      const answer = await send(service, 'introspect', { token }, own)
      assert.equal(answer.text, '{"active":false}')
    }
    assertOAuthError(
      await send(service, 'introspect', { token: phone.access, client_id: native.id }),
      401,
      'invalid_client',
    )
    await send(service, 'revoke', { token: tokens.refresh, client_id: web.id, client_secret: web.secret })
    for (const token of [tokens.access, tokens.refresh])
      assert.equal((await send(service, 'introspect', { token }, own)).text, '{"active":false}')
  })

  test('by a key without the scope is 403, by a wrong key 401', async () => {
    const { stdout } = await service.cli(['api-keys', 'create', 'reader', '--scope', 'users:read', '--json'])
    const { key } = JSON.parse(stdout) as { key: string }
    const by = (text: string) => send(service, 'introspect', { token: 'x' }, { authorization: `Bearer ${text}` })
    assertOAuthError(await by(key), 403, 'access_denied')
    const wrong = await by(`svc_sk_${'x'.repeat(43)}`)
    assertOAuthError(wrong, 401, 'invalid_client')
    assert.equal(wrong.headers.get('www-authenticate'), 'Bearer realm="svc"')
  })
})

describe('libraries of clients', () => {
  test('openid-client: discovery, a code with PKCE and nonce, refresh, userinfo, introspection, revocation', async () => {
    const oidc = await import('openid-client')
    const config = await oidc.discovery(new URL(issuer), web.id, web.secret, oidc.ClientSecretBasic(web.secret ?? ''), {
      execute: [oidc.allowInsecureRequests],
    })
    const { agent } = await signedUp(service)
    const [verifier, nonce, state] = [oidc.randomPKCECodeVerifier(), oidc.randomNonce(), oidc.randomState()]
    const challenge = await oidc.calculatePKCECodeChallenge(verifier)
    const scope = 'openid email offline_access'
    const code = answerToClient(
      await allowed(agent, authorizePath(web.id, { scope, nonce, state, code_challenge: challenge })),
    )
    const callback = new URL(`https://app.example.net/callback?${code.toString()}`)
    const checks = { pkceCodeVerifier: verifier, expectedNonce: nonce, expectedState: state }
    const tokens = await oidc.authorizationCodeGrant(config, callback, checks)
    const sub = tokens.claims()?.sub ?? ''
    assert.equal((await oidc.fetchUserInfo(config, tokens.access_token, sub)).sub, sub)
    const next = await oidc.refreshTokenGrant(config, tokens.refresh_token ?? '')
    assert.equal((await oidc.tokenIntrospection(config, next.access_token)).active, true)
    await oidc.tokenRevocation(config, next.refresh_token ?? '')
    assert.equal((await oidc.tokenIntrospection(config, next.access_token)).active, false)
  })

  test('oauth4webapi: a public client validates the access token as a resource server', async () => {
    const oauth = await import('oauth4webapi')
    const insecure = { [oauth.allowInsecureRequests]: true }
    const url = new URL(issuer)
    const server = await oauth.processDiscoveryResponse(
      url,
      await oauth.discoveryRequest(url, { algorithm: 'oauth2', ...insecure }),
    )
    const client = { client_id: native.id }
    const { agent } = await signedUp(service)
    const resource = 'https://notes.example.com/mcp'
    const answer = answerToClient(await allowed(agent, authorizePath(native.id, { resource, scope: 'notes:read' })))
    const parameters = oauth.validateAuthResponse(server, client, answer, 'st4te')
    const response = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      oauth.None(),
      parameters,
      'https://app.example.net/callback',
      VERIFIER,
      { additionalParameters: { resource }, ...insecure },
    )
    const tokens = await oauth.processAuthorizationCodeResponse(server, client, response)
    const request = new Request(resource, { headers: { authorization: `Bearer ${tokens.access_token}` } })
    const claims = await oauth.validateJwtAccessToken(server, request, resource, insecure)
    assert.equal(claims.client_id, native.id)
    const refreshed = await oauth.refreshTokenGrantRequest(
      server,
      client,
      oauth.None(),
      tokens.refresh_token ?? '',
      insecure,
    )
    const next = await oauth.processRefreshTokenResponse(server, client, refreshed)
    assert.notEqual(next.refresh_token, tokens.refresh_token)
  })
})

const allowed = async (agent: Awaited<ReturnType<typeof signedUp>>['agent'], path: string) => {
  const first = await agent.get(path)
  const [, request] = /name="request" value="([^"]+)"/.exec(first.text) ?? []
  return first.status === 200 && request ? agent.post('/auth/oauth2/consent', { request, allow: '1' }) : first
}
