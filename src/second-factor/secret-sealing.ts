import type { DerivedKeys, RootSecret } from '../lib/derived-keys.ts'
import { open, seal } from '../lib/secrets.ts'

const PURPOSE = 'one-time codes'

/** The seal names user and purpose, so that no row of another user, and nothing sealed for something else, opens. */
const contextOf = (userId: string): string => `${PURPOSE} of ${userId}`

const openWith = (keys: DerivedKeys, sealed: string, userId: string): Buffer | undefined =>
  open(keys.for(PURPOSE), sealed, contextOf(userId))

/** Encrypts the secrets of authenticator apps with a key from the root secret. */
export interface SecretSealing {
  seal(secret: Uint8Array, userId: string): string
  /** Undefined where the root secret that sealed it is gone. */
  open(sealed: string, userId: string): Buffer | undefined
  /** The same secret, sealed with the current root secret; undefined where it is, or where none opens it. */
  reseal(sealed: string, userId: string): string | undefined
}

export const createSecretSealing = (rootSecret: RootSecret): SecretSealing => {
  const sealing: SecretSealing = {
    seal: (secret, userId) => seal(rootSecret.keys.for(PURPOSE), secret, contextOf(userId)),

    open: (sealed, userId) => rootSecret.find((keys) => openWith(keys, sealed, userId)),

    reseal(sealed, userId) {
      if (openWith(rootSecret.keys, sealed, userId)) return undefined
      const secret = sealing.open(sealed, userId)
      return secret && sealing.seal(secret, userId)
    },
  }
  return sealing
}
