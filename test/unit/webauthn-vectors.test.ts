// Runs once.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import {
  decodeAttestationObject,
  decodeCredentialPublicKey,
  parseAuthenticatorData,
  verifySignature,
} from '@simplewebauthn/server/helpers'
import type { Passkey } from '../../src/passkeys/passkey.ts'
import { type CoseKey, requireUsableKey } from '../../src/passkeys/public-key.ts'
import { readAssertion, readClientData, readRegistration } from '../../src/passkeys/response.ts'
import { verifyAssertion, verifyRegistration } from '../../src/passkeys/verification.ts'

/**
 * The test vectors of WebAuthn Level 3, section 16 (W3C), for the RP ID `example.org`, in base64url. They were not made
 * for a service that wants user verification and no attestation: what svc refuses, it must refuse for that reason.
 */
interface Vector {
  credentialId: string
  registration: { challenge: string; clientDataJSON: string; attestationObject: string }
  authentication: { challenge: string; clientDataJSON: string; authenticatorData: string; signature: string }
}

const vectors = JSON.parse(
  readFileSync(new URL('../support/passkeys/webauthn-vectors.json', import.meta.url), 'utf8'),
) as Record<string, Vector>

const UV = /user could not be verified/
const FRAMED = /inside one of another site/
const CERTIFICATES = /attestation .* is not accepted/
const ALGORITHM = /the algorithm -\d+ is not accepted/

/** What becomes of the registration, and, had it been accepted, of its key and the sign-in. */
// biome-ignore format: a table is read by its columns
const EXPECTED: Record<string, { registration: RegExp | 'accepted'; authentication: RegExp | 'accepted' }> = {
  'none-es256':                    { registration: UV,           authentication: UV },
  'packed-self-es256':             { registration: 'accepted',   authentication: UV },
  'none-es256-crossOrigin':        { registration: FRAMED,       authentication: FRAMED },
  'none-es256-topOrigin':          { registration: FRAMED,       authentication: FRAMED },
  'none-es256-long-credential-id': { registration: UV,           authentication: 'accepted' },
  'packed-es256':                  { registration: CERTIFICATES, authentication: 'accepted' },
  'packed-es384':                  { registration: CERTIFICATES, authentication: ALGORITHM },
  'packed-es512':                  { registration: CERTIFICATES, authentication: ALGORITHM },
  'packed-rs256':                  { registration: CERTIFICATES, authentication: UV },
  'packed-eddsa':                  { registration: CERTIFICATES, authentication: UV },
  'packed-ed448':                  { registration: CERTIFICATES, authentication: ALGORITHM },
  'tpm-es256':                     { registration: CERTIFICATES, authentication: 'accepted' },
  'android-key-es256':             { registration: CERTIFICATES, authentication: UV },
  'apple-es256':                   { registration: CERTIFICATES, authentication: UV },
  'fido-u2f-es256':                { registration: CERTIFICATES, authentication: UV },
}

const bytes = (text: string) => Uint8Array.from(Buffer.from(text, 'base64url'))
const expectedOf = (challenge: string) => ({ challenge, origin: 'https://example.org', relyingPartyId: 'example.org' })
const credential = ({ credentialId: id }: Vector, response: object) => ({ id, rawId: id, type: 'public-key', response })

const requireUnframed = (clientDataJSON: string): void => {
  if (readClientData(clientDataJSON).isFramed) throw new Error('the page was inside one of another site')
}

const register = (vector: Vector) => {
  const { challenge, ...response } = vector.registration
  const registration = readRegistration(credential(vector, response))
  requireUnframed(registration.clientDataJSON)
  return verifyRegistration(registration, expectedOf(challenge))
}

/** The key and the flags that the vector registers, whatever svc says to its attestation. */
const registeredBy = ({ registration }: Vector) => {
  const data = parseAuthenticatorData(decodeAttestationObject(bytes(registration.attestationObject)).get('authData'))
  return { publicKey: data.credentialPublicKey ?? new Uint8Array(), isBackupEligible: data.flags.be }
}

const authenticate = (vector: Vector) => {
  const { challenge, ...response } = vector.authentication
  const assertion = readAssertion(credential(vector, response))
  requireUnframed(assertion.clientDataJSON)
  const { publicKey, isBackupEligible } = registeredBy(vector)
  requireUsableKey(decodeCredentialPublicKey(publicKey) as unknown as CoseKey)
  const passkey = { publicKey: Buffer.from(publicKey).toString('base64url'), isBackupEligible } as Passkey
  return verifyAssertion(assertion, passkey, expectedOf(challenge))
}

const outcomeOf = async (action: () => Promise<unknown>): Promise<string> => {
  try {
    await action()
    return 'accepted'
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

const check = (outcome: string, expected: RegExp | 'accepted'): void => {
  if (expected === 'accepted') assert.equal(outcome, expected)
  else assert.match(outcome, expected)
}

describe('the test vectors of WebAuthn Level 3', () => {
  test('are all in the table', () => assert.deepEqual(Object.keys(vectors), Object.keys(EXPECTED)))

  for (const [name, vector] of Object.entries(vectors)) {
    test(`${name} is registered, or refused for the right reason`, async () => {
      check(await outcomeOf(async () => register(vector)), EXPECTED[name]?.registration ?? /no row/)
    })

    test(`${name} signs in, or is refused for the right reason`, async () => {
      check(await outcomeOf(async () => authenticate(vector)), EXPECTED[name]?.authentication ?? /no row/)
    })
  }

  for (const name of ['none-es256', 'packed-rs256', 'packed-eddsa']) {
    test(`the signature of ${name} is right, and no longer so with a bit changed`, async () => {
      const vector = vectors[name]
      assert.ok(vector)
      const { authenticatorData, clientDataJSON, signature } = vector.authentication
      const hash = createHash('sha256').update(bytes(clientDataJSON)).digest()
      const data = Uint8Array.from(Buffer.concat([bytes(authenticatorData), hash]))
      const { publicKey: credentialPublicKey } = registeredBy(vector)
      assert.equal(await verifySignature({ signature: bytes(signature), data, credentialPublicKey }), true)
      data[0] = (data[0] ?? 0) ^ 1
      assert.equal(await verifySignature({ signature: bytes(signature), data, credentialPublicKey }), false)
    })
  }
})
