import type { AuditEvent } from '../audit/audit-event.ts'
import type { Caller } from '../lib/caller.ts'
import type { Clock } from '../lib/time.ts'
import type { SignInGrant } from '../sessions/sign-in-grant.ts'
import type { Database, Transaction } from '../storage/database.ts'
import { changesOf } from '../accounts/change-events.ts'
import { updateEmail } from '../accounts/email-store.ts'
import type { RequireGoodPassword } from '../accounts/passwords/password-rules.ts'
import type { Passwords } from '../accounts/passwords/passwords.ts'
import { updatePasswordHash } from '../accounts/passwords/password-hash-store.ts'
import { findUserById, lockUser, lockUserToChange, requireUserById } from '../accounts/user-store.ts'
import type { EmailChangesDeps } from './email-changes.ts'
import { orTaken } from './email-refusals.ts'
import { emailOfLink, type Link } from './link.ts'
import { type AskedFactor, type HasFactor, type ProvedFactor, useFactor } from './proved-factor.ts'
import type { EnterByProvider } from './provider-entry.ts'

/** A new password that was checked; nothing is changed before `apply` is called. */
interface CheckedUndo {
  /** For the session of the user, who has proved to read the mail of the account. It does not hold while that is disabled. */
  grant: SignInGrant
  /** Uses the link up and puts the address back; `gone` when another request was first. */
  apply: (transaction: Transaction) => Promise<void>
}

/** Putting back the address that an account had, by the link that was sent to it. */
export interface EmailUndo {
  /** Whose second factor must be proved: that which was there before the change was asked for. */
  findAsked(entered: { link: Link }): Promise<AskedFactor>
  /** `unprocessable` when the new password breaks a rule: the link stays good. */
  check(
    entered: { link: Link; password: string; factor: ProvedFactor | undefined },
    caller: Caller,
  ): Promise<CheckedUndo>
  /**
   * Whether the link waits: the account is disabled. An operator may have disabled it because of a thief, who can have a
   * link like this one, and nobody tells the two apart but the operator.
   */
  waits(link: Link): Promise<boolean>
  /** Without a password, which ends if there is one. */
  enterByProvider: EnterByProvider
}

export interface EmailUndoDeps extends Omit<EmailChangesDeps, 'undoLinks'> {
  db: Database
  clock: Clock
  passwords: Passwords
  requireGoodPassword: RequireGoodPassword
  hasFactor: HasFactor
}

export const createEmailUndo = (deps: EmailUndoDeps): EmailUndo => {
  const { db, clock, links, passwords, applySecurityEvent, announceUpdate, notify, userChanged } = deps
  const { recordEvent } = deps

  /** Puts the address back as it was when the link was made. Before the change is made, that is the account's own. */
  const putBack = async (transaction: Transaction, { link, factor, caller }: PutBack): Promise<void> => {
    const { userId = '', details } = link
    await lockUserToChange(transaction, userId)
    await links.use(transaction, link)
    await useFactor(transaction, deps.hasFactor, askedBy(link), factor)
    const user = await requireUserById(transaction, userId)
    const email = emailOfLink(link)
    const verifiedAtMs = user.emailLower === email.lower ? user.emailVerifiedAtMs : undefined
    await updateEmail(transaction, {
      id: userId,
      email,
      verifiedAtMs: verifiedAtMs ?? Number(details.verifiedAt),
      nowMs: clock.now(),
    })
    await recordEvent(transaction, { type: 'email.change_undone', userId }, caller)
    await applySecurityEvent(transaction, 'email_undone', { userId, sinceMs: askedAtOf(link), caller })
    const changes = changesOf(user, email, true)
    await announceUpdate(transaction, userId, changes)
    if (changes.includes('email'))
      await notify(transaction, userId, { kind: 'email_changed', oldEmail: user.email, newEmail: email.shown }, caller)
    await userChanged(transaction, userId)
  }

  const grantFor = (userId: string, amr: SignInGrant['amr']): SignInGrant => ({
    userId,
    authenticatedAtMs: clock.now(),
    amr,
    isStillValid: async (transaction) => (await lockUser(transaction, userId))?.disabled === false,
  })

  return {
    findAsked: async ({ link }) => askedBy(link),
    waits: async ({ userId = '' }) => (await findUserById(db, userId))?.disabled === true,

    async check({ link, password, factor }, caller) {
      const { userId = '' } = link
      const { username } = await requireUserById(db, userId)
      const checked = await deps.requireGoodPassword(password, [emailOfLink(link).shown, username])
      const hash = await passwords.hash(checked, caller)
      const apply = async (transaction: Transaction) => {
        await putBack(transaction, { link, factor, caller })
        await updatePasswordHash(transaction, { id: userId, hash, nowMs: clock.now() })
        await notify(transaction, userId, { kind: 'password_changed', how: 'reset' }, caller)
        await recordEvent(transaction, resetEvent(userId, 'password'), caller)
      }
      return {
        grant: grantFor(userId, factor?.amrAfter('pwd') ?? ['pwd']),
        apply: (transaction) => orTaken(() => apply(transaction)),
      }
    },

    async enterByProvider({ link, proof, factor, caller }) {
      const { userId = '' } = link
      const apply = async (transaction: Transaction) => {
        await putBack(transaction, { link, factor, caller })
        await updatePasswordHash(transaction, { id: userId, hash: null, nowMs: clock.now() })
        await recordEvent(transaction, resetEvent(userId, proof.method), caller)
        await proof.connect(transaction, userId)
      }
      return {
        grant: grantFor(userId, factor?.amrAfter('fed') ?? ['fed']),
        apply: (transaction) => orTaken(() => apply(transaction)),
      }
    },
  }
}

interface PutBack {
  link: Link
  factor: ProvedFactor | undefined
  caller: Caller
}

const resetEvent = (userId: string, method: string): AuditEvent => ({
  type: 'password.reset',
  userId,
  details: { method },
})

const askedAtOf = ({ details }: Link): number => Number(details.askedAt)

const askedBy = (link: Link): AskedFactor => ({ userId: link.userId ?? '', madeBeforeMs: askedAtOf(link) })
