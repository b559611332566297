// Runs on SQLite.
import assert from 'node:assert/strict'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { newAgent, signedUp } from '../../support/client/accounts.ts'
import type { Answer } from '../../support/client/user-agent.ts'
import {
  type AssertionResponse,
  type Authenticator,
  coseKey,
  createAuthenticator,
  type Ways,
} from '../../support/passkeys/authenticator.ts'
import type { Encodable } from '../../support/passkeys/cbor.ts'
import {
  addPasskey,
  loginOptions,
  logInWithPasskey,
  postJson,
  registrationOptions,
  tryToAddPasskey,
} from '../../support/passkeys/passkeys.ts'
import { startService } from '../../support/service/service.ts'

const service = await startService()
const origin = service.url
const LOGIN = '/auth/passkeys/login'
const REGISTER = '/auth/passkeys/register'

const { agent } = await signedUp(service)
const authenticator = createAuthenticator({ origin })
await addPasskey(agent, authenticator)
// From now on, a change needs the passkey.
await logInWithPasskey(agent, authenticator)

/** What an honest authenticator never says, and browsers never. */
const WRONG: Record<string, Ways> = {
  'another origin': { origin: 'https://evil.example' },
  'the origin with another port': { origin: 'http://localhost:1' },
  'the origin with another scheme': { origin: origin.replace('http:', 'https:') },
  'the origin with a slash behind it': { origin: `${origin}/` },
  'an opaque origin': { origin: 'null' },
  'an app in place of a page': { origin: 'android:apk-key-hash:pNiP5iKyQ8JwgGOaKA1zGPUPJIS-0H1xKCQcfIoGLck' },
  'a page inside one of another origin': { clientData: { crossOrigin: true, topOrigin: 'https://evil.example' } },
  'a page inside another, whose origin is not said': { clientData: { crossOrigin: true } },
  'a page around it alone': { clientData: { topOrigin: origin } },
  'text in place of crossOrigin': { clientData: { crossOrigin: 'false' } },
  'another type of ceremony': { clientData: { type: 'payment.get' } },
  'no type': { clientData: { type: undefined } },
  'another RP ID': { relyingPartyId: 'evil.example' },
  'the host of the origin with its port as RP ID': { relyingPartyId: new URL(origin).host },
  'no user verification': { userVerified: false },
  'no user presence': { userPresent: false },
  'a backup without eligibility': { backedUp: true },
  'bytes behind the authenticator data': { trailing: Buffer.from([0]) },
}

const statusesOf = async (cases: [string, () => Promise<Answer>][]): Promise<Record<string, number>> => {
  const statuses: [string, number][] = []
  for (const [name, send] of cases) statuses.push([name, (await send()).status])
  return Object.fromEntries(statuses)
}

const expectAll = (statuses: Record<string, number>, expected: number): void =>
  assert.deepEqual(statuses, Object.fromEntries(Object.keys(statuses).map((name) => [name, expected])))

const flip = (text: string, index: number): string => {
  const bytes = Buffer.from(text, 'base64url')
  const at = index < 0 ? bytes.length + index : index
  bytes[at] = (bytes[at] ?? 0) ^ 1
  return bytes.toString('base64url')
}
const resign = (response: AssertionResponse['response'], data: object): string =>
  Buffer.from(
    JSON.stringify({ ...JSON.parse(Buffer.from(response.clientDataJSON, 'base64url').toString()), ...data }),
  ).toString('base64url')

describe('a sign-in is refused', () => {
  test('with what no honest browser and authenticator say', async () => {
    const statuses = await statusesOf(
      Object.entries(WRONG).map(([name, ways]) => [
        name,
        () => logInWithPasskey(newAgent(service), authenticator, ways),
      ]),
    )
    expectAll(statuses, 401)
  })

  test('when a part of the response was changed after it was signed', async () => {
    const other = createAuthenticator({ origin })
    const changes: Record<string, (given: AssertionResponse['response']) => object> = {
      signature: ({ signature }) => ({ signature: flip(signature, -1) }),
      'the first byte of the signature': ({ signature }) => ({ signature: flip(signature, 0) }),
      'a counter': ({ authenticatorData }) => ({ authenticatorData: flip(authenticatorData, -1) }),
      'the flags': ({ authenticatorData: data }) => ({ authenticatorData: flip(data, 32) }),
      'the RP ID': ({ authenticatorData: data }) => ({ authenticatorData: flip(data, 0) }),
      'another member of clientDataJSON': (given) => ({ clientDataJSON: resign(given, { added: true }) }),
      'the signature of another key': () => ({ signature: other.sign(Buffer.from('x')).toString('base64url') }),
      'an empty DER sequence': () => ({ signature: Buffer.from([0x30, 0]).toString('base64url') }),
      'zeros as signature': () => ({ signature: Buffer.from('3006020100020100', 'hex').toString('base64url') }),
      'authenticator data that are too short': () => ({ authenticatorData: Buffer.alloc(36).toString('base64url') }),
    }
    const statuses = await statusesOf(
      Object.entries(changes).map(([name, change]) => [
        name,
        async () => {
          const visitor = newAgent(service)
          const { response, ...rest } = authenticator.authenticate(await loginOptions(visitor))
          return postJson(visitor, LOGIN, { ...rest, response: { ...response, ...change(response) } })
        },
      ]),
    )
    expectAll(statuses, 401)
  })

  test('with the id of the passkey of another account, signed by an own one', async () => {
    const { agent: other } = await signedUp(service)
    const own = createAuthenticator({ origin })
    await addPasskey(other, own)
    const visitor = newAgent(service)
    const response = own.authenticate(await loginOptions(visitor))
    const swapped = { ...response, id: authenticator.id, rawId: authenticator.id }
    assert.equal((await postJson(visitor, LOGIN, swapped)).status, 401)
  })
})

/** Registers what the ways say, with a new authenticator. */
const register = (ways: Ways, from: Authenticator = createAuthenticator({ origin })) =>
  tryToAddPasskey(agent, from, ways)

const key = (...entries: [number, Encodable][]) => new Map<number, Encodable>(entries)
const ec = (namedCurve: string) => {
  const { x = '', y = '' } = generateKeyPairSync('ec', { namedCurve }).publicKey.export({ format: 'jwk' })
  return { x: Buffer.from(x, 'base64url'), y: Buffer.from(y, 'base64url') }
}
const rsa = (modulusLength: number, publicExponent: number) =>
  coseKey(generateKeyPairSync('rsa', { modulusLength, publicExponent }).publicKey)
const okp = (x: string | Buffer) => key([1, 1], [3, -8], [-1, 6], [-2, Buffer.isBuffer(x) ? x : Buffer.from(x, 'hex')])

const packed = (entries: (signed: Buffer) => [string, Encodable][]): Ways => ({
  attestation: { format: 'packed', statement: (signed) => new Map(entries(signed)) },
})

describe('a registration is refused', () => {
  test('with what no honest browser and authenticator say', async () => {
    const statuses = await statusesOf(
      Object.entries(WRONG)
        .filter(([name]) => name !== 'no type')
        .map(([name, ways]) => [name, () => register(ways)]),
    )
    expectAll(statuses, 400)
  })

  test('with a key that cannot be used, or is of another algorithm than it claims', async () => {
    const { x, y } = ec('P-256')
    const p384 = ec('P-384')
    const offCurve = Buffer.from(y)
    offCurve[31] = (offCurve[31] ?? 0) ^ 1
    const keys: Record<string, Map<number, Encodable>> = {
      ES384: key([1, 2], [3, -35], [-1, 2], [-2, p384.x], [-3, p384.y]),
      'ES256 with P-384': key([1, 2], [3, -7], [-1, 2], [-2, p384.x], [-3, p384.y]),
      'ES256 with another type of key': key([1, 1], [3, -7], [-1, 1], [-2, x], [-3, y]),
      'ES256 with an RSA key': new Map([...rsa(2048, 65_537), [3, -7]]),
      'RS256 with an EC key': key([1, 2], [3, -257], [-1, 1], [-2, x], [-3, y]),
      'EdDSA with an EC key': key([1, 2], [3, -8], [-1, 1], [-2, x], [-3, y]),
      'a point that is not on the curve': key([1, 2], [3, -7], [-1, 1], [-2, x], [-3, offCurve]),
      'the point (0, 0)': key([1, 2], [3, -7], [-1, 1], [-2, Buffer.alloc(32)], [-3, Buffer.alloc(32)]),
      'a coordinate that is too short': key([1, 2], [3, -7], [-1, 1], [-2, x.subarray(1)], [-3, y]),
      'a coordinate that is missing': key([1, 2], [3, -7], [-1, 1], [-2, x]),
      'a coordinate that is a number': key([1, 2], [3, -7], [-1, 1], [-2, 1], [-3, y]),
      'one member too many': key([1, 2], [3, -7], [-1, 1], [-2, x], [-3, y], [-4, x]),
      'no algorithm': key([1, 2], [-1, 1], [-2, x], [-3, y]),
      Ed448: key([1, 1], [3, -8], [-1, 7], [-2, randomBytes(57)]),
      'an Ed25519 key that is no point': okp(`02${'00'.repeat(31)}`),
      'an Ed25519 key of low order': okp(`01${'00'.repeat(31)}`),
      'an Ed25519 key of zeros': okp(Buffer.alloc(32)),
      'an Ed25519 key that is too long': okp(randomBytes(33)),
      'RSA of 1,024 bits': rsa(1024, 65_537),
      'RSA with the exponent 1': new Map([...rsa(2048, 65_537), [-2, Buffer.from([1])]]),
      'RSA with an even exponent': new Map([...rsa(2048, 65_537), [-2, Buffer.from([4])]]),
      'RSA with an exponent of five bytes': new Map([...rsa(2048, 65_537), [-2, Buffer.from([1, 0, 0, 0, 1])]]),
      'RSA of 8,192 bits': key([1, 3], [3, -257], [-1, Buffer.alloc(1024, 0xff)], [-2, Buffer.from([1, 0, 1])]),
      'RSA with SHA-1': new Map([...rsa(2048, 65_537), [3, -65_535]]),
      'ML-DSA-44': key([1, 7], [3, -48], [-1, randomBytes(1312)]),
    }
    const statuses = await statusesOf(
      Object.entries(keys).map(([name, publicKey]) => [name, () => register({ publicKey })]),
    )
    expectAll(statuses, 400)
  })

  test('with an attestation that brings certificates, or a wrong one', async () => {
    const own = createAuthenticator({ origin })
    const self = (signed: Buffer): [string, Encodable][] => [
      ['alg', -7],
      ['sig', own.sign(signed)],
    ]
    const statuses = await statusesOf([
      [
        'x5c',
        () =>
          register(
            packed((signed) => [...self(signed), ['x5c', new Map()]]),
            own,
          ),
      ],
      [
        'a wrong signature',
        () =>
          register(
            packed((signed) => self(Buffer.concat([signed, signed]))),
            own,
          ),
      ],
      [
        'another algorithm',
        () =>
          register(
            packed((signed) => [
              ['alg', -257],
              ['sig', own.sign(signed)],
            ]),
            own,
          ),
      ],
      [
        'a statement with none',
        () => register({ attestation: { format: 'none', statement: () => new Map([['sig', 'x']]) } }),
      ],
      ...['tpm', 'android-key', 'android-safetynet', 'apple', 'fido-u2f', 'unknown'].map(
        (format): [string, () => Promise<Answer>] => [
          format,
          () => register({ attestation: { format, statement: (signed) => new Map(self(signed)) } }),
        ],
      ),
    ])
    expectAll(statuses, 400)
    assert.equal((await register(packed(self), own)).status, 201)
  })

  test('with an id that is too long, and not with one of 1,023 bytes', async () => {
    const long = createAuthenticator({ origin, credentialId: randomBytes(1023) })
    assert.equal((await register({}, long)).status, 201)
    assert.equal((await logInWithPasskey(newAgent(service), long)).status, 200)
    assert.equal((await register({}, createAuthenticator({ origin, credentialId: randomBytes(1024) }))).status, 400)
    const own = createAuthenticator({ origin })
    assert.equal(
      (await register({ credentialId: randomBytes(32) }, own)).status,
      400,
      'another id than the browser says',
    )
  })
})

const good = async (path = LOGIN): Promise<object> =>
  path === LOGIN
    ? authenticator.authenticate(await loginOptions(agent))
    : createAuthenticator({ origin }).register(await registrationOptions(agent))

describe('a body', () => {
  for (const path of [LOGIN, REGISTER]) {
    test(`of ${path} must be an object of the right form`, async () => {
      const response = await good(path)
      const inner: object = Object.values(response).find((value) => typeof value === 'object')
      const bodies: Record<string, unknown> = {
        'no JSON': '{',
        'a list': [],
        null: 'null',
        text: '"x"',
        nothing: '',
        'an empty object': {},
        'no response': { ...response, response: undefined },
        'a list as response': { ...response, response: [] },
        'text as response': { ...response, response: 'x' },
        'a number as id': { ...response, id: 1 },
        'a list as id': { ...response, id: ['x'] },
        'another rawId': { ...response, rawId: 'AAAA' },
        'another type': { ...response, type: 'password' },
        padding: { ...response, id: 'AA==', rawId: 'AA==' },
        'bits behind the last byte': { ...response, id: 'AB', rawId: 'AB' },
        'clientDataJSON that is an object': { ...response, response: { ...inner, clientDataJSON: {} } },
        'clientDataJSON that is no JSON': { ...response, response: { ...inner, clientDataJSON: 'AAAA' } },
        'clientDataJSON that is null': { ...response, response: { ...inner, clientDataJSON: 'bnVsbA' } },
        'a member twice': JSON.stringify(response).replace('{', '{"id":"AAAA",'),
        'values by way of the prototype': `{"__proto__":${JSON.stringify(response)}}`,
        nesting: `{"id":${'['.repeat(40)}${']'.repeat(40)}}`,
      }
      const statuses = await statusesOf(
        Object.entries(bodies).map(([name, body]) => [name, () => postJson(agent, path, body)]),
      )
      expectAll(statuses, 400)
    })

    test(`of ${path} has a type and a limit`, async () => {
      const response = await good(path)
      const typed = await postJson(agent, path, response, { 'content-type': 'text/plain' })
      assert.equal(typed.status, 415)
      assert.equal((await postJson(agent, path, response, { 'content-encoding': 'gzip' })).status, 415)
      assert.equal((await postJson(agent, path, { ...response, more: 'x'.repeat(16_384) })).status, 413)
      assert.equal((await postJson(agent, path, response, { 'x-csrf-token': 'x'.repeat(43) })).status, 403)
      assert.equal((await postJson(agent, path, response, { origin: 'https://evil.example' })).status, 403)
      assert.equal((await postJson(agent, path, response, { 'sec-fetch-site': 'same-site' })).status, 403)
      const known = await postJson(agent, path, { ...response, added: { by: 'a later browser' } })
      assert.ok(known.status < 300, known.text)
    })
  }

  test('of a refused request is described by an error in JSON that names the field', async () => {
    const answer = await postJson(agent, LOGIN, { id: 7 })
    const { error } = answer.json<{ error: { code: string; message: string; request_id: string } }>()
    assert.deepEqual([error.code, error.request_id], ['invalid_request', answer.headers['x-request-id']])
    assert.match(error.message, /^id must be/)
  })

  test('is read after return_to, which must be a path of this site', async () => {
    for (const returnTo of ['https%3A%2F%2Fevil.example', '%2F%2Fevil.example', 'start', '%2F%5Cevil']) {
      const answer = await postJson(agent, `${LOGIN}?return_to=${returnTo}`, await good())
      assert.equal(answer.status, 400, returnTo)
    }
    assert.equal((await postJson(agent, `${LOGIN}?return_to=%2F&return_to=%2F`, await good())).status, 400)
  })

  test('is not read by GET and HEAD', async () => {
    for (const path of [LOGIN, REGISTER, `${LOGIN}/options`, `${REGISTER}/options`]) {
      assert.equal((await agent.get(path)).status, 405)
      assert.equal((await agent.send({ method: 'HEAD', path })).status, 405)
    }
  })
})
