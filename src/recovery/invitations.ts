import type { Caller } from '../lib/caller.ts'
import { AppError, checkAllInTurn } from '../lib/errors.ts'
import type { SignInGrant } from '../sessions/sign-in-grant.ts'
import type { Transaction } from '../storage/database.ts'
import type { EnterInvited } from '../accounts/invited-account.ts'
import type { RequireGoodPassword } from '../accounts/passwords/password-rules.ts'
import type { Passwords } from '../accounts/passwords/passwords.ts'
import { findUserById, lockUserToChange, type UserRecord } from '../accounts/user-store.ts'
import { requireUsername } from '../accounts/username.ts'
import { createInvite, type Invite, type InviteDeps } from './invite.ts'
import { DeadLinkError, type Link } from './link.ts'
import type { EnterByProvider } from './provider-entry.ts'

/** What an invited user enters. */
interface Acceptance {
  link: Link
  password: string
  /** Empty or undefined: the username of the account stays. */
  username?: string | undefined
}

/** What was entered is good. Nothing was changed yet. */
interface CheckedAcceptance {
  grant: SignInGrant
  /** Uses the link up, and gives the account to its user; a `DeadLinkError` when another request was first. */
  apply: (transaction: Transaction) => Promise<void>
}

/** Accounts that an operator makes for others, who enter them by a link. */
export interface Invitations extends Invite {
  /** The account of a live link; a `DeadLinkError` when it is not the one any more that was invited. */
  requireAccount(link: Link): Promise<UserRecord>
  /** Checks and hashes the first password; `unprocessable` when it breaks a rule, and the link stays good. */
  check(acceptance: Acceptance, caller: Caller): Promise<CheckedAcceptance>
  /** In place of a password: `forbidden` unless the provider has verified the address of the invitation. */
  enterByProvider: EnterByProvider
}

export interface InvitationsDeps extends InviteDeps {
  passwords: Passwords
  requireGoodPassword: RequireGoodPassword
  enterInvited: EnterInvited
}

export const createInvitations = (deps: InvitationsDeps): Invitations => {
  const { db, clock, links, passwords, requireGoodPassword, enterInvited } = deps

  const requireAccount = async (link: Link): Promise<UserRecord> => {
    const user = link.userId === undefined ? undefined : await findUserById(db, link.userId)
    if (!isInvited(user, link)) throw new DeadLinkError('invite', 'ended')
    return user
  }

  const enter = async (transaction: Transaction, { link, ...account }: Entry): Promise<void> => {
    // Before the link: whatever ends links locks the user first.
    await lockUserToChange(transaction, account.userId)
    await links.use(transaction, link)
    if (!(await enterInvited(transaction, { ...account, emailLower: link.emailLower })))
      throw new DeadLinkError('invite', 'ended')
  }

  /** Always valid, because `apply` checks the account in the same transaction, and says what is wrong. */
  const grantFor = ({ id: userId }: UserRecord): SignInGrant => ({
    userId,
    authenticatedAtMs: clock.now(),
    amr: ['pwd'],
    isStillValid: async () => true,
  })

  return {
    ...createInvite(deps),
    requireAccount,

    async check({ link, password, username }, caller) {
      const user = await requireAccount(link)
      const chosen = await checkAllInTurn({
        username: () => (username ? requireUsername(username) : undefined),
        password: () => requireGoodPassword(password, [user.email, username || user.username]),
      })
      const passwordHash = await passwords.hash(chosen.password, caller)
      return {
        grant: grantFor(user),
        apply: (transaction) =>
          enter(transaction, { link, userId: user.id, passwordHash, username: chosen.username, caller }),
      }
    },

    async enterByProvider({ link, proof, caller }) {
      const user = await requireAccount(link)
      if (proof.verifiedEmail?.lower !== link.emailLower) throw otherEmail(user.email)
      return {
        grant: grantFor(user),
        async apply(transaction) {
          await enter(transaction, { link, userId: user.id, caller })
          await proof.connect(transaction, user.id)
        },
      }
    },
  }
}

interface Entry {
  link: Link
  userId: string
  passwordHash?: string | undefined
  username?: string | undefined
  caller: Caller
}

/** A link is good for the account as it was when it was made: with its address, not disabled, and not entered yet. */
const isInvited = (user: UserRecord | undefined, { emailLower }: Link): user is UserRecord =>
  user !== undefined && !user.disabled && user.invitedAtMs !== undefined && user.emailLower === emailLower

const otherEmail = (email: string): AppError =>
  new AppError('forbidden', `This invitation is for ${email}.`, { reason: 'other_email', values: [email] })
