// Runs on SQLite.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeProtectedHeader } from 'jose'
import { currentUser, loggedIn, signedUp } from '../../support/client/accounts.ts'
import { assertJsonError, assertSignedIn } from '../../support/client/assertions.ts'
import { turnedClock } from '../../support/clock/turned-clock.ts'
import { accessToken, claimsOf, publishedKeys, verifyAccessToken } from '../../support/service/access-tokens.ts'
import { runCommandOf, setRoles } from '../../support/service/operator-commands.ts'
import { startService } from '../../support/service/service.ts'

const service = await startService()

test('§3.1 access token: JWT, ES256, kid header, typ: at+jwt, verified with the public keys', async () => {
  const { agent } = await signedUp(service)
  const { protectedHeader } = await verifyAccessToken(service, accessToken(agent))
  assert.equal(protectedHeader.alg, 'ES256')
  assert.equal(protectedHeader.typ, 'at+jwt')
  const kids = (await publishedKeys(service)).keys.map(({ kid }) => kid)
  assert.ok(kids.includes(String(protectedHeader.kid)))
})

test('§3.1 claims iss (base URL), sub (user id), aud, sid, roles, email_verified, auth_time, amr, iat, exp, jti', async () => {
  const { agent, person } = await signedUp(service)
  await setRoles(service, person.email, ['editor'])
  const before = Math.floor(Date.now() / 1000)
  await agent.refresh()
  const { payload } = await verifyAccessToken(service, accessToken(agent))
  assert.deepEqual(Object.keys(payload).sort(), [
    'amr',
    'aud',
    'auth_time',
    'email_verified',
    'exp',
    'iat',
    'iss',
    'jti',
    'roles',
    'sid',
    'sub',
  ])
  assert.equal(payload.iss, service.url)
  assert.equal(payload.sub, (await currentUser(agent)).id)
  assert.deepEqual(payload.roles, ['editor'])
  assert.equal(payload.email_verified, false)
  assert.deepEqual(payload.amr, ['pwd'])
  assert.ok(Number(payload.auth_time) <= before && Number(payload.auth_time) > before - 60)
  assert.ok(Number(payload.iat) >= before && Number(payload.iat) <= Math.ceil(Date.now() / 1000))
})

test('§3.1 lifetime 10 minutes', async () => {
  const { agent } = await signedUp(service)
  const { exp = 0, iat = 0 } = claimsOf(accessToken(agent))
  assert.equal(exp - iat, 600)
})

test('§3.1 jti differs for each token; sid stays the same for a session and differs between sessions', async () => {
  const { agent, person } = await signedUp(service)
  const first = claimsOf(accessToken(agent))
  await agent.refresh()
  const second = claimsOf(accessToken(agent))
  assert.notEqual(second.jti, first.jti)
  assert.equal(second.sid, first.sid)
  assert.notEqual(claimsOf(accessToken(await loggedIn(service, person))).sid, first.sid)
})

test('§3.1 at login aud is app unless SVC_AUDIENCES says otherwise', async () => {
  const { agent } = await signedUp(service)
  assert.equal(claimsOf(accessToken(agent)).aud, 'app')
})

test('§3.1 the token contains nothing about the user except the id and the roles', async () => {
  const { agent, person } = await signedUp(service)
  const claims = JSON.stringify(claimsOf(accessToken(agent)))
  for (const value of [person.email, person.username, person.password]) assert.ok(!claims.includes(value))
})

test('§3.1 public keys at GET /auth/.well-known/jwks.json: EC P-256, for signatures, and no private part', async () => {
  const { keys } = await publishedKeys(service)
  assert.ok(keys.length >= 1)
  for (const key of keys) {
    assert.deepEqual([key.kty, key.crv, key.alg, key.use], ['EC', 'P-256', 'ES256', 'sig'])
    assert.ok(key.kid && key.x && key.y)
    assert.equal(key.d, undefined)
  }
})

test('§3.1 iss is SVC_BASE_URL for any Host and X-Forwarded-Host', async (t) => {
  const named = await startService({ t, env: { SVC_BASE_URL: 'https://app.example.com' } })
  const { agent } = await signedUp(named)
  const headers = { host: 'evil.example', 'x-forwarded-host': 'evil.example', origin: 'https://app.example.com' }
  assert.equal((await agent.refresh('audience=app', headers)).status, 200)
  assert.equal(claimsOf(accessToken(agent)).iss, 'https://app.example.com')
})

test('§3.1 SVC_ACCESS_TOKEN_TTL: an expired access token is refused, and a refresh issues the next', async (t) => {
  const clock = turnedClock()
  const quick = await startService({ t, clock, env: { SVC_ACCESS_TOKEN_TTL: '2m' } })
  const { agent } = await signedUp(quick)
  const token = accessToken(agent)
  const { exp = 0, iat = 0 } = claimsOf(token)
  assert.equal(exp - iat, 120)
  await assertSignedIn(agent)
  await clock.turnTo(121_000)
  assertJsonError(await agent.get('/auth/api/v1/user', { cookie: `svc_access=${token}` }), 401, 'unauthorized')
  assert.equal((await agent.refresh()).status, 200)
  await assertSignedIn(agent)
})

test('§3.1 svc keys rotate logs nobody out: old access and refresh tokens stay valid, new tokens use the new key', async () => {
  const { agent } = await signedUp(service)
  const oldKid = decodeProtectedHeader(accessToken(agent)).kid
  await runCommandOf(service, ['keys', 'rotate'])
  await assertSignedIn(agent)
  const kids = (await publishedKeys(service)).keys.map(({ kid }) => kid)
  assert.ok(kids.includes(String(oldKid)), 'the old key is still published')
  assert.equal((await agent.refresh()).status, 200)
  await assertSignedIn(agent)
  await verifyAccessToken(service, accessToken(agent))
})

test('§3.1 tokens stay valid after a restart of the service', async () => {
  const { agent } = await signedUp(service)
  await service.restart()
  await assertSignedIn(agent)
  assert.equal((await agent.refresh()).status, 200)
})
