import type { Clock } from '../lib/time.ts'
import type { Notice } from '../mail/message.ts'
import { countWithin } from '../storage/counters.ts'
import type { Queries } from '../storage/database.ts'
import type { LinkPurpose } from './link.ts'

const HOUR_MS = 3_600_000

/**
 * How many messages may be asked for within a window, for each purpose alone: what strangers ask for takes the place of
 * nothing that the user needs.
 */
const LIMITS = {
  address: { limit: 5, windowMs: HOUR_MS },
  network: { limit: 30, windowMs: HOUR_MS },
  account: { limit: 10, windowMs: HOUR_MS },
  /** Nobody has proved yet to read this address. */
  unverifiedAddress: { limit: 5, windowMs: 24 * HOUR_MS },
  /** Notices to an address that nobody has proved: a user of the account could flood it. */
  notice: { limit: 20, windowMs: HOUR_MS },
  /** Of one kind, and beyond those: nobody hides what they do behind what they have done many times. */
  noticeOfKind: { limit: 1, windowMs: HOUR_MS },
  /** Notices of sign-ins from new browsers. */
  newBrowser: { limit: 20, windowMs: HOUR_MS },
  /** Notices that the limit of failed logins was reached. */
  loginLimit: { limit: 1, windowMs: 24 * HOUR_MS },
}

interface Request {
  purpose: LinkPurpose
  /** The address that the message would go to, in the form that is compared. */
  emailLower?: string | undefined
  /** The network of the request, where nobody has proved to have the account that the message goes to. */
  network?: string | undefined
  /** The account that asks, where the user is signed in. */
  userId?: string | undefined
}

type Runner = Pick<Queries, 'run'>

/** Limits on messages, counted in the database, the same for all processes. Past them nothing is sent. */
export interface MailLimits {
  /** Counts a request, whether or not a message results; false when there were too many. */
  mayAsk(db: Runner, request: Request): Promise<boolean>
  /** Counts a message that was asked for, to an address without a verified account; false when there were too many today. */
  mayMailUnverified(db: Runner, purpose: LinkPurpose, emailLower: string): Promise<boolean>
  /** Counts a notice to an address that nobody has proved; false when there were too many, one of this kind too. */
  mayNotifyUnverified(db: Runner, kind: Notice['kind'], emailLower: string): Promise<boolean>
  /** Counts a notice of a sign-in from a new browser; false when there were too many. */
  mayNotifyOfBrowser(db: Runner, emailLower: string): Promise<boolean>
  /** Counts a notice that the limit of failed logins was reached; false when there was one today. */
  mayTellOfLoginLimit(db: Runner, emailLower: string): Promise<boolean>
}

interface MailLimitsDeps {
  clock: Clock
  /** `SVC_RATE_LIMIT`. */
  enabled: boolean
  /** What stands for an email in the database: strangers type it, and it may belong to anybody. */
  accountOf: (emailLower: string) => string
}

export const createMailLimits = ({ clock, enabled, accountOf }: MailLimitsDeps): MailLimits => {
  const count = async (db: Runner, name: keyof typeof LIMITS, key: string): Promise<boolean> =>
    !enabled ||
    countWithin(db, {
      ...LIMITS[name],
      id: `mail ${name} ${key}`,
      isOfNetwork: name === 'network',
      nowMs: clock.now(),
    })

  return {
    async mayAsk(db, { purpose, emailLower, network, userId }) {
      const counted: boolean[] = []
      if (emailLower !== undefined) counted.push(await count(db, 'address', `${purpose} ${accountOf(emailLower)}`))
      if (network !== undefined) counted.push(await count(db, 'network', `${purpose} ${network}`))
      if (userId !== undefined) counted.push(await count(db, 'account', `${purpose} ${userId}`))
      return !counted.includes(false)
    },

    mayMailUnverified: (db, purpose, emailLower) =>
      count(db, 'unverifiedAddress', `${purpose} ${accountOf(emailLower)}`),

    mayNotifyUnverified: async (db, kind, emailLower) =>
      (await count(db, 'noticeOfKind', `${kind} ${accountOf(emailLower)}`)) ||
      count(db, 'notice', accountOf(emailLower)),

    mayNotifyOfBrowser: (db, emailLower) => count(db, 'newBrowser', accountOf(emailLower)),

    mayTellOfLoginLimit: (db, emailLower) => count(db, 'loginLimit', accountOf(emailLower)),
  }
}
