import type { Caller } from '../lib/caller.ts'
import type { Clock } from '../lib/time.ts'
import type { SignInGrant } from '../sessions/sign-in-grant.ts'
import type { Queries, Transaction } from '../storage/database.ts'
import { updatePasswordHash } from '../accounts/passwords/password-hash-store.ts'
import type { RequireGoodPassword } from '../accounts/passwords/password-rules.ts'
import type { Passwords } from '../accounts/passwords/passwords.ts'
import type { ApplySecurityEvent } from '../accounts/security-events.ts'
import { findUserById, lockUser, lockUserToChange, type UserRecord } from '../accounts/user-store.ts'
import { DeadLinkError, type Link } from './link.ts'
import type { Links } from './links.ts'
import { createNotMeForm, type NotMeForm, type NotMeFormDeps } from './not-me-form.ts'
import { createNotMeRemoval, type NotMeRemovalDeps } from './not-me-removal.ts'
import { type AskedFactor, type HasFactor, type ProvedFactor, useFactor } from './proved-factor.ts'

/** A new password that was checked; nothing is changed before `apply` is called. */
interface CheckedNotMe {
  grant: SignInGrant
  /** Uses the link up, and does everything at once; a `DeadLinkError` when another request was first. */
  apply: (transaction: Transaction) => Promise<void>
}

/** "This wasn't me": the user says so about what they were told of: a browser, a provider, a passkey, a second factor. */
export interface NotMe {
  /** The account of a live link. */
  requireAccount(link: Link): Promise<UserRecord>
  /** What the form of a link takes; `hasPassword`: whether the user can sign in with one. */
  findForm(link: Link, hasPassword: boolean): Promise<NotMeForm>
  /**
   * With a new password in the same step: until there is one, a thief who knows the old one could sign in again.
   * `unprocessable` when it breaks a rule, and the link stays good.
   */
  check(
    entered: { link: Link; password: string; factor: ProvedFactor | undefined },
    caller: Caller,
  ): Promise<CheckedNotMe>
  /**
   * Where the form takes no new password: removes what was added, ends every session, and the password if there is one;
   * a `DeadLinkError` when another request was first. Resolves to the token of a new link, by which the user gets in.
   */
  confirm(link: Link, factor: ProvedFactor | undefined, caller: Caller): Promise<string>
}

export interface NotMeDeps extends NotMeRemovalDeps, NotMeFormDeps {
  clock: Clock
  links: Links
  passwords: Passwords
  requireGoodPassword: RequireGoodPassword
  applySecurityEvent: ApplySecurityEvent
  hasFactor: HasFactor
  /** Lets logins of the account begin to count from zero. */
  unlockLogins: (transaction: Transaction, account: { emailLower: string; userId: string }) => Promise<void>
  /** How long the new link lives. */
  resetLifetimeMs: number
}

interface Disowned {
  link: Link
  factor: ProvedFactor | undefined
  setsPassword: boolean
  caller: Caller
}

export const createNotMe = (deps: NotMeDeps): NotMe => {
  const { db, clock, links, passwords, applySecurityEvent, notify, recordEvent, hasFactor } = deps
  const remove = createNotMeRemoval(deps)
  const findForm = createNotMeForm(deps)

  const requireAccount = async ({ userId = '' }: Link, queries: Queries = db): Promise<UserRecord> => {
    const user = await findUserById(queries, userId)
    if (!user || user.disabled) throw new DeadLinkError('not_me', 'ended')
    return user
  }

  const disown = async (transaction: Transaction, { link, factor, setsPassword, caller }: Disowned) => {
    const { userId = '' } = link
    await lockUserToChange(transaction, userId)
    await links.use(transaction, link)
    const user = await requireAccount(link, transaction)
    const form = await findForm(link, setsPassword, transaction)
    // One that was added since the form was read is asked for as any other.
    const asked: AskedFactor | undefined = setsPassword && !form.setsPassword ? { userId } : form.asked
    // Recovery codes from before go with the last factor. Otherwise what goes has gone first, and proves nothing.
    const isAskedBefore = asked?.madeBeforeMs !== undefined
    if (asked && isAskedBefore) await useFactor(transaction, hasFactor, asked, factor)
    await remove(transaction, link, caller)
    if (asked && !isAskedBefore) await useFactor(transaction, hasFactor, asked, factor)
    // This forgets the browser too, and ends the links that someone else may have asked for.
    await applySecurityEvent(transaction, 'not_me', { userId, caller })
    return user
  }

  return {
    requireAccount,
    findForm: (link, hasPassword) => findForm(link, hasPassword),

    async check({ link, password, factor }, caller) {
      const { id: userId, email, emailLower, username } = await requireAccount(link)
      const hash = await passwords.hash(await deps.requireGoodPassword(password, [email, username]), caller)
      return {
        grant: {
          userId,
          authenticatedAtMs: clock.now(),
          amr: factor?.amrAfter('pwd') ?? ['pwd'],
          isStillValid: async (queries) => (await lockUser(queries, userId))?.disabled === false,
        },
        async apply(transaction) {
          await disown(transaction, { link, factor, setsPassword: true, caller })
          await updatePasswordHash(transaction, { id: userId, hash, nowMs: clock.now() })
          await recordEvent(transaction, { type: 'password.reset', userId, details: { method: 'password' } }, caller)
          await applySecurityEvent(transaction, 'password_reset', { userId, caller })
          await deps.unlockLogins(transaction, { emailLower, userId })
          await notify(transaction, userId, { kind: 'password_changed', how: 'reset' }, caller)
        },
      }
    },

    confirm: (link, factor, caller) =>
      db.inTransaction(async (transaction) => {
        const user = await disown(transaction, { link, factor, setsPassword: false, caller })
        const { id: userId, emailLower } = user
        // A thief who knows it could sign in again before the next page has come to its end.
        if (user.passwordHash !== null)
          await updatePasswordHash(transaction, { id: userId, hash: null, nowMs: clock.now() })
        // The message with the link may have gone to an address that the account has left.
        const details = { provesEmail: 'no' }
        const lifetimeMs = deps.resetLifetimeMs
        const reset = { purpose: 'reset', userId, emailLower, details, lifetimeMs } as const
        return (await links.create(transaction, reset)).token
      }),
  }
}
