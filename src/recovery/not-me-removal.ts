import type { RecordEvent } from '../audit/audit-event.ts'
import type { Caller } from '../lib/caller.ts'
import type { Transaction } from '../storage/database.ts'
import type { Notify } from '../accounts/account-notice.ts'
import type { RemovedCodes } from '../accounts/security-events.ts'
import type { Link } from './link.ts'

export interface NotMeRemovalDeps {
  notify: Notify
  recordEvent: RecordEvent
  /** Disconnects one provider of a user; does nothing where it is connected no longer. */
  disconnectProvider: (transaction: Transaction, identityId: string, userId: string) => Promise<number>
  /** Removes recovery codes that were made at `sinceMs` or later, and one passkey; 0 where it is gone already. */
  removePasskey: (transaction: Transaction, passkey: { id: string; userId: string; sinceMs: number }) => Promise<number>
  /** Removes an authenticator app and recovery codes that were made at `sinceMs` or later. */
  removeCodes: (transaction: Transaction, userId: string, sinceMs: number) => Promise<RemovedCodes>
}

/** The reason in records. */
const NOT_ME = 'not_me'

/** Removes what the notice of a link named, and tells the user. */
export const createNotMeRemoval = (deps: NotMeRemovalDeps) => {
  const { notify, recordEvent, disconnectProvider, removePasskey, removeCodes } = deps

  const removeProvider = async (transaction: Transaction, { details }: Link, userId: string, caller: Caller) => {
    const { identityId, provider } = details
    if (identityId === undefined || provider === undefined) return
    if ((await disconnectProvider(transaction, identityId, userId)) === 0) return
    const removed = { identityId, reason: NOT_ME }
    await recordEvent(transaction, { type: 'identity.unlinked', userId, details: removed }, caller)
    await notify(transaction, userId, { kind: 'provider_removed', provider }, caller)
  }

  const removeNamedPasskey = async (transaction: Transaction, { details }: Link, userId: string, caller: Caller) => {
    const { passkeyId: id, addedAt } = details
    if (id === undefined) return
    if ((await removePasskey(transaction, { id, userId, sinceMs: Number(addedAt) })) === 0) return
    const removed = { passkeyId: id, reason: NOT_ME }
    await recordEvent(transaction, { type: 'passkey.removed', userId, details: removed }, caller)
    await notify(transaction, userId, { kind: 'passkey_removed' }, caller)
  }

  const removeSecondFactor = async (transaction: Transaction, { details }: Link, userId: string, caller: Caller) => {
    if (details.setUpAt === undefined) return
    // With recovery codes alone, there is no app any longer that the user could be told of.
    if (!(await removeCodes(transaction, userId, Number(details.setUpAt))).codes) return
    await recordEvent(transaction, { type: 'second_factor.removed', userId, details: { reason: NOT_ME } }, caller)
    await notify(transaction, userId, { kind: 'second_factor_removed' }, caller)
  }

  return async (transaction: Transaction, link: Link, caller: Caller): Promise<void> => {
    const { userId = '' } = link
    await removeProvider(transaction, link, userId, caller)
    await removeNamedPasskey(transaction, link, userId, caller)
    await removeSecondFactor(transaction, link, userId, caller)
  }
}
