import { createHash, randomUUIDv7 } from 'node:crypto'
import type { Clock } from '../lib/time.ts'
import type { Database, Queries } from '../storage/database.ts'
import { lockUser } from '../users/user-store.ts'
import { signInProblem } from './errors.ts'
import { insertPendingLink, type PendingLinkRow, usePendingLink } from './pending-link-store.ts'
import type { ProviderProfile } from './profile.ts'
import type { PendingLink } from './state.ts'

interface PendingLinksDeps {
  db: Database
  clock: Clock
  /** How long the provider's word holds. */
  lifetimeMs: number
}

type Waiting = Omit<PendingLink, 'target'>

/**
 * What waits for the proof of an account rests on a row, and not on the seal of what travels with the browser alone: the
 * root secret makes no row, so that an attacker who has it connects nothing to an account.
 */
export const createPendingLinks = ({ db, clock, lifetimeMs }: PendingLinksDeps) => ({
  /** Writes down what is about to be proved; `conflict` when the account is gone. */
  async remember(vouched: ProviderProfile, userId: string, target: string, binding: string): Promise<PendingLink> {
    const pending = { id: randomUUIDv7(), vouched, userId, target, vouchedAtMs: clock.now() }
    await db.inTransaction(async (transaction) => {
      // The account may have been deleted since it was found.
      if (!(await lockUser(transaction, userId))) throw signInProblem('no_proof')
      await insertPendingLink(transaction, { ...rowOf(pending, binding), expiresAtMs: clock.now() + lifetimeMs })
    })
    return pending
  },

  /** Within the transaction that acts on it: whether it was written down, in this browser, and was not used before. */
  use: async (transaction: Queries, pending: Waiting, binding: string): Promise<boolean> =>
    // One of the version before has no id.
    pending.id !== undefined && (await usePendingLink(transaction, rowOf(pending, binding), clock.now())) === 1,
})

export type PendingLinks = ReturnType<typeof createPendingLinks>

const sha256 = (text: string): string => createHash('sha256').update(text).digest('base64url')

const rowOf = ({ id = '', userId, vouched }: Waiting, binding: string): Omit<PendingLinkRow, 'expiresAtMs'> => {
  const { provider, issuer, subject, email, emailVerified } = vouched
  const content = JSON.stringify([provider, issuer, subject, email?.lower ?? null, emailVerified])
  return { id, userId, browser: sha256(binding), content: sha256(content) }
}
