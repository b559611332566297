import type { MailRequest, OutgoingMessage } from '../mail/mail.ts'
import type { Transaction } from '../storage/database.ts'
import type { Links } from './links.ts'
import type { MailLimits } from './mail-limits.ts'
import { createPasswordReset, type PasswordReset, type PasswordResetDeps } from './reset.ts'

/** Ways back into an account, and proofs of an address. */
export interface Recovery {
  links: Links
  limits: MailLimits
  reset: PasswordReset
  /** How long a browser is remembered that has asked for a link, in milliseconds: longer than the link is good. */
  askingBrowserMs: number
  /**
   * Makes the message that was asked for, in the background: what it looks up takes no time of the response. Undefined
   * when there is nothing to send.
   */
  prepare(transaction: Transaction, request: MailRequest): Promise<OutgoingMessage | undefined>
}

/** How long links are good, in milliseconds. */
interface LinkLifetimes {
  resetMs: number
  verifyMs: number
  inviteMs: number
}

interface RecoveryDeps extends Omit<PasswordResetDeps, 'lifetimeMs'> {
  lifetimes: LinkLifetimes
}

export const createRecovery = (deps: RecoveryDeps): Recovery => {
  const { links, limits, lifetimes } = deps
  const reset = createPasswordReset({ ...deps, lifetimeMs: lifetimes.resetMs })
  return {
    links,
    limits,
    reset,
    askingBrowserMs: Math.max(lifetimes.resetMs, lifetimes.verifyMs),
    prepare: async (transaction, request) =>
      request.purpose === 'reset' ? reset.prepare(transaction, request) : undefined,
  }
}
