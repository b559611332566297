import type { AuditEvent } from '../audit/audit-event.ts'
import type { Caller } from '../lib/caller.ts'
import { AppError } from '../lib/errors.ts'
import type { OwnSession } from '../sessions/sign-in-grant.ts'
import type { Queries } from '../storage/database.ts'
import { findUserById, lockUserToChange } from '../accounts/user-store.ts'
import { signInProblem } from './errors.ts'
import type { ProvidersDeps } from './oauth-deps.ts'
import { deleteIdentitiesOfUser, deleteIdentity, findIdentitiesOfUser, type Identity } from './identity-store.ts'

type DisconnectionDeps = Pick<
  ProvidersDeps,
  'applySecurityEvent' | 'clock' | 'db' | 'labelOf' | 'notify' | 'providerNames' | 'recordEvent'
> &
  Pick<ProvidersDeps, 'hasPasskey' | 'hasPassword' | 'requireRecentAuthentication' | 'signsInByMail'>

export interface Disconnection {
  disconnected: Identity[]
  endedSessions: number
  /** It tells whether the user can still sign in, with a password, a passkey or a configured provider. */
  canSignIn: boolean
}

/** `removable` is false for the last way to sign in. */
export type LinkedIdentity = Identity & { removable: boolean }

/**
 * Disconnects the providers of a user that were connected at `sinceMs` or later. The transaction has locked the row of
 * the user. It resolves to their names.
 */
export const disconnectSince = async (
  transaction: Queries,
  { userId, sinceMs, nowMs }: { userId: string; sinceMs: number; nowMs: number },
): Promise<string[]> => {
  const linked = await findIdentitiesOfUser(transaction, userId)
  await deleteIdentitiesOfUser(transaction, { userId, sinceMs, nowMs })
  return linked.filter(({ createdAtMs }) => createdAtMs >= sinceMs).map(({ provider }) => provider)
}

/** Lists and disconnects the providers of an account. Only an operator may remove the last way to sign in. */
export const createDisconnection = (deps: DisconnectionDeps) => {
  const { db, clock, providerNames, applySecurityEvent, notify, labelOf, requireRecentAuthentication } = deps
  const { recordEvent } = deps

  /** Tells whether one of these is of a configured provider: others do not count as a way to sign in. */
  const canSignInBy = (identities: Identity[]): boolean =>
    identities.some(({ provider }) => providerNames.includes(provider))

  const isRemovable = (id: string, identities: Identity[], hasOtherWay: boolean): boolean =>
    hasOtherWay || canSignInBy(identities.filter((other) => other.id !== id))

  /** Tells whether the user needs no provider to sign in. */
  const hasOtherWay = async (queries: Queries, userId: string): Promise<boolean> => {
    if (deps.signsInByMail) return true
    const user = await findUserById(queries, userId)
    return (user !== undefined && deps.hasPassword(user)) || deps.hasPasskey(queries, userId)
  }

  return {
    hasConnection: async (queries: Queries, userId: string): Promise<boolean> =>
      canSignInBy(await findIdentitiesOfUser(queries, userId)),

    async listIdentities(userId: string, canUsePassword: boolean): Promise<LinkedIdentity[]> {
      const identities = await findIdentitiesOfUser(db, userId)
      const needsNone =
        canUsePassword || deps.signsInByMail || (identities.length > 0 && (await deps.hasPasskey(db, userId)))
      return identities.map((identity) => ({
        ...identity,
        removable: isRemovable(identity.id, identities, needsNone),
      }))
    },

    unlink: (id: string, { userId, sessionId }: OwnSession, caller: Caller): Promise<string> =>
      db.inTransaction(async (transaction) => {
        await requireRecentAuthentication(transaction, sessionId, userId)
        const identities = await findIdentitiesOfUser(transaction, userId)
        const identity = identities.find((each) => each.id === id)
        if (!identity) throw notLinked()
        if (!isRemovable(id, identities, await hasOtherWay(transaction, userId))) throw signInProblem('last_way')
        await deleteIdentity(transaction, { id, userId, nowMs: clock.now() })
        await recordEvent(transaction, unlinkedEvent(identity, sessionId), caller)
        await applySecurityEvent(transaction, 'sign_in_method_changed', { userId, sessionId, caller })
        await notify(transaction, userId, { kind: 'provider_removed', provider: labelOf(identity.provider) }, caller)
        return identity.provider
      }),

    disconnect: (userId: string, provider?: string): Promise<Disconnection> =>
      db.inTransaction(async (transaction) => {
        await lockUserToChange(transaction, userId)
        const linked = await findIdentitiesOfUser(transaction, userId)
        const disconnected = linked.filter((identity) => provider === undefined || identity.provider === provider)
        for (const identity of disconnected) {
          await deleteIdentity(transaction, { id: identity.id, userId, nowMs: clock.now() })
          await notify(transaction, userId, { kind: 'provider_removed', provider: labelOf(identity.provider) })
          await recordEvent(transaction, unlinkedEvent(identity))
        }
        const left = linked.filter((identity) => !disconnected.includes(identity))
        const ended =
          disconnected.length > 0 && (await applySecurityEvent(transaction, 'sign_in_method_changed', { userId }))
        return {
          disconnected,
          endedSessions: ended ? ended.sessions : 0,
          canSignIn: canSignInBy(left) || (await hasOtherWay(transaction, userId)),
        }
      }),
  }
}

const unlinkedEvent = ({ userId, provider, id: identityId }: Identity, sessionId?: string): AuditEvent => ({
  type: 'identity.unlinked',
  userId,
  sessionId,
  details: { provider, identityId },
})

const notLinked = (): AppError =>
  new AppError('not_found', 'This is no longer connected to your account.', {
    field: 'identity_id',
    reason: 'not_connected',
  })
