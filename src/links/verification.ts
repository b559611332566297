import type { Caller } from '../lib/caller.ts'
import type { SignInGrant } from '../sessions/sign-in-grant.ts'
import { amrOf } from '../sign-in/amr.ts'
import type { Queries, Transaction } from '../storage/database.ts'
import {
  findUserById,
  lockUser,
  lockUserToChange,
  updateSignupBrowser,
  type UserRecord,
} from '../accounts/user-store.ts'
import type { CheckedEntry } from './entry.ts'
import { DeadLinkError, isAccountOf, type Link } from './link.ts'
import type { IssuedLinks } from './issued-links.ts'
import { knownDevice } from '../lib/device.ts'
import type { LinksDeps } from './links-deps.ts'

export interface AskingBrowser {
  /** It recognises the browser when the link is opened. */
  hash: string
  network: string
  userAgent: string
  /** The user wants to go to this address; it counts in this browser only. */
  returnTo?: string | undefined
}

/** Writes a message with a link to an address that is not verified, within the limits. */
const createVerificationMessage =
  ({ clock, mode, lifetimes, issued, limits, mail }: VerificationDeps) =>
  async (transaction: Transaction, user: UserRecord, browser: AskingBrowser, isProved: boolean): Promise<void> => {
    if (mode === 'off' || !mail.isOn) return
    const { id: userId, email, emailLower } = user
    // Anybody can sign up. A message after a password or a session counts by itself, and strangers fill no limit of it.
    const request = isProved
      ? ({ purpose: 'verify', emailLower, userId } as const)
      : ({ purpose: 'signup', emailLower, network: browser.network } as const)
    const mayAsk = await limits.mayAsk(transaction, request)
    if (!mayAsk || !(await limits.mayMailUnverified(transaction, request.purpose, emailLower))) return
    const details = { browser: browser.hash, returnTo: browser.returnTo }
    const newLink = { purpose: 'verify', userId, emailLower, details, lifetimeMs: lifetimes.verifyMs } as const
    const { link, url } = await issued.create(transaction, newLink)
    const { id: linkId, expiresAtMs } = link
    const about = { email, occurredAtMs: clock.now(), device: knownDevice(browser.userAgent) }
    const message = { kind: 'verify' as const, ...about, url, lifetimeMs: lifetimes.verifyMs }
    await mail.write(transaction, { to: email, userId, message, linkId, expiresAtMs })
  }

/** Verifies the email of an account, by a link in a message. */
export interface Verification {
  mode: LinksDeps['mode']
  /**
   * Notes the browser of a signup, and writes a message with a link, in the transaction of the signup. No message is
   * written past the limits, and if none are sent.
   */
  send(transaction: Transaction, userId: string, browser: AskingBrowser): Promise<void>
  /**
   * Does the same for a user who has proved the account by a password or a session, unless the email is verified by
   * now.
   */
  sendAgain(userId: string, browser: AskingBrowser): Promise<void>
  /** Finds the account, if its user has to prove its email before a session starts. */
  findUnproved(userId: string): Promise<UserRecord | undefined>
  /** Finds the account of a live link; it throws a `DeadLinkError` when it has another email by now, or is disabled. */
  requireAccount(link: Link): Promise<UserRecord>
  /**
   * Uses the link up, in the transaction that starts a session, for a user who has proved the account too: by the
   * browser that signed up, a session or the password. It throws a `DeadLinkError` when another request was first.
   */
  verifyIn(link: Link, caller: Caller): (transaction: Transaction) => Promise<void>
  /** Gives a grant for the browser that signed up. */
  grantFor(link: Link): SignInGrant
  /**
   * Serves a user who has proved the email alone. It checks and hashes the password that they choose, and throws
   * `unprocessable` on `new_password` when it breaks a rule. The account becomes theirs.
   */
  checkReclaim(link: Link, password: string, caller: Caller): Promise<CheckedEntry>
}

type VerificationDeps = Pick<LinksDeps, 'clock' | 'db' | 'lifetimes' | 'limits' | 'issued' | 'mail' | 'mode'> &
  Pick<LinksDeps, 'markVerified' | 'passwords' | 'reclaim' | 'requireGoodPassword'>

export const createVerification = (deps: VerificationDeps): Verification => {
  const { db, clock, mode, issued, passwords, requireGoodPassword, markVerified, reclaim } = deps
  const writeMessage = createVerificationMessage(deps)

  const sendAgain: Verification['sendAgain'] = (userId, browser) =>
    db.inTransaction(async (transaction) => {
      const user = await lockUser(transaction, userId)
      if (isUnproved(user)) await writeMessage(transaction, user, browser, true)
    })

  const grantFor = (link: Link): SignInGrant => ({
    userId: userIdOf(link),
    authenticatedAtMs: clock.now(),
    amr: amrOf('link'),
    isStillValid: async (queries) => isAccountOf(await lockUser(queries, userIdOf(link)), link),
  })

  return {
    mode,
    sendAgain,
    requireAccount: (link) => requireAccountOf(db, link),
    grantFor,

    async send(transaction, userId, browser) {
      await updateSignupBrowser(transaction, userId, browser.hash)
      const user = await findUserById(transaction, userId)
      if (user) await writeMessage(transaction, user, browser, false)
    },

    async findUnproved(userId) {
      if (mode !== 'required') return undefined
      const user = await findUserById(db, userId)
      return isUnproved(user) ? user : undefined
    },

    verifyIn: (link, caller) => async (transaction) => {
      await requireAndUse(transaction, issued, link)
      await markVerified(transaction, userIdOf(link), caller)
      // Other messages about the same address have nothing left to prove.
      await issued.replace(transaction, link)
    },

    async checkReclaim(link, password, caller) {
      const { email, username } = await requireAccountOf(db, link)
      const passwordHash = await passwords.hash(
        await requireGoodPassword(password, [email, username], 'new_password'),
        caller,
      )
      return {
        grant: grantFor(link),
        async apply(transaction) {
          await requireAndUse(transaction, issued, link)
          const userId = userIdOf(link)
          const proved = { userId, emailLower: link.emailLower, passwordHash, caller }
          const cause = { by: 'reclaim_by_verification', method: 'link', signsInWith: 'password' } as const
          // If it is false, the email was verified a moment ago, and the account has an owner.
          if (!(await reclaim(transaction, proved, cause))) throw new DeadLinkError('verify', 'ended')
        },
      }
    },
  }
}

/** Locks the user first, as every change of an account does, and makes sure that the link is still about the account. */
const requireAndUse = async (transaction: Transaction, issued: IssuedLinks, link: Link): Promise<void> => {
  await lockUserToChange(transaction, userIdOf(link))
  await issued.use(transaction, link)
  await requireAccountOf(transaction, link)
}

const requireAccountOf = async (queries: Queries, link: Link): Promise<UserRecord> => {
  const user = await findUserById(queries, userIdOf(link))
  if (isAccountOf(user, link)) return user
  throw new DeadLinkError('verify', 'ended')
}

const isUnproved = (user: UserRecord | undefined): user is UserRecord =>
  user !== undefined && user.emailVerifiedAtMs === undefined

const userIdOf = ({ userId = '' }: Link): string => userId
