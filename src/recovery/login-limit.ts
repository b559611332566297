import type { Caller } from '../lib/caller.ts'
import type { Clock } from '../lib/time.ts'
import type { Mail, MailRequest } from '../mail/mail.ts'
import { countWithin, readCounter } from '../storage/counters.ts'
import type { Database, Queries, Transaction } from '../storage/database.ts'
import type { Notify } from '../users/account-notice.ts'
import { findUserByEmail } from '../users/user-store.ts'
import type { MailLimits } from './mail-limits.ts'

const DAY_MS = 24 * 3_600_000

/** What follows when someone has tried too many passwords for an account. */
export interface LoginLimit {
  /**
   * Notes that the limit was reached for an address, whether or not it has an account: what this looks up takes no time
   * of the response. Once a day for an address.
   */
  reached(emailLower: string, device: NonNullable<Caller['device']>): Promise<void>
  /**
   * Lets the user of an address log in again at once, at every process, whatever was counted before: an operator says
   * so, or the user has come back by a link.
   */
  unlock(db: Pick<Queries, 'run'>, emailLower: string): Promise<void>
  /** The latest unlock of an address, in a text that no other one has; undefined when there was none for a while. */
  findUnlock(emailLower: string): Promise<string | undefined>
  /** In the background: writes the notice where there is an account. */
  prepare(transaction: Transaction, request: MailRequest): Promise<undefined>
}

const unlockOf = (emailLower: string): string => `login unlock ${emailLower}`

/** As long as the window of the limit, which is over by itself then. */
const UNLOCK_WINDOW_MS = 15 * 60_000

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

  async unlock(runner, emailLower) {
    const count = { id: unlockOf(emailLower), limit: Number.MAX_SAFE_INTEGER, windowMs: UNLOCK_WINDOW_MS }
    await countWithin(runner, { ...count, nowMs: clock.now() })
  },

  findUnlock: (emailLower) => readCounter(db, unlockOf(emailLower), clock.now()),

  async prepare(transaction, { to, details: { userAgent = '', address = '' } }) {
    const user = await findUserByEmail(transaction, to)
    if (user) await notify(transaction, user.id, { kind: 'login_limited' }, { device: { userAgent, address } })
    return undefined
  },
})
