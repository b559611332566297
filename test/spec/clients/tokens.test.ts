// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { createLocalJWKSet, jwtVerify } from 'jose'
import { signedUp } from '../../support/client/accounts.ts'
import { CLIENT_SETTINGS, codeFor, madeClient, REDIRECT_URI } from '../../support/clients/authorization.ts'
import {
  assertEnded,
  assertLive,
  assertOAuthError,
  basic,
  granted,
  newlyGranted,
  refresh,
  send,
  tokensIn,
  trade,
  userInfo,
  VERIFIER,
} from '../../support/clients/tokens.ts'
import { turnedClock } from '../../support/clock/turned-clock.ts'
import { openDatabase } from '../../support/database/database.ts'
import { publishedKeys } from '../../support/service/access-tokens.ts'
import { startService } from '../../support/service/service.ts'

const clock = turnedClock()
const service = await startService({ env: CLIENT_SETTINGS, clock })
const web = await madeClient(service)
const native = await madeClient(service, { name: 'Phone', options: ['--type', 'native'] })
const other = await madeClient(service, { name: 'Other' })
const issuer = `${service.url}/auth`
const RESOURCE = 'https://notes.example.com/mcp'

const verified = async (token: string, typ: string, audience: string) =>
  (
    await jwtVerify(token, createLocalJWKSet(await publishedKeys(service)), {
      algorithms: ['ES256'],
      typ,
      issuer,
      audience,
    })
  ).payload

describe('tokens', () => {
  test('an access token has the claims of RFC 9068, for the resource', async () => {
    const { tokens } = await newlyGranted(service, web, 'openid notes:read', { resource: RESOURCE })
    const claims = await verified(tokens.access, 'at+jwt', RESOURCE)
    assert.deepEqual(Object.keys(claims).sort(), [
      'amr',
      'aud',
      'auth_time',
      'client_id',
      'exp',
      'iat',
      'iss',
      'jti',
      'scope',
      'sid',
      'sub',
    ])
    assert.equal(claims.client_id, web.id)
    assert.equal(claims.scope, 'openid notes:read')
    assert.equal(Number(claims.exp) - Number(claims.iat), 3600)
  })

  test('without a resource it is for userinfo alone', async () => {
    const { tokens, person } = await newlyGranted(service, web, 'openid email profile')
    await verified(tokens.access, 'at+jwt', issuer)
    const { body, headers } = await userInfo(service, tokens.access)
    assert.deepEqual(Object.keys(body), ['sub', 'preferred_username', 'updated_at', 'email', 'email_verified'])
    assert.equal(body.email, person.email)
    assert.equal(headers.get('cache-control'), 'no-store')
    assert.equal(headers.get('access-control-allow-origin'), '*')
  })

  test('an ID token is for the client, with nonce and at_hash', async () => {
    const { tokens } = await newlyGranted(service, web, 'openid email', { nonce: 'n0nce' })
    const claims = await verified(tokens.id ?? '', 'JWT', web.id)
    assert.equal(claims.nonce, 'n0nce')
    const hash = createHash('sha256').update(tokens.access).digest().subarray(0, 16).toString('base64url')
    assert.equal(claims.at_hash, hash)
    assert.equal(claims.sid, (await verified(tokens.access, 'at+jwt', issuer)).sid)
    assert.equal(claims.email_verified, false)
    assert.equal(claims.acr, undefined)
    const { tokens: plain } = await newlyGranted(service, web, 'notes:read')
    assert.equal(plain.id, undefined)
  })

  test('roles come with their scope alone', async () => {
    const client = await madeClient(service, { name: 'Roles', options: ['--scope', 'openid', '--scope', 'roles'] })
    const { tokens } = await newlyGranted(service, client, 'openid roles')
    assert.deepEqual((await verified(tokens.access, 'at+jwt', issuer)).roles, [])
    const { tokens: narrow } = await newlyGranted(service, web, 'openid roles')
    assert.equal(narrow.scope, 'openid')
  })
})

describe('a code', () => {
  test('is good once, and its second use ends the grant', async () => {
    const { agent } = await signedUp(service)
    const code = await codeFor(agent, web.id)
    const tokens = tokensIn(await trade(service, web, code))
    await assertLive(service, tokens)
    assertOAuthError(await trade(service, web, code), 400, 'invalid_grant')
    await assertEnded(service, web, tokens)
    const [record] = await (await openDatabase(service)).rows(
      "SELECT details FROM audit_events WHERE type = 'code.reused' ORDER BY id DESC LIMIT 1",
    )
    assert.ok(record)
  })

  const wrong: [string, Record<string, string | undefined>, string][] = [
    ['no verifier', { code_verifier: undefined }, 'invalid_request'],
    ['another verifier', { code_verifier: 'w'.repeat(43) }, 'invalid_grant'],
    [
      'its challenge as verifier',
      { code_verifier: createHash('sha256').update(VERIFIER).digest('base64url') },
      'invalid_grant',
    ],
    ['a short verifier', { code_verifier: 'v' }, 'invalid_grant'],
    ['another redirect URI', { redirect_uri: `${REDIRECT_URI}/` }, 'invalid_grant'],
    ['another client', { client_id: other.id, client_secret: other.secret }, 'invalid_grant'],
    ['a public client', { client_id: native.id, client_secret: undefined }, 'invalid_grant'],
    ['another resource', { resource: 'https://files.example.com' }, 'invalid_target'],
    ['an unknown resource', { resource: 'https://evil.example' }, 'invalid_target'],
  ]
  for (const [what, changes, error] of wrong) {
    test(`is not used up by a request with ${what}`, async () => {
      const { agent } = await signedUp(service)
      const code = await codeFor(agent, web.id, { resource: RESOURCE })
      assertOAuthError(await trade(service, web, code, changes), 400, error)
      tokensIn(await trade(service, web, code, { redirect_uri: undefined, resource: RESOURCE }))
    })
  }

  test('ends after a minute', async () => {
    const { agent } = await signedUp(service)
    const code = await codeFor(agent, web.id)
    await clock.turnTo(61_000)
    assertOAuthError(await trade(service, web, code), 400, 'invalid_grant')
    await clock.turnTo(0)
  })

  test('dies with its session', async () => {
    const { agent } = await signedUp(service)
    const code = await codeFor(agent, web.id)
    await agent.post('/auth/logout')
    assertOAuthError(await trade(service, web, code), 400, 'invalid_grant')
  })

  test('two at once: one gets tokens, and nothing is left of them', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { agent } = await signedUp(service)
      const code = await codeFor(agent, web.id)
      const answers = await Promise.all([trade(service, web, code), trade(service, web, code)])
      const [winner, ...more] = answers.filter(({ status }) => status === 200)
      assert.ok(winner && more.length === 0, answers.map(({ text }) => text).join())
      await assertEnded(service, web, tokensIn(winner))
    }
  })
})

describe('a refresh token', () => {
  test('of a public client is replaced, and the loser of a race gets the token of the winner', async () => {
    const { tokens } = await newlyGranted(service, native)
    for (let round = 0, current = tokens.refresh; round < 20; round += 1) {
      const answers = await Promise.all(Array.from({ length: 5 }, () => refresh(service, native, current)))
      const next = new Set(answers.map((answer) => tokensIn(answer).refresh))
      assert.equal(next.size, 1)
      const [only = ''] = next
      assert.notEqual(only, current)
      current = only
    }
  })

  test('of a public client that comes again after the grace ends the grant', async () => {
    const { tokens } = await newlyGranted(service, native)
    const next = tokensIn(await refresh(service, native, tokens.refresh))
    await clock.turnTo(3_600_000)
    assertOAuthError(await refresh(service, native, tokens.refresh), 400, 'invalid_grant')
    await clock.turnTo(0)
    await assertEnded(service, native, next)
  })

  test('of a confidential client stays', async () => {
    const { tokens } = await newlyGranted(service, web)
    const next = tokensIn(await refresh(service, web, tokens.refresh))
    assert.equal(next.refresh, tokens.refresh)
    assert.notEqual(next.access, tokens.access)
    await assertLive(service, next)
  })

  test('of another client is invalid, and ends the grant', async () => {
    const { tokens } = await newlyGranted(service, web)
    assertOAuthError(await refresh(service, other, tokens.refresh), 400, 'invalid_grant')
    await assertEnded(service, web, tokens)
  })

  test('narrows one access token alone', async () => {
    const { tokens } = await newlyGranted(service, native, 'openid offline_access notes:read notes:write')
    const narrow = tokensIn(await refresh(service, native, tokens.refresh, { scope: '  notes:read ' }))
    assert.equal(narrow.scope, 'notes:read')
    assertOAuthError(await userInfo(service, narrow.access), 403, 'insufficient_scope')
    const wide = tokensIn(await refresh(service, native, narrow.refresh))
    assert.equal(wide.scope, 'openid offline_access notes:read notes:write')
    assertOAuthError(await refresh(service, native, wide.refresh, { scope: 'email' }), 400, 'invalid_scope')
    assertOAuthError(await refresh(service, native, wide.refresh, { resource: RESOURCE }), 400, 'invalid_target')
    tokensIn(await refresh(service, native, wide.refresh))
  })

  test('gives nothing for a resource that its client has lost', async () => {
    const client = await madeClient(service, { name: 'Narrowed' })
    const { tokens, agent } = await newlyGranted(service, client, 'notes:read', { resource: RESOURCE })
    const code = await codeFor(agent, client.id, { scope: 'notes:read', resource: RESOURCE })
    const change = ['clients', 'change', client.id, '--resource', 'https://files.example.com']
    assert.equal((await service.cli(change)).code, 0)
    assertOAuthError(await refresh(service, client, tokens.refresh), 400, 'invalid_target')
    assertOAuthError(await trade(service, client, code), 400, 'invalid_target')
  })

  test('ends when it is not used for 90 days, and after a year in any case', async () => {
    const { tokens } = await newlyGranted(service, web)
    const day = 86_400_000
    for (const days of [89, 170, 250, 330]) {
      await clock.turnTo(days * day)
      tokensIn(await refresh(service, web, tokens.refresh))
    }
    await clock.turnTo(366 * day)
    assertOAuthError(await refresh(service, web, tokens.refresh), 400, 'invalid_grant')
    await clock.turnTo(0)
    const { tokens: idle } = await newlyGranted(service, web)
    await clock.turnTo(91 * day)
    assertOAuthError(await refresh(service, web, idle.refresh), 400, 'invalid_grant')
    await clock.turnTo(0)
  })

  test('raced with a revocation gives nothing afterwards', async () => {
    for (let round = 0; round < 20; round += 1) {
      const client = round % 2 === 0 ? web : native
      const { agent } = await signedUp(service)
      const tokens = await granted(service, agent, client)
      const as = { client_id: client.id, client_secret: client.secret }
      const [revoked, refreshed] = await Promise.all([
        send(service, 'revoke', { token: tokens.refresh, ...as }),
        refresh(service, client, tokens.refresh),
      ])
      assert.equal(revoked.status, 200, revoked.text)
      if (refreshed.status === 200) await assertEnded(service, client, tokensIn(refreshed))
      else assertOAuthError(refreshed, 400, 'invalid_grant')
    }
  })
})

describe('who asks', () => {
  test('by Basic, encoded as in a form, or in the body', async () => {
    const { agent } = await signedUp(service)
    const fields = { grant_type: 'authorization_code', code_verifier: VERIFIER }
    const code = await codeFor(agent, web.id)
    const header = basic(web.id, web.secret ?? '')
    tokensIn(await send(service, 'token', { ...fields, code, client_id: web.id }, header))
  })

  const cases: [string, Record<string, string | undefined> | string, Record<string, string>, number, string][] = [
    ['nobody', { client_id: undefined, client_secret: undefined }, {}, 401, 'invalid_client'],
    ['an unknown client', { client_id: 'nobody' }, {}, 401, 'invalid_client'],
    ['a wrong secret', { client_secret: 'svc_cs_x' }, {}, 401, 'invalid_client'],
    ['no secret', { client_secret: undefined }, {}, 401, 'invalid_client'],
    ['a public client with a secret', { client_id: native.id, client_secret: 'x' }, {}, 401, 'invalid_client'],
    ['two secrets', {}, basic(web.id, web.secret ?? ''), 400, 'invalid_request'],
    [
      'two clients',
      { client_id: other.id, client_secret: undefined },
      basic(web.id, web.secret ?? ''),
      400,
      'invalid_request',
    ],
    ['a broken header', { client_secret: undefined }, { authorization: 'Basic ???' }, 401, 'invalid_client'],
    ['no grant type', { grant_type: undefined }, {}, 400, 'invalid_request'],
    ['a grant type that is not there', { grant_type: 'client_credentials' }, {}, 400, 'unsupported_grant_type'],
    ['a grant type of JavaScript', { grant_type: 'constructor' }, {}, 400, 'unsupported_grant_type'],
    ['a parameter twice', 'grant_type=refresh_token&x=1&x=2', {}, 400, 'invalid_request'],
    ['JSON', '{}', { 'content-type': 'application/json' }, 400, 'invalid_request'],
    ['no UTF-8', 'grant_type=%ff', {}, 400, 'invalid_request'],
    ['too much', `grant_type=${'x'.repeat(20_000)}`, {}, 413, 'invalid_request'],
  ]
  for (const [who, changes, headers, status, error] of cases) {
    test(who, async () => {
      const usual = { grant_type: 'refresh_token', refresh_token: 'x', client_id: web.id, client_secret: web.secret }
      const fields = typeof changes === 'string' ? changes : { ...usual, ...changes }
      const answer = await send(service, 'token', fields, headers)
      assertOAuthError(answer, status, error)
      assert.equal(answer.headers.get('access-control-allow-origin'), '*')
      assert.equal(answer.headers.get('cache-control'), 'no-store')
      const challenge = status === 401 && headers.authorization ? 'Basic realm="svc", charset="UTF-8"' : null
      assert.equal(answer.headers.get('www-authenticate'), challenge)
    })
  }
})

describe('revocation', () => {
  for (const kind of ['access', 'refresh'] as const) {
    test(`of an ${kind} token ends the grant`, async () => {
      const { tokens } = await newlyGranted(service, web)
      const as = { client_id: web.id, client_secret: web.secret }
      assert.equal((await send(service, 'revoke', { token: tokens[kind], ...as })).status, 200)
      await assertEnded(service, web, tokens)
      assert.equal((await send(service, 'revoke', { token: tokens[kind], ...as })).status, 200)
    })

    test(`of another client's ${kind} token changes nothing`, async () => {
      const { tokens } = await newlyGranted(service, web)
      const as = { client_id: other.id, client_secret: other.secret }
      assertOAuthError(await send(service, 'revoke', { token: tokens[kind], ...as }), 400, 'invalid_request')
      await assertLive(service, tokens)
    })
  }

  test('of an expired and of a replaced token ends the grant', async () => {
    const { tokens } = await newlyGranted(service, native)
    const next = tokensIn(await refresh(service, native, tokens.refresh))
    await clock.turnTo(2 * 3_600_000)
    assert.equal((await send(service, 'revoke', { token: tokens.access, client_id: native.id })).status, 200)
    await clock.turnTo(0)
    await assertEnded(service, native, next)
    const { tokens: again } = await newlyGranted(service, native)
    const replacing = tokensIn(await refresh(service, native, again.refresh))
    assert.equal((await send(service, 'revoke', { token: again.refresh, client_id: native.id })).status, 200)
    await assertEnded(service, native, replacing)
  })
})

test('a rotation of the root secret ends no grant: the next refresh gives a token of the new one', async (t) => {
  const [former, current] = [randomBytes(32).toString('hex'), randomBytes(32).toString('hex')]
  const rotating = await startService({ env: { ...CLIENT_SETTINGS, SVC_SECRET: former }, t })
  const client = await madeClient(rotating)
  const { tokens } = await newlyGranted(rotating, client)
  await rotating.restart({ env: { SVC_SECRET: current, SVC_SECRET_PREVIOUS: former } })
  const next = tokensIn(await refresh(rotating, client, tokens.refresh))
  assert.notEqual(next.refresh, tokens.refresh)
  assert.equal(tokensIn(await refresh(rotating, client, next.refresh)).refresh, next.refresh)
})
