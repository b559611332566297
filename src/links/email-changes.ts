import type { Caller } from '../lib/caller.ts'
import { knownDevice } from '../lib/device.ts'
import type { Email } from '../lib/email-address.ts'
import type { MailRequest, OutgoingMessage } from '../mail/mail.ts'
import type { Message } from '../mail/message.ts'
import type { Queries, Transaction } from '../storage/database.ts'
import { deleteEndedReservations, isEmailTaken } from '../accounts/email-store.ts'
import { findUserByEmail, lockUserToChange, requireUserById } from '../accounts/user-store.ts'
import { isOwnAlready, orEmailTaken } from '../accounts/fields.ts'
import { emailOfLink, type Link, urlOfLink } from './link.ts'
import { findLiveLinks } from './link-store.ts'
import { createUndoLinks } from './undo-links.ts'
import type { LinksDeps } from './links-deps.ts'

/** A device is named at the beginning of its user agent, which may be as long as a header. */
const KEPT_CHARACTERS = 400

interface Asker {
  userId: string
  sessionId: string
}

interface NewRequest {
  email: Email
  /** It recognises the browser when the link is opened: elsewhere a press confirms nothing. */
  browser: string
}

/**
 * Handles changes of address that users ask for. Nothing changes before the link in the message to the new address is
 * followed.
 */
export interface EmailChanges {
  /**
   * Sends a link to the new address, in place of an earlier one. It does not look up if the address has an account, so
   * that the response tells nothing. Past the limits nothing is sent, an earlier link stays, and the response is the
   * same. It throws `forbidden` unless the user has authenticated recently, and `unprocessable` when it is the
   * account's own address.
   */
  ask(asker: Asker, request: NewRequest, caller: Caller): Promise<void>
  /** Ends the request; its link dies. */
  cancel(asker: Asker, caller: Caller): Promise<void>
  /** Finds the address that waits to be confirmed. */
  findRequested(userId: string): Promise<string | undefined>
  /** Makes the message for a request, in the background; it resolves to undefined when there is nothing to send. */
  prepare(transaction: Transaction, request: MailRequest): Promise<OutgoingMessage | undefined>
  /** Gives the address of the account, and the one that it gets when the link is confirmed. */
  describe(link: Link): Promise<{ email: string; newEmail: string }>
  /** Throws `gone` when the link is no longer good, and `conflict` when another account has the address by now. */
  confirm(link: Link, caller: Caller): Promise<void>
  /** Deletes reservations of old addresses that have ended, for cleanup; it resolves to how many. */
  deleteEndedReservations(nowMs: number): Promise<number>
}

type EmailChangesDeps = Pick<LinksDeps, 'baseUrl' | 'clock' | 'db' | 'lifetimes' | 'limits' | 'issued' | 'mail'> &
  Pick<LinksDeps, 'change' | 'recordEvent' | 'requireRecentAuthentication' | 'requireSession'>

export const createEmailChanges = (deps: EmailChangesDeps): EmailChanges => {
  const { db, clock, mail, issued, limits, recordEvent, baseUrl } = deps
  const { verifyMs: lifetimeMs } = deps.lifetimes
  const undoLinks = createUndoLinks(deps)

  /**
   * Tells whether the limits allow a message. The limit of a day counts for every address: it is not looked up if an
   * account has proved it.
   */
  const mayMail = async (transaction: Transaction, userId: string, emailLower: string, network: string | undefined) =>
    (await limits.mayAsk(transaction, { purpose: 'new_email', emailLower, network, userId })) &&
    limits.mayMailUnverified(transaction, 'new_email', emailLower)

  /** The link is made at once, so that a request for an address with an account waits like any other. */
  const createLink = async (transaction: Transaction, userId: string, { email, browser }: NewRequest) => {
    const { lower, shown } = email
    const which = { purpose: 'new_email', userId, emailLower: lower } as const
    await issued.replace(transaction, which)
    const createdAtMs = await undoLinks.timeOfRequest(transaction, userId)
    return issued.create(transaction, { ...which, details: { email: shown, browser }, lifetimeMs, createdAtMs })
  }

  const findWaiting = async (queries: Queries, userId: string): Promise<Link | undefined> =>
    (await findLiveLinks(queries, { purpose: 'new_email', userId, emailLower: '' }, clock.now()))[0]

  const messageFor = async (transaction: Transaction, request: MailRequest): Promise<Message> => {
    const emailLower = request.to.toLowerCase()
    const isTaken = await isEmailTaken(transaction, emailLower, clock.now(), request.details.userId)
    const hasAccount = isTaken && (await findUserByEmail(transaction, emailLower)) !== undefined
    const { token, askedAt, userAgent = '' } = request.details
    const about = { email: request.to, occurredAtMs: Number(askedAt), device: knownDevice(userAgent) }
    if (isTaken) return { kind: hasAccount ? 'email_taken' : 'email_reserved', ...about }
    const url = urlOfLink(baseUrl, 'new_email', token ?? '')
    return { kind: 'new_email', ...about, url, lifetimeMs: request.expiresAtMs - about.occurredAtMs }
  }

  return {
    ask: ({ userId, sessionId }, { email, browser }, caller) =>
      db.inTransaction(async (transaction) => {
        await deps.requireRecentAuthentication(transaction, sessionId, userId)
        const user = await requireUserById(transaction, userId)
        if (user.emailLower === email.lower) throw isOwnAlready()
        const { network, device } = caller
        const isMailed = await mayMail(transaction, userId, email.lower, network)
        await recordEvent(transaction, { type: 'email.change_requested', userId, sessionId }, caller)
        // A link that was sent stays good. If none was, the page shows the request as if one were.
        if (!isMailed && (await findWaiting(transaction, userId))) return
        const { link, token } = await createLink(transaction, userId, { email, browser })
        if (!isMailed) return
        const { id: linkId, createdAtMs: askedAtMs, expiresAtMs } = link
        const userAgent = device?.userAgent.slice(0, KEPT_CHARACTERS)
        const details = { userId, linkId, token, askedAt: String(askedAtMs), userAgent }
        await mail.request(transaction, { purpose: 'new_email', to: email.shown, details, expiresAtMs })
        await undoLinks.sendAtRequest(transaction, { user, newEmail: email.shown, askedAtMs, device }, lifetimeMs)
      }),

    cancel: ({ userId, sessionId }, caller) =>
      db.inTransaction(async (transaction) => {
        await deps.requireSession(transaction, sessionId, userId)
        const ended = await issued.replace(transaction, { purpose: 'new_email', userId, emailLower: '' })
        if (ended > 0) await recordEvent(transaction, { type: 'email.change_cancelled', userId, sessionId }, caller)
      }),

    findRequested: async (userId) => (await findWaiting(db, userId))?.details.email,

    async prepare(transaction, request) {
      const { to, expiresAtMs, details } = request
      const { userId, linkId = '' } = details
      if (!(await issued.isLive(linkId, transaction))) return undefined
      return { to, userId, message: await messageFor(transaction, request), linkId, expiresAtMs }
    },

    async describe(link) {
      const { email } = await requireUserById(db, link.userId ?? '')
      return { email, newEmail: emailOfLink(link).shown }
    },

    confirm: (link, caller) =>
      orEmailTaken(() =>
        db.inTransaction(async (transaction) => {
          const { userId = '', createdAtMs: askedAtMs } = link
          await lockUserToChange(transaction, userId)
          await issued.use(transaction, link)
          const changes = { email: emailOfLink(link), emailVerified: true }
          await deps.change(transaction, userId, changes, { by: 'confirmation', askedAtMs, caller })
        }),
      ),

    deleteEndedReservations: (nowMs) => deleteEndedReservations(db, nowMs),
  }
}
