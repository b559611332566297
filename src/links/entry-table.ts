import { orEmailTaken } from '../accounts/fields.ts'
import type { Caller } from '../lib/caller.ts'
import type { Email } from '../lib/email-address.ts'
import { AppError } from '../lib/errors.ts'
import type { Proof } from '../sign-in/amr.ts'
import type { Queries, Transaction } from '../storage/database.ts'
import { findUserById, lockUser, lockUserToChange, requireUserById, type UserRecord } from '../accounts/user-store.ts'
import type { LinksDeps } from './links-deps.ts'
import { DeadLinkError, emailOfLink, type EntryPurpose, isAccountOf, type Link, provesEmail } from './link.ts'
import { type AskedFactor, type ProvedFactor, useFactor } from '../sign-in/asked-factor.ts'

/** A user chooses an account at a provider, or a new passkey, in place of a password. */
export interface Connectable {
  /** A new passkey proves nothing yet: the link stands for a password. */
  proof: Extract<Proof, 'link' | 'provider' | 'provider_with_factor'>
  /** It is the provider's name in the settings, or `passkey`, for the record. */
  method: string
  provider?: string | undefined
  /** It is undefined if the provider has verified none. */
  verifiedEmail: Email | undefined
  /** An invited account without a name gets this one, where it is accepted. */
  fullName?: string | undefined
  /** Connects it to a user whose row the transaction has locked; it throws `conflict` if another user has it. */
  connect(transaction: Transaction, userId: string): Promise<void>
}

interface EntryChange {
  link: Link
  user: UserRecord
  isOwnSession: boolean
  factor: ProvedFactor | undefined
  /** The record names the way in which the user signs in from now on. */
  method: string
  /** It is undefined if the account has no password afterwards, since nobody has proved to know it. */
  passwordHash?: string | undefined
  username?: string | undefined
  name?: string | null | undefined
  caller: Caller
}

/** These are the rules of the links of one purpose. */
interface EntryRow {
  requireAccount(link: Link): Promise<UserRecord>
  findAsked(link: Link, user: UserRecord, isOwnSession: boolean): AskedFactor | undefined
  /** Refuses a choice that cannot stand in place of a password. */
  requireConnectable?(link: Link, user: UserRecord, chosen: Connectable): void
  /** Uses the link up, and changes the account. */
  change(transaction: Transaction, change: EntryChange): Promise<void>
  /** Tells whether a session may start, once the change is made. */
  isStillValid(link: Link, queries: Queries): Promise<boolean>
}

export type EntryTableDeps = Pick<
  LinksDeps,
  'change' | 'db' | 'enterInvited' | 'findAsked' | 'issued' | 'reclaim' | 'unlockLogins'
>

/**
 * THE table of the links by which a user enters an account says what each changes and ends, and what it asks for first.
 */
export const createEntryTable = (deps: EntryTableDeps): Record<EntryPurpose, EntryRow> => ({
  reset: resetRow(deps),
  undo: undoRow(deps),
  invite: inviteRow(deps),
})

/** Sets a new password. The first proof of an unverified address gives the account to the owner of the address. */
const resetRow = ({ db, issued, change, reclaim, findAsked, unlockLogins }: EntryTableDeps): EntryRow => {
  const changeAccount = async (transaction: Transaction, entry: EntryChange): Promise<void> => {
    const { user, link, isOwnSession, factor, passwordHash, method: signsInWith, caller } = entry
    const { id: userId, emailLower } = user
    const cause = { by: 'reclaim_by_reset', method: 'link', signsInWith } as const
    const proved = { userId, emailLower, passwordHash, caller }
    if (canReclaim(link, isOwnSession) && (await reclaim(transaction, proved, cause))) return
    await useFactor(transaction, findAsked, { userId }, factor)
    const changes = { passwordHash: passwordHash ?? null, emailVerified: provesEmail(link) || undefined }
    await change(transaction, userId, changes, { by: 'reset', signsInWith, caller })
  }

  return {
    async requireAccount(link) {
      const user = await findUserById(db, link.userId ?? '')
      if (!isAccountOf(user, link)) throw new DeadLinkError('reset', 'ended')
      return user
    },

    findAsked: (link, { id: userId, emailVerifiedAtMs }, isOwnSession) =>
      emailVerifiedAtMs === undefined && canReclaim(link, isOwnSession) ? undefined : { userId },

    async change(transaction, entry) {
      const { link, user, passwordHash } = entry
      await issued.use(transaction, link)
      await changeAccount(transaction, entry)
      if (passwordHash !== undefined) await unlockLogins(transaction, { ...user, userId: user.id })
    },

    isStillValid: async (link, queries) => isAccountOf(await lockUser(queries, link.userId ?? ''), link),
  }
}

/**
 * Puts back the address that the account had when the link was made. Everything that was added since the change was
 * asked for goes.
 */
const undoRow = ({ db, issued, change, findAsked }: EntryTableDeps): EntryRow => ({
  requireAccount: ({ userId = '' }) => requireUserById(db, userId),
  findAsked: (link) => askedBy(link),

  change: (transaction, { link, factor, passwordHash = null, method: signsInWith, caller }) =>
    orEmailTaken(async () => {
      const { userId = '', details } = link
      await lockUserToChange(transaction, userId)
      await issued.use(transaction, link)
      await useFactor(transaction, findAsked, askedBy(link), factor)
      // The account has this address before the change of address is made.
      const email = emailOfLink(link)
      const changes = { email, emailVerified: true, verifiedAtMs: Number(details.verifiedAt), passwordHash }
      await change(transaction, userId, changes, { by: 'undo', sinceMs: askedAtOf(link), signsInWith, caller })
    }),

  // No session may start while the account is disabled.
  isStillValid: async ({ userId = '' }, queries) => (await lockUser(queries, userId))?.disabled === false,
})

/** Enters an account that an operator has made, and that nobody has entered. It has no second factor yet. */
const inviteRow = ({ db, issued, enterInvited }: EntryTableDeps): EntryRow => ({
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

  async change(transaction, { link, user: { id: userId }, passwordHash, username, name, caller }) {
    // The lock comes before the link: everything that ends links locks the user first.
    await lockUserToChange(transaction, userId)
    await issued.use(transaction, link)
    const { emailLower } = link
    if (!(await enterInvited(transaction, { userId, emailLower, passwordHash, username, name, caller })))
      throw new DeadLinkError('invite', 'ended')
  },

  // The change checks the account in the same transaction, and says what is wrong.
  isStillValid: async () => true,
})

/** Tells whether the proof of an unverified address reclaims the account. */
const canReclaim = (link: Link, isOwnSession: boolean): boolean => provesEmail(link) && !isOwnSession

const askedAtOf = ({ details }: Link): number => Number(details.askedAt)

/** A factor counts only if it was there before the change was asked for. */
const askedBy = (link: Link): AskedFactor => ({ userId: link.userId ?? '', madeBeforeMs: askedAtOf(link) })
