import { createPrivateKey, type JsonWebKey, type KeyObject } from 'node:crypto'
import type { DerivedKeys, RootSecret } from '../../lib/derived-keys.ts'
import { AppError } from '../../lib/errors.ts'
import { open, seal } from '../../lib/secrets.ts'
import type { Queries } from '../../storage/database.ts'
import { findKeys, type KeyRecord, recordResealing, replaceSealed } from './key-store.ts'

/** The key that seals private keys has this purpose. */
const SEALING = 'signing keys'

/** Encrypts the private halves of signing keys, for the database, with a key from the root secret. */
export const createKeySealing = (rootSecret: RootSecret) => {
  const sealText = (text: string, id: string): string => seal(rootSecret.keys.for(SEALING), text, id)

  /**
   * Seals a key with the current root secret; it resolves to false if that is done already, or no known root secret
   * opens it.
   */
  const resealOne = async (transaction: Queries, key: KeyRecord): Promise<boolean> => {
    if (openWith(rootSecret.keys, key)) return false
    const text = rootSecret.find((keys) => openWith(keys, key))
    if (!text) return false
    await replaceSealed(transaction, key.id, sealText(text, key.id))
    return true
  }

  return {
    seal: (privateJwk: JsonWebKey, id: string): string => sealText(JSON.stringify(privateJwk), id),

    /** Throws `internal_error` when no known root secret opens it. */
    open(key: KeyRecord): KeyObject {
      const text = rootSecret.find((keys) => openWith(keys, key))
      if (text) return createPrivateKey({ key: JSON.parse(text) as JsonWebKey, format: 'jwk' })
      throw wrongSecret()
    },

    /**
     * Seals with the current root secret the keys that are sealed with the previous one; `lockKeys` comes before. It
     * resolves to how many.
     */
    async reseal(transaction: Queries, nowMs: number): Promise<number> {
      rootSecret.refresh()
      let resealed = 0
      for (const key of await findKeys(transaction)) if (await resealOne(transaction, key)) resealed += 1
      if (resealed > 0) await recordResealing(transaction, nowMs)
      return resealed
    },
  }
}

const openWith = (keys: DerivedKeys, key: KeyRecord): string | undefined =>
  open(keys.for(SEALING), key.privateJwkSealed, key.id)?.toString()

const wrongSecret = (): AppError =>
  new AppError(
    'internal_error',
    'SVC_SECRET is not the secret that this database was made with. Put the old one back, or set SVC_SECRET_PREVIOUS to ' +
      'it: nobody is logged out by that.',
  )
