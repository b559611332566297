import type { Caller } from '../lib/caller.ts'
import { forgetConsents } from '../clients/consent-store.ts'
import { deleteIdentity } from '../oauth/identity-store.ts'
import { deletePasskey } from '../passkeys/passkey-store.ts'
import { deleteCodesSince, deleteRecoveryCodesSince } from '../second-factor/second-factor-store.ts'
import { amrOf, authenticatedBy } from '../sign-in/amr.ts'
import { type AskedFactor, hasFactor, type ProvedFactor, useFactor } from '../sign-in/asked-factor.ts'
import type { Queries, Transaction } from '../storage/database.ts'
import { findUserById, lockUser, lockUserToChange, type UserRecord } from '../accounts/user-store.ts'
import type { CheckedEntry } from './entry.ts'
import type { LinksDeps } from './links-deps.ts'
import { DeadLinkError, type Link } from './link.ts'

/** The page of a link asks for these. */
export interface NotMeForm {
  /** The form takes a new password in the same step. Otherwise the next page asks for the new way to sign in. */
  setsPassword: boolean
  /**
   * This step asks for a second factor of this account; if it is undefined, the next page asks for the factors that are
   * left.
   */
  asked: AskedFactor | undefined
}

/** The user says "This wasn't me" about a notice of a browser, a provider, a passkey, a second factor or an application. */
export interface NotMe {
  /** Finds the account of a live link. */
  requireAccount(link: Link): Promise<UserRecord>
  /** Says which fields the form of a link takes; `hasPassword` tells whether the user can sign in with a password. */
  findForm(link: Link, hasPassword: boolean): Promise<NotMeForm>
  /**
   * Checks an entry with a new password in the same step: until there is one, a thief who knows the old one could sign
   * in again. It throws `unprocessable` when it breaks a rule, and the link stays good.
   */
  check(
    entered: { link: Link; password: string; factor: ProvedFactor | undefined },
    caller: Caller,
  ): Promise<CheckedEntry>
  /**
   * Serves a form that takes no new password. It removes everything that was added, and ends every session, and the
   * password if there is one. It throws a `DeadLinkError` when another request was first. It resolves to the token of a
   * new link, by which the user gets in.
   */
  confirm(link: Link, factor: ProvedFactor | undefined, caller: Caller): Promise<string>
}

type NotMeDeps = Pick<LinksDeps, 'clock' | 'db' | 'findAsked' | 'lifetimes' | 'issued' | 'notify' | 'recordEvent'> &
  Pick<LinksDeps, 'applySecurityEvent' | 'change' | 'passwords' | 'requireGoodPassword' | 'unlockLogins'>

interface Disowned {
  link: Link
  factor: ProvedFactor | undefined
  setsPassword: boolean
  caller: Caller
}

/**
 * The form asks for recovery codes from before if the app or passkey that goes is the last: they are all that keeps a
 * thief of the mailbox out. It asks for another factor that is left, unless the account had none at all before the
 * event that the notice told about: then the factor may be the thief's, and must not keep the owner from throwing them
 * out. The next page asks for it.
 */
const createForm =
  ({ db, findAsked }: Pick<NotMeDeps, 'db' | 'findAsked'>) =>
  async ({ userId = '', details }: Link, hasPassword: boolean, queries: Queries = db): Promise<NotMeForm> => {
    const { setUpAt, passkeyId, addedAt } = details
    const goesSinceMs = Number(setUpAt ?? addedAt ?? Number.NaN)
    const isFactor = !Number.isNaN(goesSinceMs)
    const appGoes = setUpAt !== undefined
    const left = { userId, without: { appGoes, passkeyId, recoveryCodesSinceMs: 0 } }
    if (!hasFactor(await findAsked(left, queries)))
      return { setsPassword: hasPassword, asked: isFactor ? { userId, madeBeforeMs: goesSinceMs } : undefined }
    if (!hasPassword || details.hadFactor === 'no') return { setsPassword: false, asked: undefined }
    const without = isFactor ? { appGoes, passkeyId, recoveryCodesSinceMs: goesSinceMs } : undefined
    return { setsPassword: true, asked: { userId, without } }
  }

/** Records name this reason. */
const NOT_ME = 'not_me'

/** Removes the factor or connection that the notice of a link named, and tells the user. */
const createRemoval = ({ clock, notify, recordEvent }: Pick<NotMeDeps, 'clock' | 'notify' | 'recordEvent'>) => {
  const removeProvider = async (transaction: Transaction, { details }: Link, userId: string, caller: Caller) => {
    const { identityId, provider } = details
    if (identityId === undefined || provider === undefined) return
    if ((await deleteIdentity(transaction, { id: identityId, userId, nowMs: clock.now() })) === 0) return
    const removed = { identityId, reason: NOT_ME }
    await recordEvent(transaction, { type: 'identity.unlinked', userId, details: removed }, caller)
    await notify(transaction, userId, { kind: 'provider_removed', provider }, caller)
  }

  const removeNamedPasskey = async (transaction: Transaction, { details }: Link, userId: string, caller: Caller) => {
    const { passkeyId: id, addedAt } = details
    if (id === undefined) return
    const deleted = await deletePasskey(transaction, { id, userId, nowMs: clock.now() })
    await deleteRecoveryCodesSince(transaction, userId, Number(addedAt))
    if (deleted === 0) return
    const removed = { passkeyId: id, reason: NOT_ME }
    await recordEvent(transaction, { type: 'passkey.removed', userId, details: removed }, caller)
    await notify(transaction, userId, { kind: 'passkey_removed' }, caller)
  }

  const removeSecondFactor = async (transaction: Transaction, { details }: Link, userId: string, caller: Caller) => {
    if (details.setUpAt === undefined) return
    // An account with recovery codes alone has no app any longer that the user could be told about.
    const since = { userId, sinceMs: Number(details.setUpAt), nowMs: clock.now() }
    if (!(await deleteCodesSince(transaction, since)).codes) return
    await recordEvent(transaction, { type: 'second_factor.removed', userId, details: { reason: NOT_ME } }, caller)
    await notify(transaction, userId, { kind: 'second_factor_removed' }, caller)
  }

  return async (transaction: Transaction, link: Link, caller: Caller): Promise<void> => {
    const { userId = '' } = link
    await removeProvider(transaction, link, userId, caller)
    await removeNamedPasskey(transaction, link, userId, caller)
    await removeSecondFactor(transaction, link, userId, caller)
    // The event ends the grants of every client. Each has to ask again, also those of earlier notices.
    if (link.purpose === 'not_my_application') await forgetConsents(transaction, { userId })
  }
}

export const createNotMe = (deps: NotMeDeps): NotMe => {
  const { db, clock, issued, passwords, applySecurityEvent, change, findAsked } = deps
  const remove = createRemoval(deps)
  const findForm = createForm(deps)

  const requireAccount = async ({ userId = '' }: Link, queries: Queries = db): Promise<UserRecord> => {
    const user = await findUserById(queries, userId)
    if (!user || user.disabled) throw new DeadLinkError('not_me', 'ended')
    return user
  }

  const disown = async (transaction: Transaction, { link, factor, setsPassword, caller }: Disowned) => {
    const { userId = '' } = link
    await lockUserToChange(transaction, userId)
    await issued.use(transaction, link)
    const user = await requireAccount(link, transaction)
    const form = await findForm(link, setsPassword, transaction)
    // A factor that was added since the form was read is asked for as any other.
    const asked: AskedFactor | undefined = setsPassword && !form.setsPassword ? { userId } : form.asked
    // Recovery codes from before go with the last factor. Otherwise the removed factor has gone first, and proves
    // nothing.
    const isAskedBefore = asked?.madeBeforeMs !== undefined
    if (asked && isAskedBefore) await useFactor(transaction, findAsked, asked, factor)
    await remove(transaction, link, caller)
    if (asked && !isAskedBefore) await useFactor(transaction, findAsked, asked, factor)
    // This forgets the browser too, and ends the links that someone else may have asked for.
    const { grants } = await applySecurityEvent(transaction, 'not_me', { userId, caller })
    return { user, applicationsEnded: grants > 0 }
  }

  return {
    requireAccount,
    findForm: (link, hasPassword) => findForm(link, hasPassword),

    async check({ link, password, factor }, caller) {
      const { id: userId, email, emailLower, username } = await requireAccount(link)
      const passwordHash = await passwords.hash(await deps.requireGoodPassword(password, [email, username]), caller)
      return {
        grant: {
          userId,
          ...authenticatedBy({ amr: amrOf('password'), authenticatedAtMs: clock.now() }, factor, 'enter'),
          isStillValid: async (queries) => (await lockUser(queries, userId))?.disabled === false,
        },
        async apply(transaction) {
          const { applicationsEnded } = await disown(transaction, { link, factor, setsPassword: true, caller })
          const cause = { by: 'reset', signsInWith: 'password', applicationsEnded, caller } as const
          await change(transaction, userId, { passwordHash }, cause)
          await deps.unlockLogins(transaction, { emailLower, username, userId })
        },
      }
    },

    confirm: (link, factor, caller) =>
      db.inTransaction(async (transaction) => {
        const { user } = await disown(transaction, { link, factor, setsPassword: false, caller })
        const { id: userId, emailLower } = user
        // A thief who knows it could sign in again before the next page has come to its end.
        if (user.passwordHash !== null)
          await change(transaction, userId, { passwordHash: null }, { by: 'not_me', caller })
        // The message with the link may have gone to an address that the account has left.
        const details = { provesEmail: 'no' }
        const lifetimeMs = deps.lifetimes.resetMs
        const reset = { purpose: 'reset', userId, emailLower, details, lifetimeMs } as const
        return (await issued.create(transaction, reset)).token
      }),
  }
}
