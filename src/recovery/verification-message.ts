import { knownDevice } from '../lib/device.ts'
import type { Clock } from '../lib/time.ts'
import type { Mail } from '../mail/mail.ts'
import type { Transaction } from '../storage/database.ts'
import type { UserRecord } from '../accounts/user-store.ts'
import type { Links } from './links.ts'
import type { MailLimits } from './mail-limits.ts'

/** `off`: no messages. `required`: no session before the email is verified. */
export type VerificationMode = 'off' | 'optional' | 'required'

/** The browser that asks for a message. */
export interface AskingBrowser {
  /** By which it is recognised when the link is opened. */
  hash: string
  network: string
  userAgent: string
  /** Where the user wants to go; counts in this browser only. */
  returnTo?: string | undefined
}

export interface VerificationMessageDeps {
  clock: Clock
  baseUrl: string
  mode: VerificationMode
  lifetimeMs: number
  links: Links
  limits: MailLimits
  mail: Mail
}

/** Writes a message with a link to an address that is not verified, within the limits. */
export const createVerificationMessage =
  ({ clock, baseUrl, mode, lifetimeMs, links, limits, mail }: VerificationMessageDeps) =>
  async (transaction: Transaction, user: UserRecord, browser: AskingBrowser, isProved: boolean): Promise<void> => {
    if (mode === 'off' || !mail.isOn) return
    const { id: userId, email, emailLower } = user
    // Anybody can sign up. What follows a password or a session counts by itself, and strangers fill no limit of it.
    const request = isProved
      ? ({ purpose: 'verify', emailLower, userId } as const)
      : ({ purpose: 'signup', emailLower, network: browser.network } as const)
    const mayAsk = await limits.mayAsk(transaction, request)
    if (!mayAsk || !(await limits.mayMailUnverified(transaction, request.purpose, emailLower))) return
    const details = { browser: browser.hash, returnTo: browser.returnTo }
    const { link, token } = await links.create(transaction, {
      purpose: 'verify',
      userId,
      emailLower,
      details,
      lifetimeMs,
    })
    const { id: linkId, expiresAtMs } = link
    const url = verificationUrl(baseUrl, token)
    const about = { email, occurredAtMs: clock.now(), device: knownDevice(browser.userAgent) }
    const message = { kind: 'verify' as const, ...about, url, expiresAtMs }
    await mail.write(transaction, { to: email, userId, message, linkId, expiresAtMs })
  }

/** The address that a message leads to. */
export const verificationUrl = (baseUrl: string, token: string): string => `${baseUrl}/auth/email/verify?token=${token}`
