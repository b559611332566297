import type { AttestationObject } from '@simplewebauthn/server/helpers'
import { requireUsableKey, ALGORITHMS } from './public-key.ts'
import type { Passkey } from './passkey.ts'
import type { Assertion, Registration } from './response.ts'

/** Loaded with the first response: it takes a tenth of a second, and 25 MB. */
const loadLibrary = () => import('@simplewebauthn/server')
const loadHelpers = () => import('@simplewebauthn/server/helpers')

/** What a response must have been made for. */
export interface Expected {
  challenge: string
  /** Exactly the base URL's. */
  origin: string
  relyingPartyId: string
}

/** What an authenticator says of a passkey when it signs. */
export interface Use {
  signCount: number
  isBackedUp: boolean
}

/** A passkey that was just made. */
export type NewPasskey = Pick<
  Passkey,
  'credentialId' | 'publicKey' | 'aaguid' | 'signCount' | 'isBackupEligible' | 'isBackedUp'
>

/** Checks a signature and what was signed (WebAuthn section 7.2); throws where it proves nothing. */
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
      // The library would refuse one that does not go up. Authenticators that are restored from a backup count again.
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

/** Checks a new passkey (section 7.1); throws where it cannot be used. */
export const verifyRegistration = async (registration: Registration, expected: Expected): Promise<NewPasskey> => {
  const { id, clientDataJSON, attestationObject } = registration
  await requireNoCertificates(attestationObject)
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
  requireUsableKey(decodeCredentialPublicKey(credential.publicKey) as unknown as ReadonlyMap<number, unknown>)
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
 * svc asks for no attestation. What comes is `none`, or `packed` with a signature of the passkey itself, which browsers
 * leave as it is (section 5.1.3). For the others, the library would parse certificates of the sender, and request the
 * addresses in them.
 */
const requireNoCertificates = async (attestationObject: string): Promise<void> => {
  const { decodeAttestationObject } = await loadHelpers()
  const decoded: AttestationObject = decodeAttestationObject(
    Uint8Array.from(Buffer.from(attestationObject, 'base64url')),
  )
  const format = decoded.get('fmt')
  const isSelfMade = format === 'packed' && !decoded.get('attStmt').get('x5c')
  if (format !== 'none' && !isSelfMade) throw new Error(`the attestation ${format} is not accepted`)
}
