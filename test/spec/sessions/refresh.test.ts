// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signedUp } from '../../support/client/accounts.ts'
import { assertJsonError, assertSignedIn } from '../../support/client/assertions.ts'
import { type Answer, type UserAgent, createUserAgent } from '../../support/client/user-agent.ts'
import { accessToken, verifyAccessToken } from '../../support/service/access-tokens.ts'
import { disableUser, runCommandOf } from '../../support/service/operator-commands.ts'
import { startService } from '../../support/service/service.ts'

const service = await startService()
const unknownToken = 'A'.repeat(43)

const assertChangesNothing = async (answer: Answer, agent: UserAgent) => {
  assert.deepEqual(answer.setCookies, [], 'no cookie is set or cleared')
  await assertSignedIn(agent)
  assert.equal((await agent.refresh()).status, 200, 'the refresh token is still the current one')
}

test('§3.2 success: 200 OK with an empty body, and new session cookies are set', async () => {
  const { agent } = await signedUp(service)
  const before = { access: accessToken(agent), refresh: agent.cookies.get('svc_refresh') }
  const answer = await agent.refresh('audience=app')
  assert.equal(answer.status, 200)
  assert.equal(answer.text, '')
  assert.ok(answer.cookie('svc_access'), 'svc_access is set')
  assert.notEqual(accessToken(agent), before.access)
  assert.notEqual(agent.cookies.get('svc_refresh'), before.refresh, 'every refresh hands out a new refresh token')
  await assertSignedIn(agent)
})

test('§3.2 issues a new access token for the requested token audience', async () => {
  const { agent } = await signedUp(service)
  await agent.refresh('audience=reports.example.com')
  const { payload } = await verifyAccessToken(service, accessToken(agent))
  assert.equal(payload.aud, 'reports.example.com')
})

test('§3.2 requires the svc_refresh cookie, and not the access cookie', async () => {
  const { agent } = await signedUp(service)
  agent.cookies.delete('svc_access')
  assert.equal((await agent.refresh()).status, 200)
  await assertSignedIn(agent)
  agent.cookies.delete('svc_refresh')
  assertJsonError(await agent.refresh(), 401, 'unauthorized')
})

test('§3.2 an access token is refused as a refresh token', async () => {
  const { agent } = await signedUp(service)
  agent.cookies.set('svc_refresh', accessToken(agent), '/auth')
  assertJsonError(await agent.refresh(), 401, 'unauthorized')
})

test('§3.2 check 1: without svc_refresh it is 401, before CSRF and audience are checked', async () => {
  assertJsonError(await createUserAgent(service).refresh(''), 401, 'unauthorized')
})

test('§3.2 check 2: CSRF is 403, before audience and token are checked', async () => {
  const agent = createUserAgent(service)
  agent.cookies.set('svc_refresh', unknownToken, '/auth')
  const answer = await agent.refresh('', { 'x-csrf-token': 'wrong' })
  assertJsonError(answer, 403, 'forbidden')
  assert.deepEqual(answer.cleared, [])
})

test('§3.2 check 3: audience is 400, before the token is checked', async () => {
  const agent = createUserAgent(service)
  await agent.get('/auth/login')
  agent.cookies.set('svc_refresh', unknownToken, '/auth')
  const answer = await agent.refresh('audience=')
  assertJsonError(answer, 400, 'invalid_request')
  assert.deepEqual(answer.cleared, [])
})

test('§3.2 check 4: token unknown is 401, and the session cookies are cleared', async () => {
  const { agent } = await signedUp(service)
  agent.cookies.set('svc_refresh', unknownToken, '/auth')
  const answer = await agent.refresh()
  assertJsonError(answer, 401, 'unauthorized')
  assert.ok(answer.cleared.includes('svc_access') && answer.cleared.includes('svc_refresh'), String(answer.cleared))
  assert.equal(agent.cookies.get('svc_refresh'), undefined)
})

const mangled: [string, (token: string) => string][] = [
  ['empty', () => ''],
  ['cut short', (token) => token.slice(0, -1)],
  ['longer', (token) => `${token}A`],
  ['with one character changed', (token) => (token.startsWith('A') ? 'B' : 'A') + token.slice(1)],
  ['with its end changed', (token) => token.slice(0, -3) + (token.endsWith('AAA') ? 'BBB' : 'AAA')],
  ['in other case', (token) => (token === token.toLowerCase() ? token.toUpperCase() : token.toLowerCase())],
  ['of 8 KB', () => 'A'.repeat(8192)],
  ['a JWT', () => `${btoa('{"alg":"none"}')}.${btoa('{"sub":"1"}')}.`],
  ['not of this world', () => '%00%ff%zz'],
]
for (const [what, mangle] of mangled) {
  test(`§3.2 check 4: a token that is ${what} is 401, and the genuine one stays valid`, async () => {
    const { agent } = await signedUp(service)
    const thief = agent.copy()
    thief.cookies.set('svc_refresh', mangle(agent.cookies.get('svc_refresh') ?? ''), '/auth')
    assertJsonError(await thief.refresh(), 401, 'unauthorized')
    await assertSignedIn(agent)
    assert.equal((await agent.refresh()).status, 200)
  })
}

test('§3.2 check 4: revoked is 401, and the session cookies are cleared', async () => {
  const { agent, person } = await signedUp(service)
  await runCommandOf(service, ['sessions', 'revoke', person.email])
  const answer = await agent.refresh()
  assertJsonError(answer, 401, 'unauthorized')
  assert.ok(answer.cleared.includes('svc_access') && answer.cleared.includes('svc_refresh'))
})

test('§3.2 check 4: user disabled is 401, and the session cookies are cleared', async () => {
  const { agent, person } = await signedUp(service)
  await disableUser(service, person.email)
  const answer = await agent.refresh()
  assertJsonError(answer, 401, 'unauthorized')
  assert.ok(answer.cleared.includes('svc_access') && answer.cleared.includes('svc_refresh'))
})

test('§3.2 a refused request changes no state: CSRF', async () => {
  const { agent } = await signedUp(service)
  const answer = await agent.refresh('audience=app', { 'x-csrf-token': 'wrong' })
  assertJsonError(answer, 403, 'forbidden')
  await assertChangesNothing(answer, agent)
})

const refusedAudiences: [string, string][] = [
  ['missing', ''],
  ['missing among others', 'aud=app&Audience=app'],
  ['empty', 'audience='],
  ['without a value', 'audience'],
  ['repeated', 'audience=app&audience=app'],
  ['repeated under another spelling', 'audience=app&%61udience=app'],
  ['a list', 'audience[]=app'],
  ['an object', 'audience[a]=app'],
  ['of 129 characters', `audience=${'a'.repeat(129)}`],
  ['with a space', 'audience=my%20app'],
  ['with a plus sign for a space', 'audience=my+app'],
  ['with a comma', 'audience=a,b'],
  ['with a NUL', 'audience=app%00'],
  ['with a line end', 'audience=app%0A'],
  ['with a letter beyond ASCII', 'audience=%C3%A9'],
  ['with a full-width letter', 'audience=%EF%BD%81pp'],
  ['with bytes that are no text', 'audience=%FF'],
  ['with a percent sign that stands for nothing', 'audience=%zz'],
  ['with a quote', "audience='--"],
  ['with an asterisk', 'audience=*'],
]
for (const [what, query] of refusedAudiences) {
  test(`§3.2 check 3: audience ${what} is 400 invalid_request, without a change of state`, async () => {
    const { agent } = await signedUp(service)
    const answer = await agent.refresh(query)
    assertJsonError(answer, 400, 'invalid_request')
    await assertChangesNothing(answer, agent)
  })
}

const acceptedAudiences = [
  'a',
  '0',
  'A-Z_a.z:0/9',
  'https://api.example.com:8443/v1',
  'urn:example:app',
  '-',
  'a'.repeat(128),
]
for (const audience of acceptedAudiences) {
  test(`§3.2 audience: 1 to 128 characters of A-Z a-z 0-9 . _ : / - is accepted: ${audience}`, async () => {
    const { agent } = await signedUp(service)
    assert.equal((await agent.refresh(`other=1&audience=${encodeURIComponent(audience)}`)).status, 200)
    const { payload } = await verifyAccessToken(service, accessToken(agent))
    assert.equal(payload.aud, audience)
  })
}

test('§3.2 audience outside SVC_AUDIENCES is 400, one of them is issued, and at login it is the first', async (t) => {
  const restricted = await startService({ t, env: { SVC_AUDIENCES: 'web.example, api.example' } })
  const { agent } = await signedUp(restricted)
  assert.equal((await verifyAccessToken(restricted, accessToken(agent))).payload.aud, 'web.example')
  for (const outside of ['app', 'api.example.com', 'API.example', 'web.example,api.example'])
    assertJsonError(await agent.refresh(`audience=${outside}`), 400, 'invalid_request')
  assert.equal((await agent.refresh('audience=api.example')).status, 200)
  assert.equal((await verifyAccessToken(restricted, accessToken(agent))).payload.aud, 'api.example')
})
