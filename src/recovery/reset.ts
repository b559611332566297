import type { RecordEvent } from '../audit/audit-event.ts'
import type { Caller } from '../lib/caller.ts'
import type { SignInGrant } from '../sessions/sign-in-grant.ts'
import type { Transaction } from '../storage/database.ts'
import type { Notify } from '../accounts/account-notice.ts'
import type { AnnounceUpdate } from '../accounts/announcement.ts'
import type { RequireGoodPassword } from '../accounts/passwords/password-rules.ts'
import type { Passwords } from '../accounts/passwords/passwords.ts'
import type { ApplySecurityEvent } from '../accounts/security-events.ts'
import type { TakeOver } from '../accounts/take-over.ts'
import { markEmailVerified } from '../accounts/email-proof-store.ts'
import { updatePasswordHash } from '../accounts/passwords/password-hash-store.ts'
import { findUserById, lockUser, type UserRecord } from '../accounts/user-store.ts'
import { DeadLinkError, type Link } from './link.ts'
import { type AskedFactor, type HasFactor, type ProvedFactor, useFactor } from './proved-factor.ts'
import type { EnterByProvider } from './provider-entry.ts'
import { createResetLinks, type ResetLinks, type ResetLinksDeps } from './reset-links.ts'

interface EnteredPassword {
  link: Link
  password: string
  factor: ProvedFactor | undefined
  /** Whether the browser has a session of the account: then the proof of an unverified address is no take-over. */
  isOwnSession: boolean
}

/** A new password that is good. Nothing was changed yet. */
interface CheckedReset {
  grant: SignInGrant
  /** Uses the link up, and changes the account; a `DeadLinkError` when another request was first. */
  apply: (transaction: Transaction) => Promise<void>
}

/** A new password by a link, which the user has asked for, or an operator has made. */
export interface PasswordReset extends ResetLinks {
  /** The account of a live link. */
  requireAccount(link: Link): Promise<UserRecord>
  /** Whose second factor must be proved before anything changes; undefined for a take-over. */
  findAsked(entered: Pick<EnteredPassword, 'link' | 'isOwnSession'>): Promise<AskedFactor | undefined>
  /** Checks and hashes a new password; `unprocessable` when it breaks a rule, and the link stays good. */
  check(entered: EnteredPassword, caller: Caller): Promise<CheckedReset>
  /** Without a password, which ends if there is one: nobody has proved to know it. */
  enterByProvider: EnterByProvider
}

export interface PasswordResetDeps extends ResetLinksDeps {
  passwords: Passwords
  requireGoodPassword: RequireGoodPassword
  applySecurityEvent: ApplySecurityEvent
  announceUpdate: AnnounceUpdate
  takeOver: TakeOver
  notify: Notify
  recordEvent: RecordEvent
  hasFactor: HasFactor
  /** Lets logins of the account begin to count from zero. */
  unlockLogins: (transaction: Transaction, account: { emailLower: string; userId: string }) => Promise<void>
}

export const createPasswordReset = (deps: PasswordResetDeps): PasswordReset => {
  const { db, clock, links, passwords, requireGoodPassword, applySecurityEvent, announceUpdate } = deps
  const { takeOver, notify, recordEvent, hasFactor, unlockLogins } = deps

  const requireAccount = async (link: Link): Promise<UserRecord> => {
    const user = link.userId === undefined ? undefined : await findUserById(db, link.userId)
    if (!isAccountOf(user, link)) throw new DeadLinkError('reset', 'ended')
    return user
  }

  const grantFor = ({ id: userId }: UserRecord, link: Link, amr: SignInGrant['amr']): SignInGrant => ({
    userId,
    authenticatedAtMs: clock.now(),
    amr,
    isStillValid: async (queries) => isAccountOf(await lockUser(queries, userId), link),
  })

  const changeAccount = async (
    transaction: Transaction,
    { user, link, isOwnSession, factor, passwordHash, method, caller }: Reset,
  ): Promise<void> => {
    const { id: userId, emailLower } = user
    const mayTakeOver = canTakeOver(link, isOwnSession)
    const proved = { userId, emailLower, passwordHash, method: 'link', signsInWith: method, caller }
    if (mayTakeOver && (await takeOver(transaction, proved))) return
    await useFactor(transaction, hasFactor, { userId }, factor)
    await updatePasswordHash(transaction, { id: userId, hash: passwordHash ?? null, nowMs: clock.now() })
    const verified = provesEmail(link) ? await markEmailVerified(transaction, userId, clock.now()) : 0
    await recordEvent(transaction, { type: 'password.reset', userId, details: { method } }, caller)
    await applySecurityEvent(transaction, 'password_reset', { userId, caller })
    if (verified === 0) return
    await announceUpdate(transaction, userId, ['email_verified'])
    await recordEvent(transaction, { type: 'email.verified', userId }, caller)
  }

  return {
    ...createResetLinks(deps),
    requireAccount,

    async findAsked({ link, isOwnSession }) {
      const { id: userId, emailVerifiedAtMs } = await requireAccount(link)
      return emailVerifiedAtMs === undefined && canTakeOver(link, isOwnSession) ? undefined : { userId }
    },

    async check({ link, password, isOwnSession, factor }, caller) {
      const user = await requireAccount(link)
      const accepted = await requireGoodPassword(password, [user.email, user.username])
      const passwordHash = await passwords.hash(accepted, caller)
      return {
        grant: grantFor(user, link, factor?.amrAfter('pwd') ?? ['pwd']),
        async apply(transaction) {
          await links.use(transaction, link)
          const proved = { user, link, isOwnSession, factor, caller }
          await changeAccount(transaction, { ...proved, passwordHash, method: 'password' })
          await unlockLogins(transaction, { emailLower: user.emailLower, userId: user.id })
          await notify(transaction, user.id, { kind: 'password_changed', how: 'reset' }, caller)
        },
      }
    },

    async enterByProvider({ link, proof, isOwnSession, factor, caller }) {
      const user = await requireAccount(link)
      return {
        grant: grantFor(user, link, factor?.amrAfter('fed') ?? ['fed']),
        async apply(transaction) {
          await links.use(transaction, link)
          await changeAccount(transaction, { user, link, isOwnSession, factor, method: proof.method, caller })
          await proof.connect(transaction, user.id)
        },
      }
    },
  }
}

interface Reset extends Omit<EnteredPassword, 'password'> {
  user: UserRecord
  /** Undefined: the account has no password afterwards. */
  passwordHash?: string
  /** What the user signs in with from now on, for the record. */
  method: string
  caller: Caller
}

/** Whether the proof of an unverified address takes the account over. */
const canTakeOver = (link: Link, isOwnSession: boolean): boolean => provesEmail(link) && !isOwnSession

/** Whether the link can have come by the account's mail alone. */
const provesEmail = ({ details }: Link): boolean => details.provesEmail !== 'no'

/** A link is good for the account as it was when it was made: with its address, and not disabled. */
const isAccountOf = (user: UserRecord | undefined, { emailLower }: Link): user is UserRecord =>
  user !== undefined && !user.disabled && user.emailLower === emailLower
