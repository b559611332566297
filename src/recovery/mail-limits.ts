import type { Clock } from '../lib/time.ts'
import { countWithin } from '../storage/counters.ts'
import type { Database } from '../storage/database.ts'
import type { LinkPurpose } from './link.ts'

const HOUR_MS = 3_600_000

/** How many messages may be asked for within a window, for each purpose alone. */
const LIMITS = {
  address: { limit: 5, windowMs: HOUR_MS },
  network: { limit: 30, windowMs: HOUR_MS },
  account: { limit: 10, windowMs: HOUR_MS },
  /** For all purposes together: nobody has proved yet to read this address. */
  unverifiedAddress: { limit: 5, windowMs: 24 * HOUR_MS },
  /** Notices of sign-ins from new browsers. */
  newBrowser: { limit: 20, windowMs: HOUR_MS },
}

interface Request {
  purpose: LinkPurpose
  /** The address that the message would go to, in the form that is compared. */
  emailLower: string
  /** The network of the request; undefined on the command line. */
  network?: string | undefined
  /** The account that asks, where the user is signed in. */
  userId?: string | undefined
}

/** Limits on messages, counted in the database, the same for all processes. Past them nothing is sent. */
export interface MailLimits {
  /** Counts a request, whether or not a message results; false when there were too many. */
  mayAsk(request: Request): Promise<boolean>
  /** Counts a message to an address without a verified account; false when there were too many today. */
  mayMailUnverified(emailLower: string, purpose: LinkPurpose): Promise<boolean>
  /** Counts a notice of a sign-in from a new browser; false when there were too many. */
  mayNotifyOfBrowser(emailLower: string): Promise<boolean>
}

interface MailLimitsDeps {
  db: Database
  clock: Clock
  /** `SVC_RATE_LIMIT`. */
  enabled: boolean
}

export const createMailLimits = ({ db, clock, enabled }: MailLimitsDeps): MailLimits => {
  const count = async (name: keyof typeof LIMITS, key: string): Promise<boolean> =>
    !enabled || countWithin(db, { ...LIMITS[name], id: `mail ${name} ${key}`, nowMs: clock.now() })

  return {
    async mayAsk({ purpose, emailLower, network, userId }) {
      const counted = [await count('address', `${purpose} ${emailLower}`)]
      if (network !== undefined) counted.push(await count('network', `${purpose} ${network}`))
      if (userId !== undefined) counted.push(await count('account', `${purpose} ${userId}`))
      return !counted.includes(false)
    },

    // Nothing but resets counts against resets: a flood of other messages must not keep the owner out.
    mayMailUnverified: (emailLower, purpose) =>
      count('unverifiedAddress', `${purpose === 'reset' ? 'reset' : 'any'} ${emailLower}`),

    mayNotifyOfBrowser: (emailLower) => count('newBrowser', emailLower),
  }
}
