import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { cbor, type Encodable } from './cbor.ts'

export type Algorithm = 'ES256' | 'RS256' | 'EdDSA'

/** What a relying party sends to `navigator.credentials.create`, as far as it is looked at. */
export type CreationOptions = {
  challenge: string
  rp: { id: string; name: string }
  user: { id: string; name: string; displayName: string }
  excludeCredentials: { id: string; type: string; transports: string[] }[]
}

/** The same for `navigator.credentials.get`. */
export type RequestOptions = { challenge: string; rpId: string; allowCredentials: { id: string }[] }

/** How an authenticator is, and what the browser says about the page. All of it may be wrong. */
export type Ways = {
  algorithm?: Algorithm
  origin?: string
  /** Of the site; otherwise as the options say. */
  relyingPartyId?: string
  userPresent?: boolean
  userVerified?: boolean
  backupEligible?: boolean
  backedUp?: boolean
  /** What the counter shows next; undefined: it does not count. */
  counter?: number
  aaguid?: string
  credentialId?: Buffer
  userHandle?: string
  transports?: string[]
  /** Members of `clientDataJSON` that replace the true ones, after which it is signed. */
  clientData?: Record<string, unknown>
  /** The key that it registers, in place of its own. */
  publicKey?: Map<number, Encodable>
  /** The attestation that it registers with: format, and what makes the statement of what is signed. */
  attestation?: { format: string; statement: (signed: Buffer) => Map<string, Encodable> }
  /** Bytes behind the authenticator data, before it is signed. */
  trailing?: Buffer
}

export type RegistrationResponse = {
  id: string
  rawId: string
  type: string
  response: { clientDataJSON: string; attestationObject: string; transports: string[] }
  clientExtensionResults: object
  authenticatorAttachment: string
}

export type AssertionResponse = {
  id: string
  rawId: string
  type: string
  response: { clientDataJSON: string; authenticatorData: string; signature: string; userHandle?: string }
  clientExtensionResults: object
  authenticatorAttachment: string
}

const base64url = (bytes: Uint8Array | string): string => Buffer.from(bytes).toString('base64url')
const sha256 = (bytes: Uint8Array | string): Buffer => createHash('sha256').update(bytes).digest()
const flag = (isSet: boolean | undefined, bit: number): number => (isSet ? 1 << bit : 0)

const makeKeys = (algorithm: Algorithm) => {
  if (algorithm === 'ES256') return generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return algorithm === 'EdDSA'
    ? generateKeyPairSync('ed25519')
    : generateKeyPairSync('rsa', { modulusLength: 2048, publicExponent: 65_537 })
}

const bytes = (text: string): Buffer => Buffer.from(text, 'base64url')

/** The COSE key of a public key (RFC 9053 section 7). */
export const coseKey = (publicKey: KeyObject): Map<number, Encodable> => {
  const { kty, x = '', y = '', n = '', e = '' } = publicKey.export({ format: 'jwk' })
  if (kty === 'EC')
    return new Map<number, Encodable>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, bytes(x)],
      [-3, bytes(y)],
    ])
  if (kty === 'OKP')
    return new Map<number, Encodable>([
      [1, 1],
      [3, -8],
      [-1, 6],
      [-2, bytes(x)],
    ])
  return new Map<number, Encodable>([
    [1, 3],
    [3, -257],
    [-1, bytes(n)],
    [-2, bytes(e)],
  ])
}

/** Authenticator data (WebAuthn Level 3 section 6.1). */
const authenticatorData = (ways: Ways, relyingPartyId: string, attested: Buffer): Buffer => {
  const counter = Buffer.alloc(4)
  counter.writeUInt32BE(ways.counter ?? 0)
  const flags =
    flag(ways.userPresent ?? true, 0) |
    flag(ways.userVerified ?? true, 2) |
    flag(ways.backupEligible, 3) |
    flag(ways.backedUp, 4) |
    flag(attested.length > 0, 6)
  const trailing = ways.trailing ?? Buffer.alloc(0)
  return Buffer.concat([sha256(relyingPartyId), Buffer.from([flags]), counter, attested, trailing])
}

const attestedData = (aaguid: string, credentialId: Buffer, publicKey: Map<number, Encodable>): Buffer => {
  const length = Buffer.alloc(2)
  length.writeUInt16BE(credentialId.length)
  return Buffer.concat([Buffer.from(aaguid.replaceAll('-', ''), 'hex'), length, credentialId, cbor(publicKey)])
}

const NO_AAGUID = '00000000-0000-0000-0000-000000000000'

/**
 * An authenticator in software with one passkey, and the browser in front of it. It does what it is told, so that tests
 * can send what no honest authenticator makes; `ways` of a call come before those that it was made with.
 */
export const createAuthenticator = (made: Ways & { origin: string }) => {
  const { algorithm = 'ES256' } = made
  const { privateKey, publicKey } = makeKeys(algorithm)
  const credentialId = made.credentialId ?? randomBytes(32)
  const id = base64url(credentialId)
  let userHandle: string | undefined

  const clientDataOf = (type: string, challenge: string, { origin, clientData }: Ways): string =>
    base64url(JSON.stringify({ type, challenge, origin, crossOrigin: false, ...clientData }))

  const signed = (data: Buffer): Buffer => sign(algorithm === 'EdDSA' ? null : 'sha256', data, privateKey)

  const responseOf = {
    id,
    rawId: id,
    type: 'public-key',
    clientExtensionResults: {},
    authenticatorAttachment: 'platform',
  }

  return {
    id,
    publicKey,
    sign: signed,
    /** What the site called the user when the passkey was made. */
    get userHandle() {
      return userHandle
    },

    register(options: CreationOptions, now: Ways = {}): RegistrationResponse {
      const ways: Ways = { ...made, ...now }
      userHandle = options.user.id
      const key = ways.publicKey ?? coseKey(publicKey)
      const attested = attestedData(ways.aaguid ?? NO_AAGUID, ways.credentialId ?? credentialId, key)
      const authData = authenticatorData(ways, ways.relyingPartyId ?? options.rp.id, attested)
      const clientDataJSON = clientDataOf('webauthn.create', options.challenge, ways)
      const toSign = Buffer.concat([authData, sha256(Buffer.from(clientDataJSON, 'base64url'))])
      const { format, statement } = ways.attestation ?? { format: 'none', statement: () => new Map() }
      const attestationObject = new Map<string, Encodable>([
        ['fmt', format],
        ['attStmt', statement(toSign)],
        ['authData', authData],
      ])
      return {
        ...responseOf,
        response: {
          clientDataJSON,
          attestationObject: base64url(cbor(attestationObject)),
          transports: ways.transports ?? ['internal', 'hybrid'],
        },
      }
    },

    authenticate(options: RequestOptions, now: Ways = {}): AssertionResponse {
      const ways: Ways = { ...made, ...now }
      const data = authenticatorData(ways, ways.relyingPartyId ?? options.rpId, Buffer.alloc(0))
      const clientDataJSON = clientDataOf('webauthn.get', options.challenge, ways)
      const signature = signed(Buffer.concat([data, sha256(Buffer.from(clientDataJSON, 'base64url'))]))
      const handle = ways.userHandle ?? userHandle
      return {
        ...responseOf,
        response: {
          clientDataJSON,
          authenticatorData: base64url(data),
          signature: base64url(signature),
          ...(handle !== undefined && { userHandle: handle }),
        },
      }
    },
  }
}

export type Authenticator = ReturnType<typeof createAuthenticator>
