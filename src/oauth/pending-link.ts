import { createHash, randomUUIDv7 } from 'node:crypto'
import type { RootSecret } from '../lib/derived-keys.ts'
import type { Clock } from '../lib/time.ts'
import { leastUuidAt } from '../lib/uuid.ts'
import type { Database, Queries } from '../storage/database.ts'
import { lockUser } from '../accounts/user-store.ts'
import type { LinkRequest, PendingLink } from './authorization-flow.ts'
import { type SignInProblem, signInProblem } from './errors.ts'
import {
  consumePendingLink,
  deletePendingLinksBefore,
  hasPendingLink,
  insertPendingLink,
  type PendingLinkRow,
} from './pending-link-store.ts'
import type { ProviderProfile } from './providers/profile.ts'
import { createSealedTokens } from '../lib/sealed-token.ts'

interface PendingLinksDeps {
  db: Database
  clock: Clock
  rootSecret: RootSecret
  /** A provider's profile counts for this long. */
  lifetimeMs: number
}

/** It is a link request, or says why it must not be used. */
export type ReadLinkRequest =
  | { request: LinkRequest; problem?: undefined }
  | { request?: undefined; problem: SignInProblem }

/**
 * Pending links travel with the browser as sealed tokens, and each rests on a row besides. The root secret alone makes
 * no row: an attacker who has stolen it can seal a token, but connects nothing to an account.
 */
export const createPendingLinks = ({ db, clock, rootSecret, lifetimeMs }: PendingLinksDeps) => {
  const purpose = 'oauth pending identity'
  const tokens = createSealedTokens<LinkRequest>({ rootSecret, clock, purpose, lifetimeMs })

  const isExpired = ({ profileFetchedAtMs }: PendingLink): boolean => profileFetchedAtMs + lifetimeMs <= clock.now()

  return {
    /** Inserts the row of a new pending link; it throws `conflict` when the account no longer exists. */
    async createPendingLink(profile: ProviderProfile, userId: string, browserSecret: string): Promise<PendingLink> {
      const pendingLink = { id: randomUUIDv7(), profile, userId, profileFetchedAtMs: clock.now() }
      await db.inTransaction(async (transaction) => {
        // The account may have been deleted since it was found.
        if (!(await lockUser(transaction, userId))) throw signInProblem('no_proof')
        const row = { ...rowOf(pendingLink, browserSecret), expiresAtMs: clock.now() + lifetimeMs }
        await insertPendingLink(transaction, row)
      })
      return pendingLink
    },

    /** Tells whether the link has its row, from this browser; it deletes the row in the transaction that acts on it. */
    consume: async (transaction: Queries, pendingLink: PendingLink, browserSecret: string): Promise<boolean> =>
      (await consumePendingLink(transaction, rowOf(pendingLink, browserSecret), clock.now())) === 1,

    /** Tells whether the link has its row: it was not used, and no later ones have displaced it. */
    isPending: async (pendingLink: PendingLink, browserSecret: string): Promise<boolean> =>
      hasPendingLink(db, rowOf(pendingLink, browserSecret), clock.now()),

    sealLinkRequest: (request: LinkRequest, browserSecret: string): string => tokens.seal(request, browserSecret),

    readLinkRequest(token: string | undefined, browserSecret: string | undefined, provider?: string): ReadLinkRequest {
      const opened = tokens.open(token, browserSecret)
      if (!opened) return { problem: 'unreadable' }
      const request = opened.content
      const { pendingLink } = request
      if (provider !== undefined && pendingLink.profile.provider !== provider) return { problem: 'unreadable' }
      const problem = opened.problem ?? (isExpired(pendingLink) ? 'expired' : undefined)
      return problem ? { problem } : { request }
    },

    /** Throws `invalid_request` when the profile was fetched too long ago. */
    requireUnexpired(pendingLink: PendingLink): void {
      if (isExpired(pendingLink)) throw signInProblem('expired')
    },

    /** It resolves to how many rows were deleted. */
    deleteExpired: (nowMs: number): Promise<number> =>
      deletePendingLinksBefore(db, leastUuidAt(nowMs - 2 * lifetimeMs)),
  }
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('base64url')

const rowOf = ({ id, userId, profile }: PendingLink, browserSecret: string): Omit<PendingLinkRow, 'expiresAtMs'> => {
  const { provider, issuer, subject, email, emailVerified } = profile
  const content = JSON.stringify([provider, issuer, subject, email?.lower ?? null, emailVerified])
  return { id, userId, browser: sha256(browserSecret), content: sha256(content) }
}
