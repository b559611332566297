import { randomUUIDv7 } from 'node:crypto'
import type { Caller } from '../lib/caller.ts'
import { checkAllInTurn } from '../lib/errors.ts'
import type { MailRequest, OutgoingMessage } from '../mail/mail.ts'
import type { SignInGrant } from '../sessions/sign-in-grant.ts'
import { inBatches, type Transaction } from '../storage/database.ts'
import type { CheckedSignup } from '../accounts/registration.ts'
import { requireUsername } from '../accounts/fields.ts'
import { DeadLinkError, type Link, urlOfLink } from './link.ts'
import type { LinksDeps } from './links-deps.ts'
import {
  deleteDeadPendingSignups,
  deletePendingSignups,
  findPendingSignup,
  insertPendingSignup,
  type PendingSignup,
} from './pending-signup-store.ts'
import type { AskingBrowser } from './verification.ts'
import { type KnownDevice, knownDevice } from '../lib/device.ts'
import { isEmailTaken } from '../accounts/email-store.ts'
import { findUserByEmail } from '../accounts/user-store.ts'

interface NewSignupLink {
  /** The user has entered it like this. */
  to: string
  link: Link
  token: string
  userAgent: string
  /** That of the page of the signup. */
  language: string | null
}

/** Makes the request for a message about a signup. Its details are sealed: they hold the token. */
const signupRequest = ({ to, link, token, userAgent, language }: NewSignupLink): MailRequest => ({
  purpose: 'signup',
  to,
  details: {
    token,
    linkId: link.id,
    emailLower: link.emailLower,
    occurredAtMs: String(link.createdAtMs),
    device: JSON.stringify(knownDevice(userAgent)),
    language: language ?? undefined,
  },
  expiresAtMs: link.expiresAtMs,
})

/**
 * Prepares the message for a signup: the link, or for an address that has an account, a message that says so. It
 * resolves to undefined if a newer link has replaced this one.
 */
const prepareSignupMessage = async (
  { clock, baseUrl, issued }: PendingSignupsDeps,
  transaction: Transaction,
  { to, details, expiresAtMs }: MailRequest,
): Promise<OutgoingMessage | undefined> => {
  const { token = '', linkId = '', emailLower = '', occurredAtMs, device = '{}', language } = details
  const account = await findUserByEmail(transaction, emailLower)
  const about = { email: to, occurredAtMs: Number(occurredAtMs), device: JSON.parse(device) as KnownDevice, language }
  if (await isEmailTaken(transaction, emailLower, clock.now())) {
    await issued.replace(transaction, { purpose: 'signup', userId: undefined, emailLower })
    await deletePendingSignups(transaction, emailLower)
    if (!account) return { to, userId: undefined, message: { kind: 'email_reserved', ...about }, expiresAtMs }
    const url = `${baseUrl}/auth/login?email=${encodeURIComponent(to)}`
    return { to, userId: account.id, message: { kind: 'account_exists', ...about, url }, expiresAtMs }
  }
  if (!(await issued.isLive(linkId, transaction))) return undefined
  const url = urlOfLink(baseUrl, 'signup', token)
  return {
    to,
    userId: undefined,
    message: { kind: 'verify', ...about, url, lifetimeMs: expiresAtMs - about.occurredAtMs },
    linkId,
    expiresAtMs,
  }
}

/** The page of a confirmation brings these fields. */
interface Confirmation {
  link: Link
  /** The user chooses this password; it is undefined in the browser that signed up, whose password counts. */
  password: string | undefined
  /**
   * It replaces that of the signup, which was taken since, or typed in another browser. An empty one is made from the
   * email.
   */
  username: string | undefined
  /** It does the same; null is none. */
  name: string | null | undefined
}

/** Handles signups with `SVC_EMAIL_VERIFICATION=required`: there is no account before the link was followed. */
export interface PendingSignups {
  /**
   * Keeps a signup until its link is followed. The account that may have the address is not looked up, so that the
   * response takes the same time for every address. Past the limits nothing is kept.
   */
  ask(signup: CheckedSignup, browser: AskingBrowser): Promise<void>
  /** Makes the message in the background: the link, or for an address that has an account, a message that says so. */
  prepare(transaction: Transaction, request: MailRequest): Promise<OutgoingMessage | undefined>
  /** Finds the signup of a live link; it throws a `DeadLinkError` when it is gone. */
  require(link: Link): Promise<PendingSignup>
  /**
   * Makes the account. It throws `conflict` for a taken username or email, and `unprocessable` for a bad field: then
   * the link stays good. It throws a `DeadLinkError` when another request was first.
   */
  confirm(confirmation: Confirmation, caller: Caller): Promise<SignInGrant>
  /** Deletes signups whose link is over, for cleanup; it resolves to how many. */
  deleteExpired(nowMs: number): Promise<number>
}

type PendingSignupsDeps = Pick<LinksDeps, 'baseUrl' | 'clock' | 'db' | 'issued' | 'lifetimes' | 'limits' | 'mail'> &
  Pick<LinksDeps, 'names' | 'passwords' | 'requireGoodPassword' | 'users'>

export const createPendingSignups = (deps: PendingSignupsDeps): PendingSignups => {
  const { db, clock, issued, limits, mail, users } = deps

  const requirePending = async (link: Link): Promise<PendingSignup> => {
    const pending = await findPendingSignup(db, link.id)
    if (!pending) throw new DeadLinkError('signup', 'ended')
    return pending
  }

  return {
    ask: ({ email, username, name, language, passwordHash }, { hash, network, returnTo, userAgent }) =>
      db.inTransaction(async (transaction) => {
        const which = { purpose: 'signup' as const, userId: undefined, emailLower: email.lower }
        if (!(await limits.mayAsk(transaction, { ...which, network }))) return
        // The message is counted before there is a link, which would take the place of one that was sent; all addresses
        // are alike.
        if (!(await limits.mayMailUnverified(transaction, 'signup', email.lower))) return
        const details = { browser: hash, returnTo }
        const { link, token } = await issued.create(transaction, {
          ...which,
          details,
          lifetimeMs: deps.lifetimes.verifyMs,
        })
        await insertPendingSignup(transaction, {
          id: randomUUIDv7(),
          linkId: link.id,
          email: email.shown,
          emailLower: email.lower,
          username,
          name,
          language,
          passwordHash,
          createdAtMs: clock.now(),
        })
        await mail.request(transaction, signupRequest({ to: email.shown, link, token, userAgent, language }))
      }),

    prepare: (transaction, request) => prepareSignupMessage(deps, transaction, request),

    require: requirePending,

    async confirm(confirmation, caller) {
      const { link } = confirmation
      const signup = await checkConfirmation(deps, await requirePending(link), confirmation, caller)
      const first = async (transaction: Transaction): Promise<void> => {
        // This comes first: of two requests at once, the second waits here, and then finds that the link was used.
        await issued.use(transaction, link)
        await issued.replace(transaction, link)
        await deletePendingSignups(transaction, link.emailLower)
      }
      return users.createVerified({ ...signup, method: 'password' }, first, caller)
    },

    deleteExpired: (nowMs) => inBatches((limit) => deleteDeadPendingSignups(db, nowMs, limit)),
  }
}

/** Checks the signup as the user confirms it: the password of a signup counts only in the browser that signed up. */
const checkConfirmation = async (
  { passwords, requireGoodPassword, names }: PendingSignupsDeps,
  { email, emailLower, username: entered, name: enteredName, language, passwordHash }: PendingSignup,
  { password, username: chosen, name }: Confirmation,
  caller: Caller,
): Promise<CheckedSignup> => {
  const checked = await checkAllInTurn({
    username: () => (chosen === undefined ? entered : chosen && requireUsername(chosen)),
    name: () => names.require(name, enteredName),
    password: () =>
      password === undefined ? undefined : requireGoodPassword(password, [email, chosen || (entered ?? '')]),
  })
  return {
    email: { shown: email, lower: emailLower },
    username: checked.username || undefined,
    name: checked.name,
    language,
    passwordHash: checked.password === undefined ? passwordHash : await passwords.hash(checked.password, caller),
  }
}
