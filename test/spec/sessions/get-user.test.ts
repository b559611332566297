// Runs on SQLite.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exportJWK, generateKeyPair } from 'jose'
import { signedUp } from '../../support/client/accounts.ts'
import { assertJsonError } from '../../support/client/assertions.ts'
import { createUserAgent } from '../../support/client/user-agent.ts'
import {
  accessToken,
  claimsOf,
  forge,
  keyTap,
  publishedKeys,
  signMessage,
  signTexts,
  tappedKey,
  unsigned,
  withSpareBit,
} from '../../support/service/access-tokens.ts'
import { startServiceProcess } from '../../support/service/service-process.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const directory = temporaryDirectory()
const service = await startServiceProcess({ cwd: directory, env: keyTap(directory) })
const { agent, person } = await signedUp(service)
const anonymous = createUserAgent(service)
const genuine = accessToken(agent)
const ownKey = await tappedKey(directory)
const foreign = await generateKeyPair('ES256')

const userWith = (cookie: string | string[]) => anonymous.get('/auth/api/v1/user', { cookie })
const userWithToken = (token: string) => userWith(`svc_access=${token}`)

const flipped = (text: string, at: number) => {
  const replacement = text.at(at) === 'A' ? 'B' : 'A'
  return text.slice(0, at) + replacement + text.slice(at === -1 ? text.length : at + 1)
}
const sid = String(claimsOf(genuine).sid)
const nowSeconds = Math.floor(Date.now() / 1000)
const [headerPart = '', payloadPart = '', signaturePart = ''] = genuine.split('.')

const publicKey = (await publishedKeys(service)).keys[0]
const publicBytes = new TextEncoder().encode(JSON.stringify(publicKey))
const refreshToken = agent.cookies.get('svc_refresh') ?? ''

const [headerText = '', payloadText = ''] = [headerPart, payloadPart].map((part) =>
  Buffer.from(part, 'base64url').toString('utf8'),
)
const before = (text: string, members: string) => text.replace('{', `{${members},`)
const after = (text: string, members: string) => text.replace(/\}$/, `,${members}}`)
/** A token signed with the service's key, with members added to the genuine header or payload. */
const withHeader = (members: string) => signTexts(after(headerText, members), payloadText, ownKey)
const withClaims = (members: string) => signTexts(headerText, after(payloadText, members), ownKey)
/** A token signed with the service's key, in whose payload one member has another JSON value. */
const withClaim = (name: string, value: string) =>
  signTexts(headerText, payloadText.replace(new RegExp(`"${name}":("[^"]*"|\\d+)`), `"${name}":${value}`), ownKey)
/** A token signed with the service's key, whose header or payload has a spare bit of base64url set. */
const respelled = async (at: 0 | 1) => {
  const parts = [headerPart, payloadPart]
  const texts = [headerText, payloadText]
  const pads = ['', ' ', '  '].map((pad) => Buffer.from(texts[at] + pad).toString('base64url'))
  const exact = (parts[at] ?? '').length % 4 === 0
  parts[at] = withSpareBit((exact ? pads.find((part) => part.length % 4 !== 0) : parts[at]) ?? '')
  return `${parts.join('.')}.${await signMessage(parts.join('.'), ownKey)}`
}

const invalid: [string, string][] = [
  ['empty', ''],
  ['a word', 'hello'],
  ['two dots', '..'],
  ['only the header', `${headerPart}.`],
  ['without its signature', `${headerPart}.${payloadPart}.`],
  ['with a part too many', `${genuine}.${signaturePart}`],
  ['with another header and payload than were signed', `${headerPart}.${flipped(payloadPart, 20)}.${signaturePart}`],
  ['with a changed signature', `${headerPart}.${payloadPart}.${flipped(signaturePart, 10)}`],
  ['with a signature of zeros', `${headerPart}.${payloadPart}.${Buffer.alloc(64).toString('base64url')}`],
  ['of 8 KB', 'x'.repeat(8192)],
  ['genuine, followed by 8 KB', genuine + 'A'.repeat(8192)],
  ['made of percent signs', '%%%%'],
  ['made of bytes that are no text', 'ÿþýÿ'],
  ['the refresh token (wrong purpose)', refreshToken],
  ['the CSRF token (wrong purpose)', agent.cookies.get('svc_csrf') ?? ''],
  ['with the algorithm none', unsigned(genuine)],
  ['HMAC-signed with the public key', await forge(genuine, publicBytes, { header: { alg: 'HS256' } })],
  ['signed with a foreign key under our kid', await forge(genuine, foreign.privateKey, {})],
  ['signed with a foreign key under its own kid', await forge(genuine, foreign.privateKey, { header: { kid: 'f' } })],
  [
    'signed with a foreign key that it brings along (jwk header)',
    await forge(genuine, foreign.privateKey, { header: { jwk: await exportJWK(foreign.publicKey) } }),
  ],
  ['of our key under an unknown kid', await forge(genuine, ownKey, { header: { kid: 'unknown' } })],
  ['of our key without a kid', await forge(genuine, ownKey, { header: { kid: undefined } })],
  ['of our key with the type JWT', await forge(genuine, ownKey, { header: { typ: 'JWT' } })],
  ['of our key without a type', await forge(genuine, ownKey, { header: { typ: undefined } })],
  ['of our key with the type of an id token', await forge(genuine, ownKey, { header: { typ: 'id+jwt' } })],
  ['of our key with another issuer', await forge(genuine, ownKey, { claims: { iss: 'https://other.example' } })],
  ['of our key without an issuer', await forge(genuine, ownKey, { claims: { iss: undefined } })],
  ['of our key that has expired', await forge(genuine, ownKey, { claims: { exp: nowSeconds - 1 } })],
  ['of our key without an end', await forge(genuine, ownKey, { claims: { exp: undefined } })],
  ['of our key whose end is a text', await forge(genuine, ownKey, { claims: { exp: '9999999999' } })],
  ['of our key for no session', await forge(genuine, ownKey, { claims: { sid: undefined } })],
  [
    'of our key for an unknown session',
    await forge(genuine, ownKey, { claims: { sid: '00000000-0000-4000-8000-000000000000' } }),
  ],
  ['of our key for nobody', await forge(genuine, ownKey, { claims: { sub: undefined } })],
  [
    'of our key for another user than the session has',
    await forge(genuine, ownKey, { claims: { sub: '00000000-0000-4000-8000-000000000000' } }),
  ],
  ['of our key with a critical extension that is unknown', await withHeader('"crit":["exp2"],"exp2":1')],
  ['of our key with a critical extension that it lacks', await withHeader('"crit":["exp2"]')],
  ['of our key with crit that names a parameter of the standard', await withHeader('"crit":["alg"]')],
  ['of our key with an empty crit', await withHeader('"crit":[]')],
  ['of our key with a crit that is no list', await withHeader('"crit":"exp2"')],
  ['of our key with a crit that is null', await withHeader('"crit":null')],
  ['of our key with b64, critical', await withHeader('"b64":true,"crit":["b64"]')],
  ['of our key with b64', await withHeader('"b64":false')],
  ['of our key with two algorithms', await signTexts(before(headerText, '"alg":"none"'), payloadText, ownKey)],
  ['of our key with two users', await signTexts(headerText, before(payloadText, '"sub":"other"'), ownKey)],
  ['of our key that is not good before an hour has passed', await withClaims(`"nbf":${nowSeconds + 3600}`)],
  ['of our key that is not good before a text', await withClaims(`"nbf":"${nowSeconds - 60}"`)],
  ['of our key that is not good before null', await withClaims('"nbf":null')],
  ['of our key that is good without end', await withClaim('exp', '1e400')],
  ['of our key whose end is a list', await withClaim('exp', '[9999999999]')],
  ['of our key whose beginning is a text', await withClaim('iat', `"${nowSeconds}"`)],
  ['of our key without a beginning', await forge(genuine, ownKey, { claims: { iat: undefined } })],
  ['of our key for a session whose id is no UUID', await withClaim('sid', '"1"')],
  ['of our key for a session whose id is a number', await withClaim('sid', '1')],
  ['of our key for a session whose id is in capitals', await withClaim('sid', JSON.stringify(sid.toUpperCase()))],
  ['of our key for a user whose id is no UUID', await withClaim('sub', '"1"')],
  ['with a signature in another spelling', `${headerPart}.${payloadPart}.${withSpareBit(signaturePart)}`],
  ['of our key with a header in another spelling', await respelled(0)],
  ['of our key with a payload in another spelling', await respelled(1)],
]

test('§4.1 when the request carries a valid session, then the response is 200 with the User, in JSON', async () => {
  const answer = await agent.get('/auth/api/v1/user')
  assert.equal(answer.status, 200)
  assert.match(answer.headers['content-type'] ?? '', /^application\/json\b/)
  assert.equal(answer.json<{ email: string }>().email, person.email)
})

test('no cache on the way keeps the user', async () => {
  assert.match((await agent.get('/auth/api/v1/user')).headers['cache-control'] ?? '', /no-store|private/)
})

test('§4.1 required: valid access cookie svc_access, and no other cookie', async () => {
  assert.equal((await userWithToken(genuine)).status, 200)
})

test('§4.1 the access cookie is found among cookies of the application', async () => {
  const others = 'theme=dark; _ga=GA1.2.3; broken; =x; a="b c"; empty=; svc_accessory=1'
  assert.equal((await userWith(`${others}; svc_access=${genuine}; last=%zz`)).status, 200)
})

test('§4.1 the access token counts as a cookie only, not as a bearer token or in the query', async () => {
  const headers = { cookie: [], authorization: `Bearer ${genuine}` }
  const answer = await anonymous.get(`/auth/api/v1/user?svc_access=${genuine}&access_token=${genuine}`, headers)
  assertJsonError(answer, 401, 'unauthorized')
})

test('§4.1 when the access cookie is missing, then the response is 401 unauthorized', async () => {
  assertJsonError(await userWith([]), 401, 'unauthorized')
})

test('the forged signatures are valid: an unchanged token that is signed again with the tapped key is accepted', async () => {
  assert.equal((await userWithToken(await forge(genuine, ownKey, {}))).status, 200)
})

test('the forged texts are valid: the same texts, a harmless header and nbf in the past are accepted', async () => {
  const good = [
    await signTexts(headerText, payloadText, ownKey),
    await withHeader('"cty":"anything"'),
    await withClaims(`"nbf":${nowSeconds - 60}`),
    await withClaim('exp', String(nowSeconds + 30)),
  ]
  for (const token of good) assert.equal((await userWithToken(token)).status, 200, token)
})

test('a token that is not valid yet is refused after the genuine one was accepted, and when it is sent again', async () => {
  const early = await withClaims(`"nbf":${nowSeconds + 3600}`)
  for (const token of [genuine, early, early]) {
    assert.equal((await userWithToken(token)).status, token === genuine ? 200 : 401)
  }
})

for (const [what, token] of invalid) {
  test(`§4.1 when the access cookie is invalid, then the response is 401 unauthorized: ${what}`, async () => {
    assert.notEqual(token, genuine)
    assertJsonError(await userWithToken(token), 401, 'unauthorized')
  })
}

test('§4.1 a token with the session of another user is refused', async () => {
  const other = await signedUp(service)
  const { sid } = claimsOf(accessToken(other.agent))
  assertJsonError(await userWithToken(await forge(genuine, ownKey, { claims: { sid } })), 401, 'unauthorized')
})

test('§4.1 request body: none; a body changes nothing', async () => {
  const headers = { 'content-type': 'application/json', cookie: `svc_access=${genuine}` }
  const answer = await anonymous.send({ method: 'GET', path: '/auth/api/v1/user', headers, body: '{"id":1}' })
  assert.ok(answer.status === 200 || answer.status === 400, String(answer.status))
})

for (const audience of ['app', 'api.example.com', 'https://api.example.com/v1', 'x']) {
  test(`GET /user accepts every audience that svc issues: ${audience}`, async () => {
    const { agent } = await signedUp(service)
    assert.equal((await agent.refresh(`audience=${encodeURIComponent(audience)}`)).status, 200)
    assert.equal(claimsOf(accessToken(agent)).aud, audience)
    assert.equal((await agent.get('/auth/api/v1/user')).status, 200)
  })
}
