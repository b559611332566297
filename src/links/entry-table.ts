import { orEmailTaken } from '../accounts/fields.ts'
import { AppError } from '../lib/errors.ts'
import type { Queries, Transaction } from '../storage/database.ts'
import {
  findUserById,
  hasSignedUpIn,
  lockUser,
  lockUserToChange,
  requireUserById,
  type UserRecord,
} from '../accounts/user-store.ts'
import type { Entered, EntryChange, EntryRow, EntryTableDeps } from './entry-row.ts'
import { DeadLinkError, emailOfLink, type EnteringPurpose, isAccountOf, type Link, provesEmail } from './link.ts'
import { type AskedFactor, useFactor } from '../sign-in/asked-factor.ts'

/**
 * THE table of the links by which a user enters an account says what each changes and ends, and what it asks for first.
 */
export const createEntryTable = (deps: EntryTableDeps): Record<EnteringPurpose, EntryRow> => ({
  reset: resetRow(deps),
  undo: undoRow(deps),
  invite: inviteRow(deps),
  sign_in: signInRow(deps),
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

/**
 * Signs in to the account as it is; a second factor is asked for afterwards. The first proof of its address enters an
 * invited account, and gives any other to the owner of the address, unless the browser has signed up for it, or has a
 * session of it.
 */
const signInRow = (deps: EntryTableDeps): EntryRow => {
  const { db, issued, enterInvited, markVerified, reclaim, needsPasskey } = deps

  const reclaims = async ({ link, browser, isOwnSession }: Entered, user: UserRecord, queries: Queries = db) => {
    const { id, emailVerifiedAtMs, invitedAtMs } = user
    if (!canReclaim(link, isOwnSession) || emailVerifiedAtMs !== undefined || invitedAtMs !== undefined) return false
    return !(await hasSignedUpIn(queries, id, browser.link))
  }

  const proveEmail = async (transaction: Transaction, entry: EntryChange, user: UserRecord): Promise<boolean> => {
    const { name, caller } = entry
    const { id: userId, emailLower } = user
    const proved = { userId, emailLower, caller }
    if (user.invitedAtMs !== undefined) return enterInvited(transaction, { ...proved, name })
    if (await reclaims(entry, user, transaction))
      return reclaim(transaction, proved, { by: 'reclaim_by_sign_in', method: 'link' })
    await markVerified(transaction, userId, caller)
    await issued.replace(transaction, { purpose: 'verify', userId, emailLower })
    return true
  }

  return {
    async requireAccount(link) {
      const user = await findUserById(db, link.userId ?? '')
      if (!isAccountOf(user, link)) throw new DeadLinkError('sign_in', 'ended')
      return user
    },

    findAsked: () => undefined,
    reclaims,

    async change(transaction, entry) {
      const { link, user, browser } = entry
      const now = await lockUserToChange(transaction, user.id)
      if (await needsPasskey(user.id, browser.device, transaction)) throw passkeyNeeded()
      await issued.use(transaction, link)
      const isFirstProof = provesEmail(link) && now !== undefined && now.emailVerifiedAtMs === undefined
      if (isFirstProof && !(await proveEmail(transaction, entry, now))) throw new DeadLinkError('sign_in', 'ended')
    },

    isStillValid: async (link, queries) => isAccountOf(await lockUser(queries, link.userId ?? ''), link),
  }
}

/** The code, or the link, stays good. */
const passkeyNeeded = (): AppError =>
  new AppError('forbidden', 'This account has a passkey: log in with it, or in a browser that the account knows.', {
    reason: 'passkey_needed',
  })

/** Tells whether the proof of an unverified address reclaims the account. */
const canReclaim = (link: Link, isOwnSession: boolean): boolean => provesEmail(link) && !isOwnSession

const askedAtOf = ({ details }: Link): number => Number(details.askedAt)

/** A factor counts only if it was there before the change was asked for. */
const askedBy = (link: Link): AskedFactor => ({ userId: link.userId ?? '', madeBeforeMs: askedAtOf(link) })
