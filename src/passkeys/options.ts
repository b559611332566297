import { CHALLENGE_LIFETIME_MS } from './challenge.ts'
import type { Passkey } from './passkey.ts'
import { ALGORITHMS } from './public-key.ts'

/** `PublicKeyCredentialRequestOptionsJSON` (WebAuthn section 5.5). */
export interface RequestOptions {
  challenge: string
  rpId: string
  timeout: number
  userVerification: 'required'
  /** The list is empty: the user may take any passkey that the browser finds for this site. */
  allowCredentials: Descriptor[]
}

/** `PublicKeyCredentialCreationOptionsJSON` (section 5.4). */
export interface CreationOptions {
  challenge: string
  rp: { id: string; name: string }
  user: { id: string; name: string; displayName: string }
  pubKeyCredParams: { type: 'public-key'; alg: number }[]
  timeout: number
  authenticatorSelection: { residentKey: 'required'; requireResidentKey: true; userVerification: 'required' }
  attestation: 'none'
  excludeCredentials: Descriptor[]
}

interface Descriptor {
  type: 'public-key'
  id: string
  transports: string[]
}

const toDescriptor = ({ credentialId, transports }: Passkey): Descriptor => ({
  type: 'public-key',
  id: credentialId,
  transports,
})

export const requestOptions = (challenge: string, rpId: string): RequestOptions => ({
  challenge,
  rpId,
  timeout: CHALLENGE_LIFETIME_MS,
  userVerification: 'required',
  allowCredentials: [],
})

interface CreationFacts {
  challenge: string
  rp: CreationOptions['rp']
  user: CreationOptions['user']
  /** An authenticator that holds one of them makes no second one. */
  existing: Passkey[]
}

export const creationOptions = ({ challenge, rp, user, existing }: CreationFacts): CreationOptions => ({
  challenge,
  rp,
  user,
  pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
  timeout: CHALLENGE_LIFETIME_MS,
  // A passkey is discoverable: a user signs in without saying who they are.
  authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
  attestation: 'none',
  excludeCredentials: existing.map(toDescriptor),
})
