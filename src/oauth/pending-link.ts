import { createHash, randomUUIDv7 } from 'node:crypto'
import { leastUuidAt } from '../lib/uuid.ts'
import type { Queries } from '../storage/database.ts'
import { lockUser } from '../accounts/user-store.ts'
import { FLOW_LIFETIME_MS, type LinkRequest, type PendingLink } from './authorization-flow.ts'
import type { OAuthDeps } from './oauth-deps.ts'
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

/** It is a link request, or says why it must not be used. */
export type ReadLinkRequest =
  | { request: LinkRequest; problem?: undefined }
  | { request?: undefined; problem: SignInProblem }

/**
 * Pending links travel with the browser as sealed tokens, and each rests on a row besides. The root secret alone makes
 * no row: an attacker who has stolen it can seal a token, but connects nothing to an account.
 */
export interface PendingLinks {
  /** Inserts the row of a new pending link; it throws `conflict` when the account no longer exists. */
  createPendingLink(profile: ProviderProfile, userId: string, browserSecret: string): Promise<PendingLink>
  /** Tells whether the link has its row, from this browser; it deletes the row in the transaction that acts on it. */
  consume(transaction: Queries, pendingLink: PendingLink, browserSecret: string): Promise<boolean>
  /** Tells whether the link has its row: it was not used, and no later ones have displaced it. */
  isPending(pendingLink: PendingLink, browserSecret: string): Promise<boolean>
  sealLinkRequest(request: LinkRequest, browserSecret: string): string
  /** If a provider is named, a request for another one is `unreadable`. */
  readLinkRequest(token: string | undefined, browserSecret: string | undefined, provider?: string): ReadLinkRequest
  /** Throws `invalid_request` when the profile was fetched too long ago. */
  requireUnexpired(pendingLink: PendingLink): void
  deleteExpired(nowMs: number): Promise<number>
}

export const createPendingLinks = (deps: Pick<OAuthDeps, 'clock' | 'db' | 'rootSecret'>): PendingLinks => {
  const { db, clock, rootSecret } = deps
  const lifetimeMs = FLOW_LIFETIME_MS
  const purpose = 'oauth pending identity'
  const tokens = createSealedTokens<LinkRequest>({ rootSecret, clock, purpose, lifetimeMs })

  const isExpired = ({ profileFetchedAtMs }: PendingLink): boolean => profileFetchedAtMs + lifetimeMs <= clock.now()

  return {
    async createPendingLink(profile, userId, browserSecret) {
      const pendingLink = { id: randomUUIDv7(), profile, userId, profileFetchedAtMs: clock.now() }
      await db.inTransaction(async (transaction) => {
        // The account may have been deleted since it was found.
        if (!(await lockUser(transaction, userId))) throw signInProblem('no_proof')
        const expiresAtMs = clock.now() + lifetimeMs
        await insertPendingLink(transaction, { ...rowOf(pendingLink, browserSecret), expires_at: expiresAtMs })
      })
      return pendingLink
    },

    consume: async (transaction, pendingLink, browserSecret) =>
      (await consumePendingLink(transaction, rowOf(pendingLink, browserSecret), clock.now())) === 1,

    isPending: (pendingLink, browserSecret) => hasPendingLink(db, rowOf(pendingLink, browserSecret), clock.now()),

    sealLinkRequest: (request, browserSecret) => tokens.seal(request, browserSecret),

    readLinkRequest(token, browserSecret, provider) {
      const opened = tokens.open(token, browserSecret)
      if (!opened) return { problem: 'unreadable' }
      const request = opened.content
      const { pendingLink } = request
      if (provider !== undefined && pendingLink.profile.provider !== provider) return { problem: 'unreadable' }
      const problem = opened.problem ?? (isExpired(pendingLink) ? 'expired' : undefined)
      return problem ? { problem } : { request }
    },

    requireUnexpired(pendingLink) {
      if (isExpired(pendingLink)) throw signInProblem('expired')
    },

    deleteExpired: (nowMs) => deletePendingLinksBefore(db, leastUuidAt(nowMs - 2 * lifetimeMs)),
  }
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('base64url')

const rowOf = ({ id, userId, profile }: PendingLink, browserSecret: string): Omit<PendingLinkRow, 'expires_at'> => {
  const { provider, issuer, subject, email, emailVerified } = profile
  const content = JSON.stringify([provider, issuer, subject, email?.lower ?? null, emailVerified])
  return { id, user_id: userId, browser: sha256(browserSecret), content: sha256(content) }
}
