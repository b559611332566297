import { AppError } from '../lib/errors.ts'
import type { Clock } from '../lib/time.ts'
import type { SessionRules, SignInGrant } from '../sessions/sign-in-grant.ts'
import { type Database, isUniqueViolation, type Queries, type Transaction } from '../storage/database.ts'
import { findUserById, lockUserToChange, markEmailVerified, reclaimUser } from '../users/user-store.ts'
import { signInProblem } from './errors.ts'
import {
  deleteIdentitiesOfUser,
  deleteIdentity,
  findIdentitiesOfUser,
  findIdentity,
  type Identity,
  insertIdentity,
} from './identity-store.ts'
import type { PendingLinks } from './pending-link.ts'
import { type ProviderProfile, requireVerifiedEmail, toIdentity } from './profile.ts'
import type { SignIn } from './sign-in.ts'
import type { PendingLink } from './state.ts'

interface LinkingDeps extends Pick<SessionRules, 'endSessions' | 'requireSession' | 'requireFreshSession'> {
  db: Database
  clock: Clock
  admission: Pick<SignIn, 'signInAs'>
  pendingLinks: Pick<PendingLinks, 'use'>
  /** Names of the providers that can be used now. */
  providerNames: readonly string[]
}

/** Somebody's session, which the action stands and falls with. */
interface OwnSession {
  userId: string
  sessionId: string
}

type Waiting = Omit<PendingLink, 'target'>

/** Which providers stand for an account. Refusals are `AppError`s with a `SignInProblem` as their reason. */
export const createLinking = (deps: LinkingDeps) => {
  const { db, clock, admission, pendingLinks, providerNames, requireSession, requireFreshSession, endSessions } = deps

  /** Who has proved both the account and its email has proved that the email is his. */
  const noteProvenEmail = async (
    transaction: Transaction,
    { email, emailVerified }: ProviderProfile,
    userId: string,
  ) => {
    const user = await findUserById(transaction, userId)
    if (!emailVerified || email?.lower !== user?.emailLower) return
    await markEmailVerified(transaction, userId, clock.now())
  }

  /** Commits a link with what belongs to it. One that is there already is as good; to somebody else it is refused. */
  const commitLink = async (
    vouched: ProviderProfile,
    userId: string,
    work: (transaction: Transaction) => Promise<void>,
  ) => {
    try {
      await db.inTransaction(async (transaction) => {
        await work(transaction)
        await insertIdentity(transaction, toIdentity(vouched, userId, clock.now()))
      })
    } catch (error) {
      if (!isUniqueViolation(error, 'identities.subject')) throw error
      if (!(await isLinked(db, vouched, userId))) throw signInProblem('linked_elsewhere', error)
    }
  }

  const link = (vouched: ProviderProfile, userId: string, mayLink: (transaction: Transaction) => Promise<unknown>) =>
    commitLink(vouched, userId, async (transaction) => {
      await mayLink(transaction)
      await noteProvenEmail(transaction, vouched, userId)
    })

  /** Once, but for a link that is there already: whoever sends the form again is where they wanted to be. */
  const requirePending = async (transaction: Transaction, pending: Waiting, binding: string): Promise<void> => {
    if (await pendingLinks.use(transaction, pending, binding)) return
    if (!(await isLinked(transaction, pending.vouched, pending.userId))) throw signInProblem('unreadable')
  }

  return {
    /** For who is signed in and has it linked to his account. */
    linkOwn: (vouched: ProviderProfile, { userId, sessionId }: OwnSession): Promise<void> =>
      link(vouched, userId, (transaction) => requireSession(transaction, sessionId, userId)),

    /** For who has proved that the account is his; undefined when the grant is no longer valid. */
    async linkProven(
      pending: Waiting,
      binding: string,
      { userId, authenticatedAtMs, isStillValid }: SignInGrant,
    ): Promise<SignInGrant | undefined> {
      const { vouched } = pending
      try {
        await link(vouched, userId, async (transaction) => {
          await lockUserToChange(transaction, userId)
          if (!(await isStillValid(transaction))) throw new ProofGone()
          await requirePending(transaction, pending, binding)
        })
        return { ...(await admission.signInAs(vouched, userId)), authenticatedAtMs }
      } catch (error) {
        if (error instanceof ProofGone) return undefined
        throw error
      }
    },

    /**
     * Gives an account to the owner of its email, when nobody has ever proved that the address is his: what whoever
     * made it could still come in by (password, sessions, other providers) falls, and so do the roles: whoever gave them
     * may have meant somebody else.
     */
    async reclaim(pending: Waiting, binding: string): Promise<SignInGrant> {
      const { vouched, userId } = pending
      const { lower: emailLower } = requireVerifiedEmail(vouched)
      await commitLink(vouched, userId, async (transaction) => {
        const isClaimed = await reclaimUser(transaction, { id: userId, emailLower, nowMs: clock.now() })
        if (isClaimed === 0) throw signInProblem((await isLinked(transaction, vouched, userId)) ? 'used' : 'no_proof')
        await requirePending(transaction, pending, binding)
        await deleteIdentitiesOfUser(transaction, userId)
        await endSessions(transaction, userId)
      })
      return admission.signInAs(vouched, userId)
    },

    /** `conflict` for the last way to sign in; every other session ends. Resolves to the provider's name. */
    unlink: (id: string, { userId, sessionId }: OwnSession): Promise<string> =>
      db.inTransaction(async (transaction) => {
        await requireFreshSession(transaction, sessionId, userId)
        const user = await findUserById(transaction, userId)
        const linked = await findIdentitiesOfUser(transaction, userId)
        const identity = linked.find((each) => each.id === id)
        if (!identity) throw gone()
        if (!isRemovable(id, linked, user?.passwordHash !== null, providerNames)) throw signInProblem('last_way')
        await deleteIdentity(transaction, id, userId)
        await endSessions(transaction, userId, sessionId)
        return identity.provider
      }),

    /** Of a user, with whether each can be done without. */
    async list(userId: string, hasPassword: boolean): Promise<(Identity & { removable: boolean })[]> {
      const linked = await findIdentitiesOfUser(db, userId)
      return linked.map((identity) => ({
        ...identity,
        removable: isRemovable(identity.id, linked, hasPassword, providerNames),
      }))
    },
  }
}

const isLinked = async (queries: Queries, vouched: ProviderProfile, userId: string): Promise<boolean> =>
  (await findIdentity(queries, vouched))?.userId === userId

/** Whether there is another way in. A provider that is not configured any more is none. */
const isRemovable = (id: string, linked: Identity[], hasPassword: boolean, providerNames: readonly string[]) =>
  hasPassword || linked.some((other) => other.id !== id && providerNames.includes(other.provider))

const gone = (): AppError =>
  new AppError('not_found', 'This is not connected to your account any more.', { field: 'identity_id' })

class ProofGone extends Error {}
