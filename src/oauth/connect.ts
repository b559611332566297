import type { AuditEvent, RecordEvent } from '../audit/audit-event.ts'
import type { Caller } from '../lib/caller.ts'
import type { Clock } from '../lib/time.ts'
import { type Database, isUniqueViolation, type Queries, type Transaction } from '../storage/database.ts'
import type { Notify } from '../accounts/account-notice.ts'
import { signInProblem } from './errors.ts'
import { findIdentity, type Identity, insertIdentity } from './identity-store.ts'
import { newIdentity, type ProviderProfile } from './profile.ts'

export interface ConnectDeps {
  db: Database
  clock: Clock
  notify: Notify
  recordEvent: RecordEvent
  /** What people call a provider. */
  labelOf: (provider: string) => string
}

/** The account that a provider is connected to, and who asks for it. */
export interface Connection {
  userId: string
  /** Of the user who is signed in; undefined where they sign in by this. */
  sessionId?: string
  caller: Caller
}

/**
 * Connects a provider to an account, in one transaction with `work`, and tells the user. It is no error when the same
 * user has it already; for another user it is.
 */
export const createConnect =
  ({ db, clock, notify, recordEvent, labelOf }: ConnectDeps) =>
  async (
    profile: ProviderProfile,
    { userId, sessionId, caller }: Connection,
    work: (transaction: Transaction) => Promise<void>,
  ) => {
    const identity = newIdentity(profile, userId, clock.now())
    try {
      await db.inTransaction(async (transaction) => {
        await work(transaction)
        await insertIdentity(transaction, identity)
        const provider = labelOf(profile.provider)
        await notify(transaction, userId, { kind: 'provider_connected', provider, identityId: identity.id }, caller)
        await recordEvent(transaction, linkedEvent(identity, sessionId), caller)
      })
    } catch (error) {
      if (!isUniqueViolation(error, 'identities.subject')) throw error
      if (!(await isLinked(db, profile, userId))) throw signInProblem('linked_elsewhere', error)
    }
  }

/** The record of a connection. */
export const linkedEvent = ({ userId, provider, id: identityId }: Identity, sessionId?: string): AuditEvent => ({
  type: 'identity.linked',
  userId,
  sessionId,
  details: { provider, identityId },
})

export const isLinked = async (queries: Queries, profile: ProviderProfile, userId: string): Promise<boolean> =>
  (await findIdentity(queries, profile))?.userId === userId
