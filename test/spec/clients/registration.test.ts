// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { signedUp } from '../../support/client/accounts.ts'
import { CLIENT_SETTINGS, authorizePath, allow, answerToClient } from '../../support/clients/authorization.ts'
import { assertOAuthError, get, tokensIn, trade } from '../../support/clients/tokens.ts'
import { turnedClock } from '../../support/clock/turned-clock.ts'
import { runJsonCommandOf } from '../../support/service/operator-commands.ts'
import { openOperator } from '../../support/service/replicas.ts'
import { startService } from '../../support/service/service.ts'

const URI = 'http://127.0.0.1/callback'
const env = { ...CLIENT_SETTINGS, SVC_CLIENT_HOSTS: 'agent.example,cursor:', SVC_CLIENT_REGISTRATION: 'on' }
const clock = turnedClock()
const service = await startService({ clock, env: { ...env, SVC_RATE_LIMIT: 'on' } })

let networks = 0
/** Another network for each, unless one is given: registrations are limited. */
const register = async (
  metadata: unknown,
  address = `198.51.100.${(networks += 1) % 250}`,
  headers: Record<string, string> = {},
) => {
  const response = await fetch(`${service.url}/auth/oauth2/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': address, ...headers },
    body: typeof metadata === 'string' ? metadata : JSON.stringify(metadata),
  })
  const text = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: (text.startsWith('{') ? JSON.parse(text) : {}) as Record<string, unknown>,
  }
}
const listed = async () => runJsonCommandOf<{ id: string }[]>(service, ['clients', 'list'])

describe('POST /auth/oauth2/register', () => {
  test('makes a public client, whatever was asked for, and says so', async () => {
    const { status, body, headers } = await register({
      client_name: 'Agent',
      redirect_uris: [URI, 'https://evil.example/cb', 'https://agent.example/cb', 'cursor://x/cb'],
      token_endpoint_auth_method: 'client_secret_basic',
      application_type: 'web',
      grant_types: ['implicit'],
      scope: 'openid unknown:scope notes:read  roles',
      backchannel_logout_uri: 'https://agent.example/out',
    })
    assert.equal(status, 201)
    const { client_id: id, client_id_issued_at: issuedAt, ...rest } = body
    assert.match(String(id), /^[\w-]+$/)
    assert.ok(Math.abs(Number(issuedAt) * 1000 - clock.now()) < 60_000)
    assert.deepEqual(rest, {
      client_name: 'Agent',
      redirect_uris: [URI, 'https://agent.example/cb', 'cursor://x/cb'],
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      scope: 'openid notes:read',
    })
    assert.equal(headers.get('access-control-allow-origin'), '*')
    assert.equal(headers.get('access-control-allow-credentials'), null)
    assert.equal(headers.get('cache-control'), 'no-store')
    const client = await runJsonCommandOf<Record<string, unknown>>(service, ['clients', 'show', String(id)])
    assert.deepEqual([client.kind, client.first_party, client.backchannel_logout_uri], ['registered', false, null])
    const [event] = await runJsonCommandOf<{ type: string; details: object }[]>(service, [
      'audit',
      'list',
      '--limit',
      '1',
    ])
    assert.equal(event?.type, 'client.created')
    assert.deepEqual(event?.details, { client_id: id, client_name: 'Agent', method: 'registration' })
  })

  test('makes a client that gets tokens without a secret, after its user has proved to be there', async () => {
    const { body } = await register({ redirect_uris: [URI] })
    const id = String(body.client_id)
    const { agent, person } = await signedUp(service)
    const uri = URI.replace('127.0.0.1', '127.0.0.1:49152')
    const sent = await agent.get(authorizePath(id, { redirect_uri: uri }))
    const returnTo = new URL(sent.location ?? '', service.url).searchParams.get('return_to') ?? ''
    const confirmed = await agent.post('/auth/account/confirm', { password: person.password, return_to: returnTo })
    const page = await agent.get(confirmed.location ?? '')
    const code = answerToClient(await allow(agent, page), uri).get('code') ?? ''
    const answer = await trade(service, { id }, code, { redirect_uri: uri })
    assert.equal(tokensIn(answer).scope, 'openid notes:read')
    const client = await runJsonCommandOf<Record<string, unknown>>(service, ['clients', 'show', id])
    assert.notEqual(client.last_used_at, null)
  })

  const refused: [string, unknown, string][] = [
    ['no redirect URIs', {}, 'invalid_redirect_uri'],
    ['empty redirect URIs', { redirect_uris: [] }, 'invalid_redirect_uri'],
    [
      'redirect URIs of other hosts',
      { redirect_uris: ['https://evil.example/cb', 'vscode://x/cb'] },
      'invalid_redirect_uri',
    ],
    ['a redirect URI that runs code', { redirect_uris: ['javascript:alert(1)'] }, 'invalid_redirect_uri'],
    ['redirect URIs that are no texts', { redirect_uris: [1] }, 'invalid_redirect_uri'],
    ['a name with a line break', { redirect_uris: [URI], client_name: 'a\nb' }, 'invalid_client_metadata'],
    ['a name that is no text', { redirect_uris: [URI], client_name: {} }, 'invalid_client_metadata'],
    ['no JSON', '{', 'invalid_request'],
    ['a list', '[]', 'invalid_request'],
  ]
  for (const [what, metadata, error] of refused) {
    test(`refuses ${what} with ${error}, and makes nothing`, async () => {
      const before = await listed()
      assertOAuthError(await register(metadata), 400, error)
      assert.deepEqual(await listed(), before)
    })
  }

  test('refuses another type of body, and answers the question of a browser', async () => {
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    assert.equal((await register('redirect_uris=x', undefined, form)).body.error, 'invalid_request')
    const response = await fetch(`${service.url}/auth/oauth2/register`, { method: 'OPTIONS' })
    assert.equal(response.status, 204)
    assert.equal(
      response.headers.get('access-control-allow-headers'),
      'Authorization, Content-Type, MCP-Protocol-Version',
    )
    assert.equal(response.headers.get('access-control-max-age'), '86400')
  })

  test('registers 20 clients an hour for a network', async () => {
    for (let count = 0; count < 20; count += 1)
      assert.equal((await register({ redirect_uris: [URI] }, '192.0.2.1')).status, 201)
    const limited = await register({ redirect_uris: [URI] }, '192.0.2.1')
    assertOAuthError(limited, 429, 'temporarily_unavailable')
    assert.ok(Number(limited.headers.get('retry-after')) > 0)
    assert.equal((await register({ redirect_uris: [URI] }, '192.0.2.2')).status, 201)
  })

  test('keeps a thousand that nobody has used: the oldest gives way, and none that was used', async () => {
    const { db } = await openOperator(service)
    const row = await db.get<Record<string, string | number | null>>('SELECT * FROM clients LIMIT 1')
    await db.inTransaction(async (transaction) => {
      const insert = async (id: string, kind: string, at: number, usedAt: number | null) => {
        const made = { ...row, id, kind, created_at: at, used_at: usedAt }
        const names = Object.keys(made)
        const places = names.map(() => '?').join(', ')
        await transaction.run(`INSERT INTO clients (${names.join(', ')}) VALUES (${places})`, ...Object.values(made))
      }
      await insert('used', 'registered', 1, 1)
      await insert('made', 'operator', 2, null)
      for (let count = 0; count < 1000; count += 1) await insert(`unused-${count}`, 'registered', 3 + count, null)
    })
    const { body } = await register({ redirect_uris: [URI] })
    const unused = "SELECT id FROM clients WHERE kind = 'registered' AND used_at IS NULL ORDER BY created_at"
    const left = (await db.all<{ id: string }>(unused)).map(({ id }) => id)
    assert.equal(left.length, 1000)
    assert.equal(left.at(-1), body.client_id)
    assert.ok(!left.includes('unused-0'))
    const others = await db.all<{ id: string }>("SELECT id FROM clients WHERE id IN ('used', 'made')")
    assert.equal(others.length, 2)
    await db.run("DELETE FROM clients WHERE id LIKE 'unused-%'")
  })

  test('is announced by discovery', async () => {
    const { body } = await get(service, '/auth/.well-known/openid-configuration')
    assert.equal(body.registration_endpoint, `${service.url}/auth/oauth2/register`)
  })
})

describe('without SVC_CLIENT_REGISTRATION', () => {
  test('there is no such route', async (t) => {
    const other = await startService({ env: { ...env, SVC_CLIENT_REGISTRATION: 'off' }, t })
    for (const method of ['POST', 'OPTIONS', 'GET'])
      assert.equal((await fetch(`${other.url}/auth/oauth2/register`, { method })).status, 404, method)
    const { body } = await get(other, '/auth/.well-known/openid-configuration')
    assert.ok(!('registration_endpoint' in body))
  })
})
