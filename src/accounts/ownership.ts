import type { Caller } from '../lib/caller.ts'
import { AppError } from '../lib/errors.ts'
import type { Transaction } from '../storage/database.ts'
import type { Cause, Change } from './change.ts'
import { takenError } from './fields.ts'
import { lockUserToChange, type UserRecord } from './user-store.ts'

interface ProvedEmail {
  userId: string
  /** The address that was proved, in the form that is compared. */
  emailLower: string
  /** The owner of the address has chosen this password; without it, the account has none afterwards. */
  passwordHash?: string | undefined
  caller: Caller
}

/** The user chooses this. A value that is undefined stays. */
interface Chosen {
  username?: string | undefined
  name?: string | null | undefined
}

/** An operator gives this to an account. A value that is undefined stays, where the account was invited before. */
interface Given {
  username: string | undefined
  name: string | null | undefined
  language?: string | undefined
  roles: string[] | undefined
}

/** Decides to whom an account belongs, by proofs of its address and invitations. Each runs in the caller's transaction. */
export interface Ownership {
  /**
   * Marks the email of an account as verified, for a user who has proved the account and the email, each by itself. The
   * first verification counts.
   */
  markVerified(transaction: Transaction, userId: string, caller: Caller): Promise<void>
  /**
   * Gives an account to the owner of its address, by the first proof of that address. An attacker may have made the
   * account to lie in wait for its owner: with a password, sessions, providers, a change of address under way, a name, and
   * roles that an operator meant for the owner. All of that ends in this transaction, and none of it lets the attacker back in.
   * False, and nothing is changed, where the address was proved before or is another one by now, or where the account is
   * disabled.
   *
   * The caller uses up its own link before the call, which ends all links. A provider or passkey that proves the address
   * is added after it. The owner sees what is recorded from here on.
   */
  reclaim(transaction: Transaction, proved: ProvedEmail, cause: ReclaimCause): Promise<boolean>
  /**
   * Lets the user enter an account that was made by an invitation: by its link, or with a provider that has verified the
   * address. The email is verified from then on, and no other link of the account is good any more. False, and nothing is
   * changed, when the account was entered before, has another email by now, or is disabled; `conflict` for a taken
   * username. A provider or passkey is added after the call.
   */
  enterInvited(transaction: Transaction, proved: ProvedEmail & Chosen): Promise<boolean>
  /**
   * Makes an account that exists one that waits for its user, or leaves it one. The caller has locked the user. Nothing
   * is left of an account that a user made with an address that they never proved. `conflict` for any other account, and
   * for a taken username.
   */
  makeInvited(transaction: Transaction, user: UserRecord, given: Given, caller?: Caller): Promise<void>
}

type ReclaimCause = Pick<Cause, 'method' | 'signsInWith'> & {
  by: 'reclaim' | 'reclaim_by_reset' | 'reclaim_by_verification' | 'reclaim_by_sign_in'
}

export const createOwnership = (change: Change): Ownership => ({
  async markVerified(transaction, userId, caller) {
    await change(transaction, userId, { emailVerified: true }, { by: 'proof', caller })
  },

  async reclaim(transaction, { userId, emailLower, passwordHash = null, caller }, cause) {
    // First, so that nobody signs in or connects a provider at the same moment.
    const user = await lockUserToChange(transaction, userId)
    if (!isOf(user, emailLower) || user.emailVerifiedAtMs !== undefined) return false
    const given = user.isSelfMade ? { roles: [], name: null, language: caller?.language ?? null } : {}
    await change(transaction, userId, { emailVerified: true, passwordHash, ...given }, { ...cause, caller })
    return true
  },

  async enterInvited(transaction, { userId, emailLower, passwordHash = null, username, name, caller }) {
    const user = await lockUserToChange(transaction, userId)
    if (!isOf(user, emailLower) || user.invitedAtMs === undefined) return false
    const changes = { emailVerified: true, passwordHash, username, name }
    await orTaken(change(transaction, userId, changes, { by: 'entry', caller }))
    return true
  },

  async makeInvited(transaction, user, { username, name, language, roles }, caller) {
    const { id, email, disabled, emailVerifiedAtMs, invitedAtMs, isSelfMade } = user
    if (disabled) throw new AppError('conflict', `The account of ${email} is disabled: enable it first.`)
    if (invitedAtMs !== undefined) {
      await orTaken(change(transaction, id, { username, name, language, roles }, { by: 'invitation', caller }))
      return
    }
    if (!isSelfMade || emailVerifiedAtMs !== undefined) throw hasAccount(email)
    const changes = {
      username,
      name: name ?? null,
      language: language ?? null,
      roles: roles ?? [],
      passwordHash: null,
      invited: true,
    }
    await orTaken(change(transaction, id, changes, { by: 'reclaim', method: 'invitation', caller }))
  },
})

const isOf = (user: UserRecord | undefined, emailLower: string): user is UserRecord =>
  user !== undefined && !user.disabled && user.emailLower === emailLower

const orTaken = async (changed: Promise<unknown>): Promise<void> => {
  try {
    await changed
  } catch (error) {
    throw takenError(error)
  }
}

const hasAccount = (email: string): AppError =>
  new AppError('conflict', `${email} has an account already, which its user has entered. It needs no invitation.`)
