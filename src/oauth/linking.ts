import type { Clock } from '../lib/time.ts'
import type { SessionRules, SignInGrant } from '../sessions/sign-in-grant.ts'
import { type Database, isUniqueViolation, type Queries, type Transaction } from '../storage/database.ts'
import type { AnnounceUpdate } from '../users/announcement.ts'
import type { ApplySecurityEvent } from '../users/security-events.ts'
import type { TakeOver } from '../users/take-over.ts'
import { markEmailVerified } from '../users/email-proof-store.ts'
import { findUserById, lockUserToChange } from '../users/user-store.ts'
import type { PendingLink } from './authorization-flow.ts'
import { signInProblem } from './errors.ts'
import { findIdentity, insertIdentity } from './identity-store.ts'
import { newIdentity, type ProviderProfile, requireVerifiedEmail } from './profile.ts'

interface LinkingDeps extends Pick<SessionRules, 'requireSession' | 'userChanged'> {
  db: Database
  clock: Clock
  applySecurityEvent: ApplySecurityEvent
  announceUpdate: AnnounceUpdate
  takeOver: TakeOver
  /** A grant for the user; `forbidden` when the profile belongs to another one. */
  signInAs: (profile: ProviderProfile, userId: string) => Promise<SignInGrant>
  /** `invalid_request` when the profile was fetched too long ago. */
  requireUnexpired: (pendingLink: PendingLink) => void
  /** Deletes the row of a pending link; whether there was one. */
  consume: (transaction: Transaction, pendingLink: PendingLink, browserSecret: string) => Promise<boolean>
}

/** The session of the user who connects or disconnects a provider. It must not have ended when the action commits. */
export interface OwnSession {
  userId: string
  sessionId: string
}

/** Connects providers to accounts. Refusals are `AppError`s with a `SignInProblem` as their reason. */
export const createLinking = (deps: LinkingDeps) => {
  const { db, clock, signInAs, requireUnexpired, consume, requireSession, applySecurityEvent } = deps

  /** A user who has proved both the account and its email owns the email. */
  const markVerifiedIfSame = async (
    transaction: Transaction,
    { email, emailVerified }: ProviderProfile,
    userId: string,
  ) => {
    const user = await findUserById(transaction, userId)
    if (!emailVerified || email?.lower !== user?.emailLower) return
    if ((await markEmailVerified(transaction, userId, clock.now())) === 0) return
    // A session that stays is cached with its user.
    await deps.userChanged(transaction, userId)
    await deps.announceUpdate(transaction, userId, ['email_verified'])
  }

  /** Commits a connection with `work`. It is no error when the same user has it already; for another user it is. */
  const commitLink = async (
    profile: ProviderProfile,
    userId: string,
    work: (transaction: Transaction) => Promise<void>,
  ) => {
    try {
      await db.inTransaction(async (transaction) => {
        await work(transaction)
        await insertIdentity(transaction, newIdentity(profile, userId, clock.now()))
      })
    } catch (error) {
      if (!isUniqueViolation(error, 'identities.subject')) throw error
      if (!(await isLinked(db, profile, userId))) throw signInProblem('linked_elsewhere', error)
    }
  }

  const linkIf = (
    profile: ProviderProfile,
    { userId, sessionId }: { userId: string; sessionId?: string },
    check: (transaction: Transaction) => Promise<unknown>,
  ) =>
    commitLink(profile, userId, async (transaction) => {
      await check(transaction)
      await markVerifiedIfSame(transaction, profile, userId)
      // Not for a form that is sent twice: it would end the session that the first one has started.
      if (await isLinked(transaction, profile, userId)) return
      await applySecurityEvent(transaction, 'sign_in_method_changed', { userId, sessionId })
    })

  /** A form that is sent twice succeeds twice: its row is gone, but the connection is there. */
  const requirePending = async (
    transaction: Transaction,
    pendingLink: PendingLink,
    browserSecret: string,
  ): Promise<void> => {
    if (await consume(transaction, pendingLink, browserSecret)) return
    if (!(await isLinked(transaction, pendingLink.profile, pendingLink.userId))) throw signInProblem('unreadable')
  }

  const linkPending = async (
    pendingLink: PendingLink,
    browserSecret: string,
    { userId, authenticatedAtMs, isStillValid }: SignInGrant,
  ): Promise<SignInGrant | undefined> => {
    const { profile } = pendingLink
    try {
      await linkIf(profile, { userId }, async (transaction) => {
        await lockUserToChange(transaction, userId)
        if (!(await isStillValid(transaction))) throw new GrantNoLongerValid()
        await requirePending(transaction, pendingLink, browserSecret)
      })
      return { ...(await signInAs(profile, userId)), authenticatedAtMs }
    } catch (error) {
      if (error instanceof GrantNoLongerValid) return undefined
      throw error
    }
  }

  return {
    link: (profile: ProviderProfile, { userId, sessionId }: OwnSession): Promise<void> =>
      linkIf(profile, { userId, sessionId }, (transaction) => requireSession(transaction, sessionId, userId)),

    linkPending,

    async linkPendingBy(
      profile: ProviderProfile,
      pendingLink: PendingLink,
      browserSecret: string,
    ): Promise<SignInGrant | undefined> {
      requireUnexpired(pendingLink)
      return linkPending(pendingLink, browserSecret, await signInAs(profile, pendingLink.userId))
    },

    async reclaim(pendingLink: PendingLink, browserSecret: string): Promise<SignInGrant> {
      const { profile, userId } = pendingLink
      const { lower: emailLower } = requireVerifiedEmail(profile)
      await commitLink(profile, userId, async (transaction) => {
        if (!(await deps.takeOver(transaction, { userId, emailLower })))
          throw signInProblem((await isLinked(transaction, profile, userId)) ? 'used' : 'no_proof')
        await requirePending(transaction, pendingLink, browserSecret)
      })
      return signInAs(profile, userId)
    },
  }
}

const isLinked = async (queries: Queries, profile: ProviderProfile, userId: string): Promise<boolean> =>
  (await findIdentity(queries, profile))?.userId === userId

class GrantNoLongerValid extends Error {}
