import { type Caller, userDeviceOf } from '../lib/caller.ts'
import { knownDevice } from '../lib/device.ts'
import type { Transaction } from '../storage/database.ts'
import type { LeftEmail } from '../accounts/change.ts'
import { reserveEmail } from '../accounts/email-store.ts'
import type { UserRecord } from '../accounts/user-store.ts'
import { findLiveLinks, shortenUndoLinks } from './link-store.ts'
import type { LinksDeps } from './links-deps.ts'
import { NOTICE_LIFETIME_MS, noticeContextOf } from './notices.ts'

/** A change of address can be undone for this long. */
const UNDO_MS = 72 * 3_600_000

/** It describes a change of address, while it is asked for, and when it is made. */
interface MovingUser {
  /** It is the account before the change. */
  user: UserRecord
  newEmail: string
  askedAtMs: number
  /** It is undefined if an operator changes the address. */
  device: Caller['device']
}

export type UndoLinksDeps = Pick<LinksDeps, 'clock' | 'issued' | 'mail'>

/**
 * Sends links that undo a change of address. An address that nobody has proved gets none: it may be a stranger's. It is
 * told of the change all the same, since it may be the owner's, and a thief's the new one.
 */
export const createUndoLinks = ({ clock, mail, issued }: UndoLinksDeps) => {
  const isSentTo = ({ emailVerifiedAtMs }: UserRecord): boolean => mail.isOn && emailVerifiedAtMs !== undefined

  const sendWithoutLink = async (transaction: Transaction, { user, device }: MovingUser): Promise<void> => {
    const occurredAtMs = clock.now()
    const about = { email: user.email, occurredAtMs, ...(device && { device: knownDevice(device.userAgent) }) }
    const message = { kind: 'email_left', ...about } as const
    const expiresAtMs = occurredAtMs + NOTICE_LIFETIME_MS
    await mail.write(transaction, { to: user.email, userId: user.id, message, expiresAtMs })
  }

  const send = async (
    transaction: Transaction,
    step: 'requested' | 'changed',
    { user, newEmail, askedAtMs, device }: MovingUser,
    lifetimeMs: number,
  ): Promise<number> => {
    const { link, url } = await issued.create(transaction, {
      purpose: 'undo',
      userId: user.id,
      emailLower: user.emailLower,
      details: {
        email: user.email,
        verifiedAt: String(user.emailVerifiedAtMs),
        askedAt: String(askedAtMs),
        newEmail,
        by: device ? 'user' : 'operator',
      },
      lifetimeMs,
      createdAtMs: askedAtMs,
    })
    const { expiresAtMs } = link
    const context = noticeContextOf(user.email, clock.now(), device)
    const message = { kind: 'undo', step, newEmail, url, lifetimeMs, ...context } as const
    await mail.write(transaction, { to: user.email, userId: user.id, message, linkId: link.id, expiresAtMs })
    return expiresAtMs
  }

  const timeOfRequest = async (transaction: Transaction, userId: string): Promise<number> => {
    const nowMs = clock.now()
    const live = await findLiveLinks(transaction, { purpose: 'undo', userId, emailLower: '' }, nowMs)
    return Math.max(nowMs, ...live.map(({ createdAtMs }) => createdAtMs + 1))
  }

  return {
    /**
     * Gives the time at which a change that is asked for now counts as asked for. It is after all earlier ones, even if
     * another process has made their links by a clock that is ahead. The use of a link ends those of later changes
     * alone.
     */
    timeOfRequest,

    /** Sends it to the address of the account, when another one is asked for, which can be confirmed for `requestMs`. */
    async sendAtRequest(transaction: Transaction, moving: MovingUser, requestMs: number): Promise<void> {
      if (isSentTo(moving.user)) await send(transaction, 'requested', moving, requestMs + UNDO_MS)
    },

    /** Sends it to the address that the account had, which is reserved from now on if it was proved. */
    async sendAtChange(transaction: Transaction, { user, newEmail, askedAtMs, caller }: LeftEmail): Promise<void> {
      const { id: userId, emailLower } = user
      if (!mail.isOn) return
      const asked = askedAtMs ?? (await timeOfRequest(transaction, userId))
      const moving = { user, newEmail, askedAtMs: asked, device: userDeviceOf(caller) }
      if (!isSentTo(moving.user)) return sendWithoutLink(transaction, moving)
      const untilMs = await send(transaction, 'changed', moving, UNDO_MS)
      // Links that were sent at a request would be good for longer than the address is reserved.
      await shortenUndoLinks(transaction, userId, untilMs)
      await reserveEmail(transaction, { emailLower, userId, untilMs })
    },
  }
}
