import type { Caller } from '../lib/caller.ts'
import type { OwnSession, SignInGrant } from '../sessions/sign-in-grant.ts'
import type { Transaction } from '../storage/database.ts'
import type { Ownership } from '../accounts/ownership.ts'
import { lockUserToChange, findUserById } from '../accounts/user-store.ts'
import type { PendingLink } from './authorization-flow.ts'
import { signInProblem } from './errors.ts'
import type { ProvidersDeps } from './oauth-deps.ts'
import type { PendingLinks } from './pending-link.ts'
import { type ConnectDeps, type Connection, createConnect, isLinked } from './connect.ts'
import { type ProviderProfile, requireVerifiedEmail } from './providers/profile.ts'

/**
 * Marks the email of an account as verified if a provider has verified the same one. The transaction has locked the row
 * of the user, who has proved the account in another way: by a session, or by the connection of the provider.
 */
export const createVerifyIfSame =
  (markVerified: Ownership['markVerified']) =>
  async (
    transaction: Transaction,
    { email, emailVerified }: ProviderProfile,
    userId: string,
    caller: Caller,
  ): Promise<void> => {
    const user = await findUserById(transaction, userId)
    if (emailVerified && email?.lower === user?.emailLower) await markVerified(transaction, userId, caller)
  }

export interface LinkingDeps
  extends ConnectDeps,
    Pick<ProvidersDeps, 'applySecurityEvent' | 'markVerified' | 'reclaim' | 'requireSession'>,
    Pick<PendingLinks, 'consume' | 'requireUnexpired'> {
  /** Gives a grant for the user; it throws `forbidden` when the profile belongs to another one. */
  signInAs: (profile: ProviderProfile, userId: string) => Promise<SignInGrant>
}

export interface AccountProof {
  grant: SignInGrant
  /** It does more work in the transaction that connects. */
  also?: ((transaction: Transaction) => Promise<unknown>) | undefined
  caller: Caller
}

/** Connects providers to accounts. Refusals are `AppError`s with a `SignInProblem` as their reason. */
export const createLinking = (deps: LinkingDeps) => {
  const { signInAs, requireUnexpired, consume, requireSession, applySecurityEvent } = deps
  const connect = createConnect(deps)
  const verifyIfSame = createVerifyIfSame(deps.markVerified)

  const linkIf = (
    profile: ProviderProfile,
    connection: Connection,
    check: (transaction: Transaction) => Promise<unknown>,
  ) =>
    connect(profile, connection, async (transaction) => {
      const { userId, sessionId, caller } = connection
      await check(transaction)
      await verifyIfSame(transaction, profile, userId, caller)
      // A form that is sent twice must not do this: it would end the session that the first one has started.
      if (await isLinked(transaction, profile, userId)) return
      await applySecurityEvent(transaction, 'sign_in_method_changed', { userId, sessionId, caller })
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
    { grant, also, caller }: AccountProof,
  ): Promise<SignInGrant | undefined> => {
    const { profile } = pendingLink
    const { userId, isStillValid, authenticatedAtMs, amr } = grant
    requireUnexpired(pendingLink)
    try {
      await linkIf(profile, { userId, caller }, async (transaction) => {
        await lockUserToChange(transaction, userId)
        if (!(await isStillValid(transaction))) throw new GrantNoLongerValid()
        await also?.(transaction)
        await requirePending(transaction, pendingLink, browserSecret)
      })
      return { ...(await signInAs(profile, userId)), authenticatedAtMs, amr, provider: grant.provider }
    } catch (error) {
      if (error instanceof GrantNoLongerValid) return undefined
      throw error
    }
  }

  return {
    link: (profile: ProviderProfile, { userId, sessionId }: OwnSession, caller: Caller): Promise<void> =>
      linkIf(profile, { userId, sessionId, caller }, (transaction) => requireSession(transaction, sessionId, userId)),

    linkPending,

    async reclaim(pendingLink: PendingLink, browserSecret: string, caller: Caller): Promise<SignInGrant> {
      const { profile, userId } = pendingLink
      const { lower: emailLower } = requireVerifiedEmail(profile)
      await connect(profile, { userId, caller }, async (transaction) => {
        const cause = { by: 'reclaim', method: profile.provider } as const
        if (!(await deps.reclaim(transaction, { userId, emailLower, caller }, cause)))
          throw signInProblem((await isLinked(transaction, profile, userId)) ? 'used' : 'no_proof')
        await requirePending(transaction, pendingLink, browserSecret)
      })
      return signInAs(profile, userId)
    },
  }
}

class GrantNoLongerValid extends Error {}
