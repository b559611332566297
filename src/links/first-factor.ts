import { findKnownSince } from '../sign-in/known-browser-store.ts'
import type { Caller } from '../lib/caller.ts'
import { AppError } from '../lib/errors.ts'
import type { Queries, Transaction } from '../storage/database.ts'
import { findUserById, lockUserToChange, type UserRecord } from '../accounts/user-store.ts'
import { DeadLinkError, hashToken, isAccountOf, type Link, provesEmail } from './link.ts'
import { hasUsedLink } from './link-store.ts'
import type { AskingBrowser } from './verification.ts'
import { knownDevice } from '../lib/device.ts'
import { findEarlierEmail } from '../accounts/email-store.ts'
import type { LinksDeps } from './links-deps.ts'

const LIFETIME_MS = 1_800_000

/** Writes the message that comes before the first second factor or passkey of an account. */
const createFirstFactorMessage = ({ clock, mail, issued, limits }: FirstFactorDeps) => {
  /** The message goes to the address that the account had 72 hours ago, if it was proved. */
  const addressOf = async (queries: Queries, { id, email, emailLower }: UserRecord): Promise<string> => {
    const earlier = await findEarlierEmail(queries, id, clock.now())
    return earlier === undefined || earlier === emailLower ? email : earlier
  }

  return {
    addressOf,

    /** Nothing is sent past the limits. */
    async write(transaction: Transaction, user: UserRecord, browser: AskingBrowser): Promise<void> {
      const { id: userId, email, emailLower, emailVerifiedAtMs } = user
      const to = await addressOf(transaction, user)
      const isEarlier = to !== email
      const asked = { purpose: 'first_factor', emailLower: isEarlier ? to : emailLower, userId } as const
      if (!(await limits.mayAsk(transaction, asked))) return
      const isUnproved = emailVerifiedAtMs === undefined && !isEarlier
      if (isUnproved && !(await limits.mayMailUnverified(transaction, 'first_factor', emailLower))) return
      const { link, url } = await issued.create(transaction, {
        purpose: 'first_factor',
        userId,
        emailLower,
        details: { browser: browser.hash, returnTo: browser.returnTo, ...(isEarlier && { provesEmail: 'no' }) },
        lifetimeMs: LIFETIME_MS,
      })
      const { id: linkId, expiresAtMs } = link
      const about = { email, occurredAtMs: clock.now(), device: knownDevice(browser.userAgent) }
      const message = { kind: 'first_factor' as const, ...about, url, lifetimeMs: LIFETIME_MS }
      await mail.write(transaction, { to, userId, message, linkId, expiresAtMs })
    },
  }
}

const HOUR_MS = 3_600_000

/** A thief who is new is found out by then: the owner was told of the sign-in from a new browser. */
const KNOWN_AFTER_MS = 72 * HOUR_MS
/** A link that was followed counts for this long: the time is enough to set something up. */
const PROVED_MS = HOUR_MS / 2

/** A transaction in which something is set up can ask this subject. */
export type FirstFactorQueries = Queries

/** A browser holds these secrets in its cookies. */
export interface ProvingBrowser {
  /** Accounts know the browser by this secret. */
  device: string | undefined
  /** It recognises the browser as the one that has asked for a link. */
  link: string | undefined
  /** It tells whether the user has just come by another link to the address of the account. */
  cameByMail?: boolean
}

/**
 * Guards the first passkey or second factor of an account. The user who sets it up decides who gets into the account
 * from then on, and a thief of the password must not be that user. A browser that the account has not known for long
 * must therefore have followed a link to its address: to that of 72 hours ago, since such a thief could change it
 * first.
 */
export interface FirstFactor {
  /** Tells whether one may be set up here and now; it is true for any that is not the first. */
  isAllowed(userId: string, browser: ProvingBrowser, queries?: Queries): Promise<boolean>
  /** Throws `forbidden` with reason `mail_first` unless it is allowed. Every set-up calls it in its transaction. */
  require(userId: string, browser: ProvingBrowser, queries?: Queries): Promise<void>
  /** Finds the address that the link goes to. */
  findAddress(userId: string): Promise<string | undefined>
  /** Sends the link. Nothing is sent past the limits. */
  send(userId: string, browser: AskingBrowser): Promise<void>
  /**
   * Uses the link up, in the browser that has asked for it; the address that it went to is verified then, if it is that
   * of the account. It throws a `DeadLinkError` when it is no longer good, or the account has another address by now.
   */
  prove(link: Link, caller: Caller): Promise<void>
}

type FirstFactorDeps = Pick<LinksDeps, 'clock' | 'db' | 'hasFactors' | 'limits' | 'issued' | 'mail' | 'markVerified'>

export const createFirstFactor = (deps: FirstFactorDeps): FirstFactor => {
  const { db, clock, mail, issued, markVerified, hasFactors } = deps
  const message = createFirstFactorMessage(deps)

  const isKnown = async (queries: Queries, userId: string, { device }: ProvingBrowser): Promise<boolean> => {
    const sinceMs = device === undefined ? undefined : await findKnownSince(queries, userId, hashToken(device))
    return sinceMs !== undefined && clock.now() - sinceMs >= KNOWN_AFTER_MS
  }

  const isProved = async (queries: Queries, userId: string, { link }: ProvingBrowser): Promise<boolean> =>
    link !== undefined &&
    (await hasUsedLink(queries, {
      userId,
      purpose: 'first_factor',
      browser: hashToken(link),
      sinceMs: clock.now() - PROVED_MS,
    }))

  const isAllowed = async (userId: string, browser: ProvingBrowser, queries: Queries = db): Promise<boolean> => {
    if (!mail.isOn) return true
    const user = await findUserById(queries, userId)
    // A new account holds nothing yet that a thief would be kept from.
    if (!user || clock.now() - user.createdAtMs < KNOWN_AFTER_MS) return true
    return (
      (browser.cameByMail && (await message.addressOf(queries, user)) === user.email) ||
      (await hasFactors(queries, userId)) ||
      (await isKnown(queries, userId, browser)) ||
      isProved(queries, userId, browser)
    )
  }

  return {
    isAllowed,

    async require(userId, browser, queries) {
      if (await isAllowed(userId, browser, queries)) return
      throw new AppError('forbidden', 'Open the link in our message first, in this browser.', { reason: 'mail_first' })
    },

    async findAddress(userId) {
      const user = await findUserById(db, userId)
      return user && message.addressOf(db, user)
    },

    send: (userId, browser) =>
      db.inTransaction(async (transaction) => {
        await lockUserToChange(transaction, userId)
        const user = await findUserById(transaction, userId)
        if (user && !user.disabled) await message.write(transaction, user, browser)
      }),

    prove: (link, caller) =>
      db.inTransaction(async (transaction) => {
        const { userId = '' } = link
        await lockUserToChange(transaction, userId)
        const user = await findUserById(transaction, userId)
        if (!isAccountOf(user, link)) throw new DeadLinkError('first_factor', 'ended')
        await issued.use(transaction, link)
        if (user.emailVerifiedAtMs === undefined && provesEmail(link)) await markVerified(transaction, userId, caller)
      }),
  }
}
