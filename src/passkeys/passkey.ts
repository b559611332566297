import type { Proof } from '../sign-in/amr.ts'

/** A passkey is a public key, whose private key is with an authenticator (WebAuthn Level 3 section 4). */
export interface Passkey {
  id: string
  userId: string
  /** The authenticator has this name for it, in base64url. */
  credentialId: string
  /** It is a COSE key, in base64url. */
  publicKey: string
  name: string
  /** It names the kind of authenticator (UUID); it is all zeros if the authenticator does not say. */
  aaguid: string
  /** The browser has told these ways to reach the authenticator. */
  transports: string[]
  /** The authenticator has signed with it this often, as far as it counts; this is 0 if it does not count. */
  signCount: number
  /** It tells whether the passkey can be copied to other devices. This never changes. */
  isBackupEligible: boolean
  isBackedUp: boolean
  createdAtMs: number
  lastUsedAtMs: number | undefined
}

/**
 * A passkey also asks for a finger or a PIN. The key of one that may be synced is in software, as far as anybody can
 * tell (RFC 8176 section 2).
 */
export const proofOfPasskey = ({ isBackupEligible }: Pick<Passkey, 'isBackupEligible'>): Proof =>
  isBackupEligible ? 'synced_passkey' : 'bound_passkey'
