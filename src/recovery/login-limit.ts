import type { Caller } from '../lib/bounded-queue.ts'
import type { Clock } from '../lib/time.ts'
import type { Mail, MailRequest } from '../mail/mail.ts'
import type { Database, Transaction } from '../storage/database.ts'
import type { Notify } from '../users/account-notice.ts'
import { findUserByEmail } from '../users/user-store.ts'
import type { MailLimits } from './mail-limits.ts'

const DAY_MS = 24 * 3_600_000

/** Tells users that someone has tried too many passwords for their account. */
export interface LoginLimit {
  /**
   * Notes that the limit was reached for an address, whether or not it has an account: what this looks up takes no time
   * of the response. Once a day for an address.
   */
  reached(emailLower: string, device: NonNullable<Caller['device']>): Promise<void>
  /** In the background: writes the notice where there is an account. */
  prepare(transaction: Transaction, request: MailRequest): Promise<undefined>
}

export interface LoginLimitDeps {
  db: Database
  clock: Clock
  mail: Mail
  limits: MailLimits
  notify: Notify
}

export const createLoginLimit = ({ db, clock, mail, limits, notify }: LoginLimitDeps): LoginLimit => ({
  async reached(emailLower, { userAgent, address }) {
    if (!mail.isOn) return
    await db.inTransaction(async (transaction) => {
      if (!(await limits.mayTellOfLoginLimit(transaction, emailLower))) return
      await mail.request(transaction, {
        purpose: 'login_limited',
        to: emailLower,
        details: { userAgent, address },
        expiresAtMs: clock.now() + DAY_MS,
      })
    })
  },

  async prepare(transaction, { to, details: { userAgent = '', address = '' } }) {
    const user = await findUserByEmail(transaction, to)
    if (user) await notify(transaction, user.id, { kind: 'login_limited' }, { device: { userAgent, address } })
    return undefined
  },
})
