import type { RecordEvent } from '../audit/audit-event.ts'
import type { Caller } from '../lib/caller.ts'
import type { Email } from '../lib/email-address.ts'
import { AppError } from '../lib/errors.ts'
import type { Clock } from '../lib/time.ts'
import type { SessionRules } from '../sessions/sign-in-grant.ts'
import type { Proof } from '../sign-in/amr.ts'
import type { Database, Queries, Transaction } from '../storage/database.ts'
import type { Notify } from '../accounts/account-notice.ts'
import type { AnnounceUpdate } from '../accounts/announcement.ts'
import { changesOf } from '../accounts/change-events.ts'
import { markEmailVerified } from '../accounts/email-proof-store.ts'
import { updateEmail } from '../accounts/email-store.ts'
import type { EnterInvited } from '../accounts/invited-account.ts'
import { updatePasswordHash } from '../accounts/passwords/password-hash-store.ts'
import type { ApplySecurityEvent } from '../accounts/security-events.ts'
import type { TakeOver } from '../accounts/take-over.ts'
import { findUserById, lockUser, lockUserToChange, requireUserById, type UserRecord } from '../accounts/user-store.ts'
import { orTaken } from './email-refusals.ts'
import type { Links } from './issued-links.ts'
import { DeadLinkError, emailOfLink, type EntryPurpose, type Link } from './link.ts'
import { type AskedFactor, type FindAsked, type ProvedFactor, useFactor } from '../sign-in/asked-factor.ts'

/** A user chooses an account at a provider, or a new passkey, in place of a password. */
export interface Connectable {
  /** A new passkey proves nothing yet: the link stands for a password. */
  proof: Extract<Proof, 'link' | 'provider' | 'provider_with_factor'>
  /** The provider's name in the settings, or `passkey`: for the record. */
  method: string
  provider?: string | undefined
  /** Undefined where the provider has verified none. */
  verifiedEmail: Email | undefined
  /** Connects it to a user whose row the transaction has locked; `conflict` where another user has it. */
  connect(transaction: Transaction, userId: string): Promise<void>
}

/** An entry whose choice was checked. */
interface EntryChange {
  link: Link
  user: UserRecord
  isOwnSession: boolean
  factor: ProvedFactor | undefined
  /** The record names the way in which the user signs in from now on. */
  method: string
  /** Undefined: the account has no password afterwards, since nobody has proved to know it. */
  passwordHash?: string | undefined
  username?: string | undefined
  caller: Caller
}

/** The rules of the links of one purpose. */
interface EntryRow {
  requireAccount(link: Link): Promise<UserRecord>
  findAsked(link: Link, user: UserRecord, isOwnSession: boolean): AskedFactor | undefined
  /** Refuses what cannot be chosen in place of a password. */
  requireConnectable?(link: Link, user: UserRecord, chosen: Connectable): void
  /** Uses the link up, and changes the account. */
  change(transaction: Transaction, change: EntryChange): Promise<void>
  /** Whether a session may start, once the change is made. */
  isStillValid(link: Link, queries: Queries): Promise<boolean>
}

export interface EntryTableDeps extends Pick<SessionRules, 'userChanged'> {
  db: Database
  clock: Clock
  links: Links
  applySecurityEvent: ApplySecurityEvent
  announceUpdate: AnnounceUpdate
  notify: Notify
  recordEvent: RecordEvent
  takeOver: TakeOver
  enterInvited: EnterInvited
  findAsked: FindAsked
  /** Lets logins of the account begin to count from zero. */
  unlockLogins: (transaction: Transaction, account: { emailLower: string; userId: string }) => Promise<void>
}

/** THE table of the links by which a user enters an account: what each changes and ends, and what it asks for first. */
export const createEntryTable = (deps: EntryTableDeps): Record<EntryPurpose, EntryRow> => ({
  reset: resetRow(deps),
  undo: undoRow(deps),
  invite: inviteRow(deps),
})

/** A new password. The first proof of an unverified address gives the account to the owner of the address. */
const resetRow = (deps: EntryTableDeps): EntryRow => {
  const { db, clock, links, applySecurityEvent, announceUpdate, takeOver, notify, recordEvent, findAsked } = deps

  const changeAccount = async (transaction: Transaction, change: EntryChange): Promise<void> => {
    const { user, link, isOwnSession, factor, passwordHash, method, caller } = change
    const { id: userId, emailLower } = user
    const proved = { userId, emailLower, passwordHash, method: 'link', signsInWith: method, caller }
    if (canTakeOver(link, isOwnSession) && (await takeOver(transaction, proved))) return
    await useFactor(transaction, findAsked, { userId }, factor)
    await updatePasswordHash(transaction, { id: userId, hash: passwordHash ?? null, nowMs: clock.now() })
    const verified = provesEmail(link) ? await markEmailVerified(transaction, userId, clock.now()) : 0
    await recordEvent(transaction, { type: 'password.reset', userId, details: { method } }, caller)
    await applySecurityEvent(transaction, 'password_reset', { userId, caller })
    if (verified === 0) return
    await announceUpdate(transaction, userId, ['email_verified'])
    await recordEvent(transaction, { type: 'email.verified', userId }, caller)
  }

  return {
    async requireAccount(link) {
      const user = await findUserById(db, link.userId ?? '')
      if (!isAccountOf(user, link)) throw new DeadLinkError('reset', 'ended')
      return user
    },

    findAsked: (link, { id: userId, emailVerifiedAtMs }, isOwnSession) =>
      emailVerifiedAtMs === undefined && canTakeOver(link, isOwnSession) ? undefined : { userId },

    async change(transaction, change) {
      const { link, user, caller } = change
      await links.use(transaction, link)
      await changeAccount(transaction, change)
      if (change.passwordHash === undefined) return
      await deps.unlockLogins(transaction, { emailLower: user.emailLower, userId: user.id })
      await notify(transaction, user.id, { kind: 'password_changed', how: 'reset' }, caller)
    },

    isStillValid: async (link, queries) => isAccountOf(await lockUser(queries, link.userId ?? ''), link),
  }
}

/** The address that the account had when the link was made. What was added since the change was asked for goes. */
const undoRow = (deps: EntryTableDeps): EntryRow => {
  const { db, clock, links, applySecurityEvent, announceUpdate, notify, recordEvent } = deps

  /** Before the change is made, the address is the account's own. */
  const putBack = async (transaction: Transaction, link: Link, caller: Caller): Promise<void> => {
    const { userId = '', details } = link
    const user = await requireUserById(transaction, userId)
    const email = emailOfLink(link)
    const ownVerifiedAtMs = user.emailLower === email.lower ? user.emailVerifiedAtMs : undefined
    const verifiedAtMs = ownVerifiedAtMs ?? Number(details.verifiedAt)
    await updateEmail(transaction, { id: userId, email, verifiedAtMs, nowMs: clock.now() })
    await recordEvent(transaction, { type: 'email.change_undone', userId }, caller)
    await applySecurityEvent(transaction, 'email_undone', { userId, sinceMs: askedAtOf(link), caller })
    const changes = changesOf(user, email, true)
    await announceUpdate(transaction, userId, changes)
    if (changes.includes('email'))
      await notify(transaction, userId, { kind: 'email_changed', oldEmail: user.email, newEmail: email.shown }, caller)
    await deps.userChanged(transaction, userId)
  }

  return {
    requireAccount: ({ userId = '' }) => requireUserById(db, userId),
    findAsked: (link) => askedBy(link),

    change: (transaction, { link, factor, passwordHash, method, caller }) =>
      orTaken(async () => {
        const { userId = '' } = link
        await lockUserToChange(transaction, userId)
        await links.use(transaction, link)
        await useFactor(transaction, deps.findAsked, askedBy(link), factor)
        await putBack(transaction, link, caller)
        await updatePasswordHash(transaction, { id: userId, hash: passwordHash ?? null, nowMs: clock.now() })
        if (passwordHash !== undefined)
          await notify(transaction, userId, { kind: 'password_changed', how: 'reset' }, caller)
        await recordEvent(transaction, { type: 'password.reset', userId, details: { method } }, caller)
      }),

    // Not while the account is disabled.
    isStillValid: async ({ userId = '' }, queries) => (await lockUser(queries, userId))?.disabled === false,
  }
}

/** An account that an operator has made, and that nobody has entered. It has no second factor yet. */
const inviteRow = ({ db, links, enterInvited }: EntryTableDeps): EntryRow => ({
  async requireAccount(link) {
    const user = await findUserById(db, link.userId ?? '')
    if (!isAccountOf(user, link) || user.invitedAtMs === undefined) throw new DeadLinkError('invite', 'ended')
    return user
  },

  findAsked: () => undefined,

  requireConnectable({ emailLower }, { email }, { verifiedEmail }) {
    if (verifiedEmail?.lower === emailLower) return
    throw new AppError('forbidden', `This invitation is for ${email}.`, { reason: 'other_email', values: [email] })
  },

  async change(transaction, { link, user: { id: userId }, passwordHash, username, caller }) {
    // Before the link: whatever ends links locks the user first.
    await lockUserToChange(transaction, userId)
    await links.use(transaction, link)
    const { emailLower } = link
    if (!(await enterInvited(transaction, { userId, emailLower, passwordHash, username, caller })))
      throw new DeadLinkError('invite', 'ended')
  },

  // The change checks the account in the same transaction, and says what is wrong.
  isStillValid: async () => true,
})

/** Whether the link can have come by the account's mail alone. */
const provesEmail = ({ details }: Link): boolean => details.provesEmail !== 'no'

/** Whether the proof of an unverified address takes the account over. */
const canTakeOver = (link: Link, isOwnSession: boolean): boolean => provesEmail(link) && !isOwnSession

/** A link is good for the account as it was when it was made: with its address, and not disabled. */
const isAccountOf = (user: UserRecord | undefined, { emailLower }: Link): user is UserRecord =>
  user !== undefined && !user.disabled && user.emailLower === emailLower

const askedAtOf = ({ details }: Link): number => Number(details.askedAt)

/** Only what was there before the change was asked for. */
const askedBy = (link: Link): AskedFactor => ({ userId: link.userId ?? '', madeBeforeMs: askedAtOf(link) })
