import { ALGORITHMS, algorithmOf, type CoseKey, requireUsableKey } from './public-key.ts'
import type { Passkey } from './passkey.ts'
import type { Assertion, Registration } from './response.ts'

/** The library is loaded with the first response: it takes a tenth of a second, and 25 MB. */
const loadLibrary = () => import('@simplewebauthn/server')
const loadHelpers = () => import('@simplewebauthn/server/helpers')

/** A response must have been made for these. */
export interface Expected {
  challenge: string
  /** It is exactly the origin of the base URL. */
  origin: string
  relyingPartyId: string
}

export interface Use {
  signCount: number
  isBackedUp: boolean
}

export type NewPasskey = Pick<
  Passkey,
  'credentialId' | 'publicKey' | 'aaguid' | 'signCount' | 'isBackupEligible' | 'isBackedUp'
>

/** Checks a signature and what was signed (WebAuthn section 7.2). It throws if the response proves nothing. */
export const verifyAssertion = async (assertion: Assertion, passkey: Passkey, expected: Expected): Promise<Use> => {
  const { verifyAuthenticationResponse } = await loadLibrary()
  const { id, clientDataJSON, authenticatorData, signature } = assertion
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response: {
      id,
      rawId: id,
      type: 'public-key',
      clientExtensionResults: {},
      response: { clientDataJSON, authenticatorData, signature },
    },
    expectedChallenge: expected.challenge,
    expectedOrigin: expected.origin,
    expectedRPID: expected.relyingPartyId,
    requireUserVerification: true,
    credential: {
      id,
      publicKey: Uint8Array.from(Buffer.from(passkey.publicKey, 'base64url')),
      // The library would refuse a counter that does not go up. Authenticators that are restored from a backup count
      // again.
      counter: -1,
    },
  })
  if (!verified) throw new Error('the signature is wrong')
  const { newCounter, credentialDeviceType, credentialBackedUp } = authenticationInfo
  if ((credentialDeviceType === 'multiDevice') !== passkey.isBackupEligible) {
    throw new Error('the backup eligibility of the passkey has changed')
  }
  return { signCount: newCounter, isBackedUp: credentialBackedUp }
}

/** Checks a new passkey (section 7.1). It throws if the passkey cannot be used. */
export const verifyRegistration = async (registration: Registration, expected: Expected): Promise<NewPasskey> => {
  const { id, clientDataJSON, attestationObject } = registration
  const selfMadeBy = await requireNoCertificates(attestationObject)
  const { verifyRegistrationResponse } = await loadLibrary()
  const { verified, registrationInfo } = await verifyRegistrationResponse({
    response: {
      id,
      rawId: id,
      type: 'public-key',
      clientExtensionResults: {},
      response: { clientDataJSON, attestationObject },
    },
    expectedChallenge: expected.challenge,
    expectedOrigin: expected.origin,
    expectedRPID: expected.relyingPartyId,
    requireUserVerification: true,
    supportedAlgorithmIDs: [...ALGORITHMS],
  })
  if (!verified || !registrationInfo) throw new Error('the attestation is wrong')
  const { credential, aaguid, credentialDeviceType, credentialBackedUp } = registrationInfo
  if (credential.id !== id) throw new Error('the authenticator names another passkey than the browser')
  const { decodeCredentialPublicKey } = await loadHelpers()
  const key = decodeCredentialPublicKey(credential.publicKey) as unknown as CoseKey
  requireUsableKey(key)
  if (selfMadeBy !== undefined && selfMadeBy !== algorithmOf(key))
    throw new Error('the attestation is of another algorithm')
  return {
    credentialId: credential.id,
    publicKey: Buffer.from(credential.publicKey).toString('base64url'),
    aaguid,
    signCount: credential.counter,
    isBackupEligible: credentialDeviceType === 'multiDevice',
    isBackedUp: credentialBackedUp,
  }
}

/**
 * svc asks for no attestation. A browser sends `none`, or `packed` with a signature of the passkey itself, which
 * browsers leave as it is (section 5.1.3); then it resolves to the algorithm that is stated. For other formats, the
 * library would parse certificates of the sender, and request the addresses in them.
 */
const requireNoCertificates = async (attestationObject: string): Promise<unknown> => {
  const { decodeAttestationObject } = await loadHelpers()
  const decoded = decodeAttestationObject(Uint8Array.from(Buffer.from(attestationObject, 'base64url')))
  const format = decoded.get('fmt')
  if (format === 'none') return undefined
  const statement = decoded.get('attStmt') as unknown as ReadonlyMap<string, unknown>
  if (format !== 'packed' || statement.has('x5c')) throw new Error(`the attestation ${format} is not accepted`)
  return statement.get('alg') ?? 'none'
}
