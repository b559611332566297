import type { Clock } from '../lib/time.ts'
import { counterFor } from '../limits/counter.ts'
import { countTry } from '../limits/counter-store.ts'
import type { MessageLimitName } from '../limits/limit-table.ts'
import type { Notice } from '../mail/message.ts'
import type { Transaction } from '../storage/database.ts'
import type { LinkPurpose } from './link.ts'

interface Request {
  purpose: LinkPurpose
  /** The address that the message would go to, in the form that is compared. */
  emailLower?: string | undefined
  /** The network of the request, where nobody has proved to have the account that the message goes to. */
  network?: string | undefined
  /** The account that asks, where the user is signed in. */
  userId?: string | undefined
}

/** Limits on messages, counted in the database, the same for all processes. Beyond them nothing is sent. */
export interface MailLimits {
  /** Counts a request, whether or not a message results; false when there were too many. */
  mayAsk(transaction: Transaction, request: Request): Promise<boolean>
  /** Counts a message that was asked for, to an address without a verified account; false when there were too many today. */
  mayMailUnverified(transaction: Transaction, purpose: LinkPurpose, emailLower: string): Promise<boolean>
  /** Counts a notice to an address that nobody has proved; false when there were too many, one of this kind too. */
  mayNotifyUnverified(transaction: Transaction, kind: Notice['kind'], emailLower: string): Promise<boolean>
  /** Counts a notice of a sign-in from a new browser; false when there were too many. */
  mayNotifyOfBrowser(transaction: Transaction, emailLower: string): Promise<boolean>
  /** Counts a notice that the limit of failed logins was reached; false when there was one today. */
  mayTellOfLoginLimit(transaction: Transaction, emailLower: string): Promise<boolean>
}

interface MailLimitsDeps {
  clock: Clock
  /** `SVC_RATE_LIMIT`. */
  enabled: boolean
  /** Stands for an email in the database: strangers type it, and it may belong to anybody. */
  accountOf: (emailLower: string) => string
}

export const createMailLimits = ({ clock, enabled, accountOf }: MailLimitsDeps): MailLimits => {
  const count = async (transaction: Transaction, limit: MessageLimitName, ...key: string[]): Promise<boolean> => {
    if (!enabled) return true
    const counters = [counterFor(limit, ...key)]
    return (await countTry(transaction.all, { counters, nowMs: clock.now() })).length > 0
  }

  return {
    async mayAsk(transaction, { purpose, emailLower, network, userId }) {
      const counted: boolean[] = []
      if (emailLower !== undefined)
        counted.push(await count(transaction, 'mailToAddress', purpose, accountOf(emailLower)))
      if (network !== undefined) counted.push(await count(transaction, 'mailFromNetwork', purpose, network))
      if (userId !== undefined) counted.push(await count(transaction, 'mailByUser', purpose, userId))
      return !counted.includes(false)
    },

    mayMailUnverified: (transaction, purpose, emailLower) =>
      count(transaction, 'mailToUnverified', purpose, accountOf(emailLower)),

    mayNotifyUnverified: async (transaction, kind, emailLower) =>
      (await count(transaction, 'noticeOfKind', kind, accountOf(emailLower))) ||
      count(transaction, 'notice', accountOf(emailLower)),

    mayNotifyOfBrowser: (transaction, emailLower) => count(transaction, 'newBrowserNotice', accountOf(emailLower)),

    mayTellOfLoginLimit: (transaction, emailLower) => count(transaction, 'loginLimitNotice', accountOf(emailLower)),
  }
}
