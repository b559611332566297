import type { Caller } from '../lib/caller.ts'
import { knownDevice } from '../lib/device.ts'
import type { Email } from '../lib/email-address.ts'
import { AppError } from '../lib/errors.ts'
import type { MailRequest, OutgoingMessage } from '../mail/mail.ts'
import type { Transaction } from '../storage/database.ts'
import { findUserByEmail, findUserById, lockUserToChange, type UserRecord } from '../accounts/user-store.ts'
import type { Link } from './link.ts'
import type { LinksDeps } from './links-deps.ts'
import { findLiveLinks } from './link-store.ts'
import type { Message } from '../mail/message.ts'

type About = Pick<Extract<Message, { kind: 'reset' }>, 'by' | 'occurredAtMs' | 'device'>

const resetMessage = (
  { id, email }: UserRecord,
  { link, url }: { link: Link; url: string },
  more: About,
): OutgoingMessage => ({
  to: email,
  userId: id,
  linkId: link.id,
  expiresAtMs: link.expiresAtMs,
  message: { kind: 'reset', email, url, lifetimeMs: link.expiresAtMs - link.createdAtMs, ...more },
})

/**
 * Tells whether a link to a new password may be mailed. Past the limits it may while no earlier mailed link is good:
 * strangers, who can ask for many, must not keep the user out.
 */
const mayMailReset = async (
  { clock, limits }: Pick<LinksDeps, 'clock' | 'limits'>,
  transaction: Transaction,
  { id: userId, emailLower, emailVerifiedAtMs }: UserRecord,
): Promise<boolean> => {
  const isWithinLimits =
    (await limits.mayAsk(transaction, { purpose: 'reset', emailLower })) &&
    (emailVerifiedAtMs !== undefined || (await limits.mayMailUnverified(transaction, 'reset', emailLower)))
  if (isWithinLimits) return true
  const live = await findLiveLinks(transaction, { purpose: 'reset', userId, emailLower }, clock.now())
  // An operator makes links too, and hands them over.
  return !live.some(({ details }) => details.browser !== undefined)
}

/** A user has entered the email on the page "Forgot your password?"; the rest is known of the browser. */
interface ResetRequest {
  email: Email
  returnTo: string
  /** This browser is recognised by the hash. */
  browser: string
  userAgent: string
  network: string
}

interface OperatorLink {
  /** It is the whole address. */
  url: string
  expiresAtMs: number
}

/** Users get the links that reset their passwords by these functions. */
export interface ResetLinks {
  /**
   * Asks for a link by mail. Nothing is looked up, so that the response takes the same time for every address. Past the
   * limits nothing is sent, unless there is no earlier link any more, and nothing tells that.
   */
  ask(request: ResetRequest): Promise<void>
  /** Makes the message for a request in the background; it resolves to undefined if no account may get one. */
  prepare(transaction: Transaction, request: MailRequest): Promise<OutgoingMessage | undefined>
  /** An operator hands the link over, or has it mailed. It throws `conflict` when the account is disabled. */
  createByOperator(userId: string, options: { isMailed: boolean }, caller?: Caller): Promise<OperatorLink>
  /** Does the same in the transaction of the caller, without a mail. The user of the link goes on to `returnTo`. */
  createIn(
    transaction: Transaction,
    userId: string,
    returnTo: string | undefined,
    caller: Caller,
  ): Promise<OperatorLink>
}

type ResetLinksDeps = Pick<LinksDeps, 'clock' | 'db' | 'lifetimes' | 'limits' | 'issued' | 'mail' | 'recordEvent'>

export const createResetLinks = (deps: ResetLinksDeps): ResetLinks => {
  const { db, clock, mail, issued, limits, recordEvent } = deps
  const { resetMs: lifetimeMs } = deps.lifetimes

  const createLink = (transaction: Transaction, { id: userId, emailLower }: UserRecord, details: Link['details']) =>
    issued.create(transaction, { purpose: 'reset', userId, emailLower, details, lifetimeMs })

  const createFor = async (transaction: Transaction, userId: string, details: Link['details'], caller?: Caller) => {
    const user = await lockedUser(transaction, userId)
    if (!user) throw new AppError('not_found', `There is no user ${userId}.`)
    if (user.disabled)
      throw new AppError('conflict', 'The account is disabled: enable it first.', {
        field: 'purpose',
        reason: 'disabled',
      })
    await recordEvent(transaction, { type: 'password.reset_link_created', userId }, caller)
    return { user, made: await createLink(transaction, user, details) }
  }

  return {
    ask: ({ email, returnTo, browser, userAgent, network }) =>
      db.inTransaction(async (transaction) => {
        if (!(await limits.mayAsk(transaction, { purpose: 'reset', network }))) return
        const askedAtMs = clock.now()
        const details = {
          returnTo,
          browser,
          askedAt: String(askedAtMs),
          device: JSON.stringify(knownDevice(userAgent)),
        }
        await mail.request(transaction, {
          purpose: 'reset',
          to: email.lower,
          details,
          expiresAtMs: askedAtMs + lifetimeMs,
        })
      }),

    async prepare(transaction, { to, details: { returnTo, browser, askedAt, device = '{}' } }) {
      const found = await findUserByEmail(transaction, to)
      const user = found && (await lockedUser(transaction, found.id))
      if (!user || user.disabled || user.emailLower !== to) return undefined
      if (!(await mayMailReset(deps, transaction, user))) return undefined
      const made = await createLink(transaction, user, { returnTo, browser })
      return resetMessage(user, made, { by: 'user', occurredAtMs: Number(askedAt), device: JSON.parse(device) })
    },

    createByOperator: (userId, { isMailed }, caller) =>
      db.inTransaction(async (transaction) => {
        const { user, made } = await createFor(transaction, userId, {}, caller)
        if (isMailed)
          await mail.write(transaction, resetMessage(user, made, { by: 'operator', occurredAtMs: clock.now() }))
        return operatorLink(made)
      }),

    createIn: async (transaction, userId, returnTo, caller) =>
      operatorLink((await createFor(transaction, userId, { returnTo }, caller)).made),
  }
}

const operatorLink = ({ link, url }: { link: Link; url: string }): OperatorLink => ({
  url,
  expiresAtMs: link.expiresAtMs,
})

/**
 * Locks a user for a new link: no event that ends links passes it by, and two links at once are counted one after the
 * other.
 */
const lockedUser = async (transaction: Transaction, userId: string): Promise<UserRecord | undefined> => {
  await lockUserToChange(transaction, userId)
  return findUserById(transaction, userId)
}
