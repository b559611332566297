import type { MailRequest, OutgoingMessage } from '../mail/mail.ts'
import type { Transaction } from '../storage/database.ts'
import type { Links } from './links.ts'
import type { MailLimits } from './mail-limits.ts'

/** Ways back into an account, and proofs of an address. */
export interface Recovery {
  links: Links
  limits: MailLimits
  /**
   * Makes the message that was asked for, in the background: what it looks up takes no time of the response. Undefined
   * when there is nothing to send.
   */
  prepare(transaction: Transaction, request: MailRequest): Promise<OutgoingMessage | undefined>
}

interface RecoveryDeps {
  links: Links
  limits: MailLimits
}

export const createRecovery = ({ links, limits }: RecoveryDeps): Recovery => ({
  links,
  limits,
  prepare: async () => undefined,
})
