import { type Caller, userDeviceOf } from '../lib/caller.ts'
import { knownDevice } from '../lib/device.ts'
import type { Clock } from '../lib/time.ts'
import type { Mail } from '../mail/mail.ts'
import type { Transaction } from '../storage/database.ts'
import type { LeftEmail } from '../accounts/change.ts'
import { reserveEmail } from '../accounts/email-store.ts'
import type { UserRecord } from '../accounts/user-store.ts'
import { findLiveLinks, shortenUndoLinks } from './link-store.ts'
import type { Links } from './issued-links.ts'
import { NOTICE_LIFETIME_MS, noticeContextOf } from './notices.ts'

/** A change of address can be undone for this long. */
const UNDO_MS = 72 * 3_600_000

/** It describes a change of address, while it is asked for, and when it is made. */
interface MovingUser {
  /** It is the account before the change. */
  user: UserRecord
  newEmail: string
  /** The change was asked for at this time. */
  askedAtMs: number
  /** It is undefined if an operator changes the address. */
  device: Caller['device']
}

/**
 * Sends links that undo a change of address. An address that nobody has proved gets none: it may be a stranger's. It is
 * told of the change all the same, since it may be the owner's, and a thief's the new one.
 */
export interface UndoLinks {
  /**
   * Gives the time at which a change that is asked for now counts as asked for. It is after all earlier ones, even if
   * another process has made their links by a clock that is ahead. The use of a link ends those of later changes alone.
   */
  timeOfRequest(transaction: Transaction, userId: string): Promise<number>
  /** Sends it to the address of the account, when another one is asked for, which can be confirmed for `requestMs`. */
  sendAtRequest(transaction: Transaction, moving: MovingUser, requestMs: number): Promise<void>
  /** Sends it to the address that the account had, which is reserved from now on if it was proved. */
  sendAtChange(transaction: Transaction, left: LeftEmail): Promise<void>
}

export interface UndoLinksDeps {
  clock: Clock
  mail: Mail
  links: Links
  baseUrl: string
}

export const createUndoLinks = ({ clock, mail, links, baseUrl }: UndoLinksDeps): UndoLinks => {
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
    const { link, token } = await links.create(transaction, {
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
    const url = `${baseUrl}/auth/email/undo?token=${token}`
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
    timeOfRequest,

    async sendAtRequest(transaction, moving, requestMs) {
      if (isSentTo(moving.user)) await send(transaction, 'requested', moving, requestMs + UNDO_MS)
    },

    async sendAtChange(transaction, { user, newEmail, askedAtMs, caller }) {
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
