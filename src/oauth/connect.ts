import type { AuditEvent } from '../audit/audit-event.ts'
import type { Caller } from '../lib/caller.ts'
import { isUniqueViolation, type Queries, type Transaction } from '../storage/database.ts'
import { signInProblem } from './errors.ts'
import type { ProvidersDeps } from './oauth-deps.ts'
import { findIdentity, type Identity, insertIdentity } from './identity-store.ts'
import { newIdentity, type ProviderProfile } from './providers/profile.ts'
import type { Email } from '../lib/email-address.ts'
import { type ProviderProof, proofOfProvider } from './provider-factor.ts'

export type ConnectDeps = Pick<ProvidersDeps, 'clock' | 'db' | 'labelOf' | 'notify' | 'recordEvent'>

/** A provider is connected to this account, at the request of this user. */
export interface Connection {
  userId: string
  /** It is the session of a user who is signed in; it is undefined if they sign in by this. */
  sessionId?: string
  caller: Caller
}

/** Stores a connection, and tells the user; it throws `UniqueViolation` as `insertIdentity` does. */
const store = async (
  { clock, notify, recordEvent, labelOf }: Omit<ConnectDeps, 'db'>,
  transaction: Transaction,
  profile: ProviderProfile,
  { userId, sessionId, caller }: Connection,
): Promise<void> => {
  const identity = newIdentity(profile, userId, clock.now())
  await insertIdentity(transaction, identity)
  const provider = labelOf(profile.provider)
  await notify(transaction, userId, { kind: 'provider_connected', provider, identityId: identity.id }, caller)
  await recordEvent(transaction, linkedEvent(identity, sessionId), caller)
}

/**
 * Connects a provider to an account, in one transaction with `work`, and tells the user. It is no error when the same
 * user has it already; it is one when another user has it.
 */
export const createConnect =
  (deps: ConnectDeps) =>
  async (profile: ProviderProfile, connection: Connection, work: (transaction: Transaction) => Promise<void>) => {
    const { db } = deps
    try {
      await db.inTransaction(async (transaction) => {
        await work(transaction)
        await store(deps, transaction, profile, connection)
      })
    } catch (error) {
      if (!isUniqueViolation(error, 'identities.subject')) throw error
      if (!(await isLinked(db, profile, connection.userId))) throw signInProblem('linked_elsewhere', error)
    }
  }

export const linkedEvent = ({ userId, provider, id: identityId }: Identity, sessionId?: string): AuditEvent => ({
  type: 'identity.linked',
  userId,
  sessionId,
  details: { provider, identityId },
})

export const isLinked = async (queries: Queries, profile: ProviderProfile, userId: string): Promise<boolean> =>
  (await findIdentity(queries, profile))?.userId === userId

/** The owner of this account at a provider has just signed in there. */
export interface OfferedProvider {
  proof: ProviderProof
  /** Both are the provider's name in the settings. */
  method: string
  provider: string
  verifiedEmail: Email | undefined
  /** The person has this name there. */
  fullName: string | undefined
  /** Connects it to a user whose row the transaction has locked; it throws `conflict` if another user has it. */
  connect: (transaction: Transaction, userId: string) => Promise<void>
}

/** Offers a provider account for a transaction of another subject, which may connect it. */
export const createOffer = (deps: Omit<ConnectDeps, 'db'> & Pick<ProvidersDeps, 'factorOf'>) => {
  const connect = async (transaction: Transaction, profile: ProviderProfile, connection: Connection): Promise<void> => {
    // The connection is looked for first: a transaction that has failed cannot say whose it is.
    const connected = await findIdentity(transaction, profile)
    if (connected && connected.userId !== connection.userId) throw signInProblem('linked_elsewhere')
    if (!connected) await store(deps, transaction, profile, connection)
  }

  return async <T>(
    profile: ProviderProfile,
    caller: Caller,
    use: (offered: OfferedProvider) => Promise<T>,
  ): Promise<T> => {
    try {
      const { provider } = profile
      return await use({
        proof: proofOfProvider(deps.factorOf(profile)),
        method: provider,
        provider,
        verifiedEmail: profile.emailVerified ? profile.email : undefined,
        fullName: profile.fullName,
        connect: (transaction, userId) => connect(transaction, profile, { userId, caller }),
      })
    } catch (error) {
      // Another request has connected it at the same moment.
      throw isUniqueViolation(error, 'identities.subject') ? signInProblem('linked_elsewhere', error) : error
    }
  }
}
