import type { Caller } from '../lib/caller.ts'
import type { Email } from '../lib/email-address.ts'
import { AppError, checkAll } from '../lib/errors.ts'
import type { Transaction } from '../storage/database.ts'
import {
  findUserByEmail,
  findUserById,
  lockUserToChange,
  requireUserById,
  type UserRecord,
} from '../accounts/user-store.ts'
import type { AlsoInsert } from '../accounts/accounts.ts'
import type { LinksDeps } from './links-deps.ts'
import { requireEmail, requireLanguage, requireRoles, requireUsername, type Names } from '../accounts/fields.ts'

export interface NewInvitation {
  email: string
  /** It is made from the email when left out. */
  username?: string | undefined
  /** The user may give it later, where one is required. */
  name?: string | undefined
  /** Their messages have it (BCP 47). */
  language?: string | undefined
  /** The user keeps them. They are left out for an account that was invited before: its roles stay. */
  roles?: string[] | undefined
  isMailed: boolean
}

export interface CheckedInvitation {
  email: Email
  username: string | undefined
  name: string | null | undefined
  language: string | undefined
  roles: string[] | undefined
}

/** Throws `unprocessable` for each field that breaks a rule. */
const requireInvitation = (
  { email, username, name, language, roles }: NewInvitation,
  names: Names,
): CheckedInvitation =>
  checkAll({
    email: () => requireEmail(email),
    username: () => (username === undefined ? undefined : requireUsername(username)),
    name: () => (name === undefined ? undefined : names.require(name)),
    language: () => (language === undefined ? undefined : requireLanguage(language)),
    roles: () => roles && requireRoles(roles),
  })

export interface Invite {
  /** Throws `unprocessable` for a bad field, and `conflict` for an account that cannot be invited. */
  invite(invitation: NewInvitation, caller?: Caller): Promise<Invited>
  /**
   * Makes a link for an account that an operator has made, in the transaction of the caller; it is not mailed. The user
   * of the link goes on to `returnTo`. It throws `conflict` for an account that anybody has entered, and for a disabled
   * one.
   */
  inviteIn(transaction: Transaction, userId: string, returnTo: string | undefined, caller: Caller): Promise<Invited>
}

/** The account waits for its user. */
interface Invited {
  userId: string
  /** It is the whole address of the link. */
  url: string
  expiresAtMs: number
}

type InviteDeps = Pick<
  LinksDeps,
  'clock' | 'db' | 'issued' | 'lifetimes' | 'mail' | 'makeInvited' | 'names' | 'recordEvent' | 'users'
>

type Account = Pick<UserRecord, 'id' | 'emailLower'>

interface Inviting {
  isMailed: boolean
  caller: Caller | undefined
}

/** A signup with the same address at the same moment may get in the way this often. */
const MAX_TRIES = 3

/**
 * Makes an account for the owner of an address, and a link by which they enter it. An account that was invited before
 * and not entered yet gets one more link. One that a user made with this address, and never proved it, becomes the
 * invited account: nothing of that user lets them back in. It throws `conflict` for any other account.
 */
export const createInvite = (deps: InviteDeps): Invite => {
  const { db, clock, mail, issued, recordEvent } = deps

  const createLink = async (transaction: Transaction, user: Account, returnTo?: string, caller?: Caller) => {
    const { id: userId, emailLower } = user
    await recordEvent(transaction, { type: 'user.invited', userId }, caller)
    const lifetimeMs = deps.lifetimes.inviteMs
    return issued.create(transaction, { purpose: 'invite', userId, emailLower, details: { returnTo }, lifetimeMs })
  }

  const writeLink = async (transaction: Transaction, userId: string, { shown, lower }: Email, how: Inviting) => {
    const { link, url } = await createLink(transaction, { id: userId, emailLower: lower }, undefined, how.caller)
    const { expiresAtMs } = link
    const message = {
      kind: 'invite',
      email: shown,
      occurredAtMs: clock.now(),
      url,
      lifetimeMs: deps.lifetimes.inviteMs,
    } as const
    if (how.isMailed) await mail.write(transaction, { to: shown, userId, message, linkId: link.id, expiresAtMs })
    return { userId, url, expiresAtMs }
  }

  const createAccount = async (
    { email, username, name = null, language, roles = [] }: CheckedInvitation,
    how: Inviting,
  ): Promise<Invited> => {
    let invited: Invited | undefined
    const insertLink: AlsoInsert = async (transaction, userId) => {
      invited = await writeLink(transaction, userId, email, how)
    }
    await deps.users.createInvited({ email, username, name, language: language ?? null, roles }, insertLink, how.caller)
    if (!invited) throw new AppError('internal_error', 'The account has no link.')
    return invited
  }

  const inviteExisting = ({ id }: UserRecord, { email, ...given }: CheckedInvitation, how: Inviting) =>
    db.inTransaction(async (transaction) => {
      await lockUserToChange(transaction, id)
      const user = await findUserById(transaction, id)
      if (user?.emailLower !== email.lower) throw accountChanged()
      await deps.makeInvited(transaction, user, given, how.caller)
      return writeLink(transaction, id, { shown: user.email, lower: user.emailLower }, how)
    })

  const invite: Invite['invite'] = async (invitation, caller) => {
    const how = { isMailed: invitation.isMailed, caller }
    const checked = requireInvitation(invitation, deps.names)
    for (let tries = 1; ; tries += 1) {
      const existing = await findUserByEmail(db, checked.email.lower)
      try {
        return await (existing ? inviteExisting(existing, checked, how) : createAccount(checked, how))
      } catch (error) {
        if (!isEmailTaken(error) || tries === MAX_TRIES) throw error
      }
    }
  }

  return {
    invite,

    async inviteIn(transaction, userId, returnTo, caller) {
      await lockUserToChange(transaction, userId)
      const user = await requireUserById(transaction, userId)
      if (user.disabled) throw notInvitable('disabled', 'The account is disabled: enable it first.')
      if (user.invitedAtMs === undefined)
        throw notInvitable('entered', 'The account was entered already: it needs no invitation.')
      const { link, url } = await createLink(transaction, user, returnTo, caller)
      return { userId, url, expiresAtMs: link.expiresAtMs }
    },
  }
}

/** It is the same refusal as for a signup that was first: the next try finds the account that there is now. */
const accountChanged = (): AppError =>
  new AppError('conflict', 'The account has changed at this moment: try again.', { reason: 'email_taken' })

const notInvitable = (reason: string, message: string): AppError =>
  new AppError('conflict', message, { field: 'purpose', reason })

const isEmailTaken = (error: unknown): boolean => error instanceof AppError && error.reason === 'email_taken'
