import type { MailRequest, OutgoingMessage } from '../mail/mail.ts'
import type { Transaction } from '../storage/database.ts'
import { createEmailChangeRequests, type EmailChangeRequests } from './email-change-requests.ts'
import type { EmailChangeRequestsDeps } from './email-change-requests.ts'
import { createEmailChanges, type EmailChanges } from './email-changes.ts'
import { createEmailUndo, type EmailUndo, type EmailUndoDeps } from './email-undo.ts'
import { createInvitations, type Invitations, type InvitationsDeps } from './invitations.ts'
import type { Links } from './links.ts'
import type { MailLimits } from './mail-limits.ts'
import { createLoginLimit, type LoginLimit, type LoginLimitDeps } from './login-limit.ts'
import { createNotMe, type NotMe, type NotMeDeps } from './not-me.ts'
import type { EnterByProvider, EntryPurpose } from './provider-entry.ts'
import { createPasswordReset, type PasswordReset, type PasswordResetDeps } from './reset.ts'
import { createUndoLinks } from './undo-links.ts'
import { createPendingSignups, type PendingSignups, type PendingSignupsDeps } from './pending-signups.ts'
import { createVerification, type Verification, type VerificationDeps } from './verification.ts'

/** Ways back into an account, and proofs of an address. */
export interface Recovery {
  links: Links
  limits: MailLimits
  reset: PasswordReset
  notMe: NotMe
  loginLimit: LoginLimit
  invitations: Invitations
  /** By a link, and a provider that is connected to the account in place of a password. */
  byProvider: Partial<Record<EntryPurpose, EnterByProvider>>
  verification: Verification
  pendingSignups: PendingSignups
  /** How long a browser is remembered that has asked for a link, in milliseconds: longer than the link is good. */
  askingBrowserMs: number
  emailChangeRequests: EmailChangeRequests
  emailChanges: EmailChanges
  emailUndo: EmailUndo
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

interface RecoveryDeps
  extends Omit<PasswordResetDeps & VerificationDeps & PendingSignupsDeps, 'lifetimeMs' | 'users' | 'loginLimit'>,
    Omit<EmailChangeRequestsDeps, 'undoLinks' | 'lifetimeMs'>,
    EmailUndoDeps,
    LoginLimitDeps,
    Omit<NotMeDeps, 'resetLifetimeMs'>,
    Omit<InvitationsDeps, 'lifetimeMs' | 'users'> {
  lifetimes: LinkLifetimes
  /** Whether users have passwords: then these links are for a new one. */
  acceptsPasswords: boolean
  users: InvitationsDeps['users'] & PendingSignupsDeps['users']
}

export const createRecovery = (deps: RecoveryDeps): Recovery => {
  const { links, limits, lifetimes, acceptsPasswords } = deps
  const loginLimit = createLoginLimit(deps)
  const reset = createPasswordReset({ ...deps, loginLimit, lifetimeMs: lifetimes.resetMs })
  const pendingSignups = createPendingSignups({ ...deps, lifetimeMs: lifetimes.verifyMs })
  const undoLinks = createUndoLinks(deps)
  const emailChangeRequests = createEmailChangeRequests({ ...deps, undoLinks, lifetimeMs: lifetimes.verifyMs })
  const emailUndo = createEmailUndo(deps)
  /** By the purpose of the request. */
  const preparing: Partial<Record<MailRequest['purpose'], Pick<Recovery, 'prepare'>>> = {
    reset,
    signup: pendingSignups,
    new_email: emailChangeRequests,
    login_limited: loginLimit,
  }
  const invitations = createInvitations({ ...deps, lifetimeMs: lifetimes.inviteMs })
  return {
    links,
    limits,
    reset,
    pendingSignups,
    verification: createVerification({ ...deps, lifetimeMs: lifetimes.verifyMs }),
    notMe: createNotMe({ ...deps, resetLifetimeMs: lifetimes.resetMs }),
    loginLimit,
    emailChangeRequests,
    emailChanges: createEmailChanges({ ...deps, undoLinks }),
    emailUndo,
    invitations,
    byProvider: {
      invite: invitations.enterByProvider,
      ...(acceptsPasswords ? {} : { reset: reset.enterByProvider, undo: emailUndo.enterByProvider }),
    },
    askingBrowserMs: Math.max(lifetimes.resetMs, lifetimes.verifyMs),
    prepare: async (transaction, request) => preparing[request.purpose]?.prepare(transaction, request),
  }
}
