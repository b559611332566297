import type { Clock } from '../lib/time.ts'
import { countMessage } from '../limits/counter.ts'
import type { MessageLimitName } from '../limits/limit-table.ts'
import type { Notice } from '../mail/message.ts'
import type { Transaction } from '../storage/database.ts'
import type { LinkPurpose } from './link.ts'

interface Request {
  purpose: LinkPurpose
  /** The message would go to this address, in the form that is compared. */
  emailLower?: string | undefined
  /** It is the network of the request, if nobody has proved to have the account that the message goes to. */
  network?: string | undefined
  /** It is the account that asks, if the user is signed in. */
  userId?: string | undefined
  /** An account knows the browser that asks by this hash: strangers use up nothing of its count. */
  knownBrowser?: string | undefined
}

/** These limits on messages are counted in the database, the same for all processes. Beyond them nothing is sent. */
export interface MailLimits {
  /** Counts a request, even if no message results; it resolves to false when there were too many. */
  mayAsk(transaction: Transaction, request: Request): Promise<boolean>
  /**
   * Counts a message that was asked for, to an address without a verified account. It resolves to false when there were
   * too many today.
   */
  mayMailUnverified(transaction: Transaction, purpose: LinkPurpose, emailLower: string): Promise<boolean>
  /**
   * Counts a notice to an address that nobody has proved. It resolves to false when there were too many, in all or of
   * this kind.
   */
  mayNotifyUnverified(transaction: Transaction, kind: Notice['kind'], emailLower: string): Promise<boolean>
  /** Counts a notice of a sign-in from a new browser; it resolves to false when there were too many. */
  mayNotifyOfBrowser(transaction: Transaction, emailLower: string): Promise<boolean>
  /** Counts a notice that the limit of failed logins was reached; it resolves to false when there was one today. */
  mayTellOfLoginLimit(transaction: Transaction, emailLower: string): Promise<boolean>
}

interface MailLimitsDeps {
  clock: Clock
  /** It is the setting `SVC_RATE_LIMIT`. */
  enabled: boolean
  /** It stands for an email in the database: strangers type it, and it may belong to anybody. */
  accountOf: (emailLower: string) => string
}

export const createMailLimits = ({ clock, enabled, accountOf }: MailLimitsDeps): MailLimits => {
  const count = async (transaction: Transaction, limit: MessageLimitName, ...key: string[]): Promise<boolean> =>
    !enabled || countMessage(transaction, limit, key, clock.now())

  return {
    async mayAsk(transaction, { purpose, emailLower, network, userId, knownBrowser }) {
      const counted: boolean[] = []
      const browser = knownBrowser === undefined ? [] : [knownBrowser]
      if (emailLower !== undefined)
        counted.push(await count(transaction, 'mailToAddress', purpose, accountOf(emailLower), ...browser))
      if (network !== undefined && purpose === 'sign_in')
        counted.push(await count(transaction, 'signInMailFromNetwork', network))
      else if (network !== undefined) counted.push(await count(transaction, 'mailFromNetwork', purpose, network))
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
