import type { Proof } from '../sign-in/amr.ts'

/** A passkey of a user: a public key, whose private key is with an authenticator (WebAuthn Level 3 section 4). */
export interface Passkey {
  /** UUID */
  id: string
  userId: string
  /** The authenticator has this name for it, in base64url. */
  credentialId: string
  /** A COSE key, in base64url. */
  publicKey: string
  name: string
  /** The kind of authenticator (UUID); zeros where it does not say. */
  aaguid: string
  /** How a browser can reach the authenticator, as the browser told it. */
  transports: string[]
  /** How often the authenticator has signed with it, as far as it counts; 0 where it does not. */
  signCount: number
  /** Whether it can be copied to other devices. This never changes. */
  isBackupEligible: boolean
  /** Whether it is copied at the moment. */
  isBackedUp: boolean
  createdAtMs: number
  lastUsedAtMs: number | undefined
}

/**
 * What a passkey proves, which asks for a finger or a PIN besides. The key of one that may be synced is in software, as
 * far as anybody can tell (RFC 8176 section 2).
 */
export const proofOfPasskey = ({ isBackupEligible }: Pick<Passkey, 'isBackupEligible'>): Proof =>
  isBackupEligible ? 'synced_passkey' : 'bound_passkey'
