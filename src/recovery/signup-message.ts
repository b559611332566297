import { type KnownDevice, knownDevice } from '../lib/device.ts'
import type { Clock } from '../lib/time.ts'
import type { MailRequest, OutgoingMessage } from '../mail/mail.ts'
import type { Transaction } from '../storage/database.ts'
import { isEmailTaken } from '../accounts/email-store.ts'
import { findUserByEmail } from '../accounts/user-store.ts'
import type { Link } from './link.ts'
import type { Links } from './links.ts'
import { deletePendingSignups } from './pending-signup-store.ts'
import { verificationUrl } from './verification-message.ts'

interface NewSignupLink {
  /** As it was entered. */
  to: string
  link: Link
  token: string
  userAgent: string
}

/** The request for a message about a signup. Its details are sealed: they hold the token. */
export const signupRequest = ({ to, link, token, userAgent }: NewSignupLink): MailRequest => ({
  purpose: 'signup',
  to,
  details: {
    token,
    linkId: link.id,
    emailLower: link.emailLower,
    occurredAtMs: String(link.createdAtMs),
    device: JSON.stringify(knownDevice(userAgent)),
  },
  expiresAtMs: link.expiresAtMs,
})

interface SignupMessageDeps {
  clock: Clock
  baseUrl: string
  links: Links
}

/**
 * The message for a signup: the link, or to an address that has an account, one that says so. Undefined where a newer
 * link has replaced this one.
 */
export const prepareSignupMessage = async (
  { clock, baseUrl, links }: SignupMessageDeps,
  transaction: Transaction,
  { to, details, expiresAtMs }: MailRequest,
): Promise<OutgoingMessage | undefined> => {
  const { token = '', linkId = '', emailLower = '', occurredAtMs, device = '{}' } = details
  const account = await findUserByEmail(transaction, emailLower)
  const about = { email: to, occurredAtMs: Number(occurredAtMs), device: JSON.parse(device) as KnownDevice }
  if (await isEmailTaken(transaction, emailLower, clock.now())) {
    await links.replace(transaction, { purpose: 'signup', userId: undefined, emailLower })
    await deletePendingSignups(transaction, emailLower)
    if (!account) return { to, userId: undefined, message: { kind: 'email_reserved', ...about }, expiresAtMs }
    const url = `${baseUrl}/auth/login?email=${encodeURIComponent(to)}`
    return { to, userId: account.id, message: { kind: 'account_exists', ...about, url }, expiresAtMs }
  }
  if (!(await links.isLive(linkId, transaction))) return undefined
  const url = verificationUrl(baseUrl, token)
  return { to, userId: undefined, message: { kind: 'verify', ...about, url, expiresAtMs }, linkId, expiresAtMs }
}
