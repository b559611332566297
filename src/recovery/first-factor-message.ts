import { knownDevice } from '../lib/device.ts'
import type { Clock } from '../lib/time.ts'
import type { Mail } from '../mail/mail.ts'
import type { Queries, Transaction } from '../storage/database.ts'
import { findEarlierEmail } from '../accounts/email-store.ts'
import type { UserRecord } from '../accounts/user-store.ts'
import type { Links } from './links.ts'
import type { MailLimits } from './mail-limits.ts'
import type { AskingBrowser } from './verification-message.ts'

const LIFETIME_MS = 1_800_000

export interface FirstFactorMessageDeps {
  clock: Clock
  baseUrl: string
  mail: Mail
  links: Links
  limits: MailLimits
}

/** The message that comes before the first second factor or passkey of an account. */
export const createFirstFactorMessage = ({ clock, baseUrl, mail, links, limits }: FirstFactorMessageDeps) => {
  /** Where it goes: to the address that the account had 72 hours ago, where it was proved. */
  const addressOf = async (queries: Queries, { id, email, emailLower }: UserRecord): Promise<string> => {
    const earlier = await findEarlierEmail(queries, id, clock.now())
    return earlier === undefined || earlier === emailLower ? email : earlier
  }

  return {
    addressOf,

    /** Past the limits, nothing is sent. */
    async write(transaction: Transaction, user: UserRecord, browser: AskingBrowser): Promise<void> {
      const { id: userId, email, emailLower, emailVerifiedAtMs } = user
      const to = await addressOf(transaction, user)
      const isEarlier = to !== email
      const asked = { purpose: 'first_factor', emailLower: isEarlier ? to : emailLower, userId } as const
      if (!(await limits.mayAsk(transaction, asked))) return
      const isUnproved = emailVerifiedAtMs === undefined && !isEarlier
      if (isUnproved && !(await limits.mayMailUnverified(transaction, 'first_factor', emailLower))) return
      const { link, token } = await links.create(transaction, {
        purpose: 'first_factor',
        userId,
        emailLower,
        details: { browser: browser.hash, returnTo: browser.returnTo, ...(isEarlier && { provesEmail: 'no' }) },
        lifetimeMs: LIFETIME_MS,
      })
      const { id: linkId, expiresAtMs } = link
      const url = `${baseUrl}/auth/account/first-factor?token=${token}`
      const about = { email, occurredAtMs: clock.now(), device: knownDevice(browser.userAgent) }
      const message = { kind: 'first_factor' as const, ...about, url, expiresAtMs }
      await mail.write(transaction, { to, userId, message, linkId, expiresAtMs })
    },
  }
}
