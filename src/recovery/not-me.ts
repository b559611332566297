import type { RecordEvent } from '../audit/audit-event.ts'
import type { Caller } from '../lib/caller.ts'
import type { Database, Queries, Transaction } from '../storage/database.ts'
import type { Notify } from '../users/account-notice.ts'
import type { ApplySecurityEvent, RemovedCodes } from '../users/security-events.ts'
import { findUserById, lockUserToChange, type UserRecord } from '../users/user-store.ts'
import { DeadLinkError, type Link } from './link.ts'
import type { Links } from './links.ts'
import { type AskedFactor, type HasFactor, type ProvedFactor, useFactor } from './proved-factor.ts'

/** "This wasn't me": the user says so about what they were told of: a browser, a provider, a passkey, a second factor. */
export interface NotMe {
  /** The account of a live link. */
  requireAccount(link: Link): Promise<UserRecord>
  /**
   * Whose recovery codes from before must be proved: where the app or passkey that goes is the last, they are all that
   * keeps a thief of the mailbox out. Undefined where the next page asks for what is left.
   */
  findAsked(link: Link): Promise<AskedFactor | undefined>
  /**
   * Removes what was added, and ends every session; a `DeadLinkError` when another request was first. Resolves to the
   * token of a new link, by which the user chooses another password.
   */
  confirm(link: Link, factor: ProvedFactor | undefined, caller: Caller): Promise<string>
}

export interface NotMeDeps {
  db: Database
  links: Links
  applySecurityEvent: ApplySecurityEvent
  notify: Notify
  recordEvent: RecordEvent
  /** Disconnects one provider of a user; does nothing where it is connected no longer. */
  disconnectProvider: (transaction: Transaction, identityId: string, userId: string) => Promise<number>
  /** Removes recovery codes that were made at `sinceMs` or later, and one passkey; 0 where it is gone already. */
  removePasskey: (transaction: Transaction, passkey: { id: string; userId: string; sinceMs: number }) => Promise<number>
  /** Removes an authenticator app and recovery codes that were made at `sinceMs` or later. */
  removeCodes: (transaction: Transaction, userId: string, sinceMs: number) => Promise<RemovedCodes>
  hasFactor: HasFactor
  /** Whether an app, or a passkey besides the one that goes, is left to the account, of what the settings allow. */
  keepsFactor: (
    queries: Queries,
    userId: string,
    removed: { appGoes: boolean; passkeyId: string | undefined },
  ) => Promise<boolean>
  /** How long the new link lives. */
  resetLifetimeMs: number
}

/** The reason in records. */
const NOT_ME = 'not_me'

export const createNotMe = (deps: NotMeDeps): NotMe => {
  const {
    db,
    links,
    applySecurityEvent,
    notify,
    recordEvent,
    disconnectProvider,
    removePasskey,
    removeCodes,
    resetLifetimeMs,
  } = deps

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

  const requireAccount = async ({ userId = '' }: Link, queries: Queries = db): Promise<UserRecord> => {
    const user = await findUserById(queries, userId)
    if (!user || user.disabled) throw new DeadLinkError('not_me', 'ended')
    return user
  }

  const findAsked = async ({ userId = '', details }: Link, queries: Queries = db): Promise<AskedFactor | undefined> => {
    const { setUpAt, passkeyId, addedAt } = details
    const addedAtMs = Number(setUpAt ?? addedAt)
    if (Number.isNaN(addedAtMs)) return undefined
    const kept = await deps.keepsFactor(queries, userId, { appGoes: setUpAt !== undefined, passkeyId })
    return kept ? undefined : { userId, madeBeforeMs: addedAtMs }
  }

  return {
    requireAccount,
    findAsked,

    confirm: (link, factor, caller) =>
      db.inTransaction(async (transaction) => {
        const { userId = '' } = link
        await lockUserToChange(transaction, userId)
        await links.use(transaction, link)
        const { emailLower } = await requireAccount(link, transaction)
        const asked = await findAsked(link, transaction)
        if (asked) await useFactor(transaction, deps.hasFactor, asked, factor)
        for (const remove of [removeProvider, removeNamedPasskey, removeSecondFactor]) {
          await remove(transaction, link, userId, caller)
        }
        // This forgets the browser too, and ends the links that someone else may have asked for.
        await applySecurityEvent(transaction, 'not_me', { userId, caller })
        const reset = await links.create(transaction, {
          purpose: 'reset',
          userId,
          emailLower,
          // The message with the link may have gone to an address that the account has left.
          details: { provesEmail: 'no' },
          lifetimeMs: resetLifetimeMs,
        })
        return reset.token
      }),
  }
}
