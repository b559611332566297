import type { DerivedKeys, RootSecret } from '../lib/derived-keys.ts'
import { open, seal } from '../lib/secrets.ts'
import type { Database, Queries } from '../storage/database.ts'
import { findSetUpsAfter, replaceSealedSecret, type SealedSecret } from './one-time-code-store.ts'

const PURPOSE = 'one-time codes'

/**
 * The seal names user and purpose, so that no row of another user opens, and nothing that was sealed for another
 * purpose.
 */
const contextOf = (userId: string): string => `${PURPOSE} of ${userId}`

const openWith = (keys: DerivedKeys, sealed: string, userId: string): Buffer | undefined =>
  open(keys.for(PURPOSE), sealed, contextOf(userId))

/** Encrypts the secrets of authenticator apps with a key from the root secret. */
export interface SecretSealing {
  seal(secret: Uint8Array, userId: string): string
  /** It returns undefined if the root secret that sealed it is gone. */
  open(sealed: string, userId: string): Buffer | undefined
  /**
   * Seals the same secret with the current root secret. It returns undefined if that is done already, or if no root
   * secret opens it.
   */
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

/** The batch is small, so that a transaction is short and other requests have their turn. */
const BATCH = 200

/** Seals the secrets of apps with the current root secret, so that the previous one can go. */
export const createSecretResealing = ({ db, rootSecret }: { db: Database; rootSecret: RootSecret }) => {
  const sealing = createSecretSealing(rootSecret)

  /** Calls `visit` with each batch of those that the current root secret does not open and the previous one does. */
  const eachBatch = async (
    queries: Queries,
    sinceMs: number,
    visit: (outdated: SealedSecret[]) => Promise<unknown>,
  ): Promise<number> => {
    let total = 0
    for (let after = '', isLast = false; !isLast; ) {
      const found = await findSetUpsAfter(queries, { after, limit: BATCH, sinceMs })
      const outdated = found.flatMap(({ userId, sealed }) => {
        const again = sealing.reseal(sealed, userId)
        return again === undefined ? [] : [{ userId, sealed, again }]
      })
      if (outdated.length > 0) await visit(outdated)
      total += outdated.length
      after = found.at(-1)?.userId ?? ''
      isLast = found.length < BATCH
    }
    return total
  }

  return {
    /** It resolves to how many were sealed with the previous root secret. Other requests have their turn in between. */
    reseal: (): Promise<number> =>
      eachBatch(db, 0, (outdated) =>
        db.inTransaction(async (transaction) => {
          for (const secret of outdated) await replaceSealedSecret(transaction, secret)
        }),
      ),

    /** Counts those that are sealed with the previous root secret and were made at `sinceMs` or later. */
    count: (queries: Queries, sinceMs = 0): Promise<number> => eachBatch(queries, sinceMs, async () => {}),
  }
}
