import { createBoundedCache } from '../lib/bounded-cache.ts'
import type { Caller } from '../lib/caller.ts'
import { LIMITED_LOGINS_OF_ACCOUNT, type LimitedLoginsOfAccount } from '../lib/limited-logins.ts'
import { monotonicClock } from '../lib/time.ts'
import type { MailRequest } from '../mail/mail.ts'
import type { Transaction } from '../storage/database.ts'
import { findUserByEmail } from '../accounts/user-store.ts'
import type { LinksDeps } from './links-deps.ts'

const DAY_MS = 24 * 3_600_000

/** The owner of an account is told when someone has tried too many passwords for it. */
export interface LoginLimit {
  /**
   * Notes that the limit was reached for an address, even if it has no account: the look-up takes no time of the
   * response. It does so once a day for an address.
   */
  reached(emailLower: string, logins: LimitedLoginsOfAccount, device: NonNullable<Caller['device']>): Promise<void>
  /** Writes the notice in the background, if there is an account. */
  prepare(transaction: Transaction, request: MailRequest): Promise<undefined>
}

/** This process remembers for this long that the limit was reached: a flood of refused tries asks the database once. */
const REMEMBERED_MS = 15 * 60_000
const REMEMBERED_ADDRESSES = 10_000

type LoginLimitDeps = Pick<LinksDeps, 'clock' | 'db' | 'limits' | 'mail' | 'notify'>

export const createLoginLimit = ({ db, clock, mail, limits, notify }: LoginLimitDeps): LoginLimit => {
  const rememberedUntilMs = createBoundedCache<number>(REMEMBERED_ADDRESSES)

  return {
    async reached(emailLower, logins, { userAgent, address }) {
      if (!mail.isOn || (rememberedUntilMs.get(emailLower) ?? 0) > monotonicClock.elapsedMs()) return
      await db.inTransaction(async (transaction) => {
        if (!(await limits.mayTellOfLoginLimit(transaction, emailLower))) return
        await mail.request(transaction, {
          purpose: 'login_limited',
          to: emailLower,
          details: { userAgent, address, logins },
          expiresAtMs: clock.now() + DAY_MS,
        })
      })
      rememberedUntilMs.set(emailLower, monotonicClock.elapsedMs() + REMEMBERED_MS)
    },

    async prepare(transaction, { to, details }) {
      const { userAgent = '', address = '' } = details
      const logins = LIMITED_LOGINS_OF_ACCOUNT.find((known) => known === details.logins) ?? 'in_network'
      const user = await findUserByEmail(transaction, to)
      if (user)
        await notify(transaction, user.id, { kind: 'login_limited', logins }, { device: { userAgent, address } })
      return undefined
    },
  }
}
