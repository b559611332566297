import type { AuditEvent, RecordEvent } from '../audit/audit-event.ts'
import type { Caller } from '../lib/caller.ts'
import { AppError } from '../lib/errors.ts'
import type { Clock } from '../lib/time.ts'
import type { OwnSession, SessionRules } from '../sessions/sign-in-grant.ts'
import { amrOf } from '../sign-in/amr.ts'
import type { Database, Queries, Transaction } from '../storage/database.ts'
import type { Notify } from '../accounts/account-notice.ts'
import type { ApplySecurityEvent } from '../accounts/security-events.ts'
import type { HasPassword } from '../accounts/authentication.ts'
import { findUserById } from '../accounts/user-store.ts'
import { requireName } from './passkey-name.ts'
import type { Passkey } from './passkey.ts'
import { deletePasskey, findPasskeysOfUser, updateName } from './passkey-store.ts'
import type { AddedPasskey, CheckedRegistration } from './registration.ts'

export interface OwnPasskeysDeps extends Pick<SessionRules, 'requireRecentAuthentication' | 'noteMfa'> {
  db: Database
  clock: Clock
  applySecurityEvent: ApplySecurityEvent
  notify: Notify
  recordEvent: RecordEvent
  hasPassword: HasPassword
  /** It tells whether every user can sign in by mail. */
  signsInByMail: boolean
  /** It tells whether the user can sign in with a provider that is configured. */
  hasProvider: (queries: Queries, userId: string) => Promise<boolean>
  /** Deletes recovery codes if nothing is left that they could stand for. */
  deleteUselessRecoveryCodes: (transaction: Transaction, userId: string) => Promise<unknown>
}

/** `removable` is false for the last way to sign in. */
export type OwnPasskey = Passkey & { removable: boolean }

/** Users list and change their passkeys while they are signed in. Each change needs a recent sign-in. */
export const createOwnPasskeys = (deps: OwnPasskeysDeps) => {
  const { db, clock, applySecurityEvent, notify, recordEvent, requireRecentAuthentication } = deps

  const hasOtherWay = async (queries: Queries, userId: string): Promise<boolean> => {
    if (deps.signsInByMail) return true
    const user = await findUserById(queries, userId)
    return (user !== undefined && deps.hasPassword(user)) || deps.hasProvider(queries, userId)
  }

  const change = <T>({ userId, sessionId }: OwnSession, work: (transaction: Transaction) => Promise<T>): Promise<T> =>
    db.inTransaction(async (transaction) => {
      await requireRecentAuthentication(transaction, sessionId, userId)
      return work(transaction)
    })

  return {
    async list(userId: string): Promise<OwnPasskey[]> {
      const passkeys = await findPasskeysOfUser(db, userId)
      const removable = passkeys.length > 1 || (passkeys.length > 0 && (await hasOtherWay(db, userId)))
      return passkeys.map((passkey) => ({ ...passkey, removable }))
    },

    add: (session: OwnSession, { apply, proof }: CheckedRegistration, caller: Caller): Promise<AddedPasskey> =>
      change(session, async (transaction) => {
        const added = await apply(transaction)
        await applySecurityEvent(transaction, 'sign_in_method_changed', { ...session, caller })
        // Changes need the passkey from now on. The user has just shown it, and need not do so again at once.
        await deps.noteMfa(transaction, session.sessionId, amrOf(proof))
        return added
      }),

    async addAtSignIn(
      transaction: Transaction,
      userId: string,
      { apply }: CheckedRegistration,
      caller: Caller,
    ): Promise<AddedPasskey> {
      const added = await apply(transaction)
      await applySecurityEvent(transaction, 'sign_in_method_changed', { userId, caller })
      return added
    },

    /** It resolves to the name as it is stored. */
    rename: (session: OwnSession, id: string, entered: unknown, caller: Caller): Promise<string> => {
      const name = requireName(entered)
      return change(session, async (transaction) => {
        const changes = await updateName(transaction, { id, userId: session.userId, name })
        if (changes === 0) throw notThere()
        await recordEvent(transaction, passkeyEvent('passkey.renamed', session, id), caller)
        return name
      })
    },

    remove: (session: OwnSession, id: string, caller: Caller): Promise<Passkey> =>
      change(session, async (transaction) => {
        const { userId } = session
        const passkeys = await findPasskeysOfUser(transaction, userId)
        const passkey = requireOne(passkeys, id)
        if (passkeys.length === 1 && !(await hasOtherWay(transaction, userId))) throw lastWay()
        await deletePasskey(transaction, { id, userId, nowMs: clock.now() })
        await deps.deleteUselessRecoveryCodes(transaction, userId)
        await recordEvent(transaction, passkeyEvent('passkey.removed', session, id), caller)
        await applySecurityEvent(transaction, 'sign_in_method_changed', { ...session, caller })
        await notify(transaction, userId, { kind: 'passkey_removed' }, caller)
        return passkey
      }),
  }
}

const passkeyEvent = (
  type: 'passkey.renamed' | 'passkey.removed',
  { userId, sessionId }: OwnSession,
  passkeyId: string,
): AuditEvent => ({ type, userId, sessionId, details: { passkeyId } })

const lastWay = (): AppError =>
  new AppError('conflict', 'This is your only way to sign in. Add another one before you remove it.', {
    field: 'passkey_id',
    reason: 'last_way',
  })

const requireOne = (passkeys: Passkey[], id: string): Passkey => {
  const passkey = passkeys.find((each) => each.id === id)
  if (!passkey) throw notThere()
  return passkey
}

const notThere = (): AppError =>
  new AppError('not_found', 'You no longer have this passkey.', { field: 'passkey_id', reason: 'passkey_gone' })
