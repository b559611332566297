import { onDemand } from '../lib/on-demand.ts'
import type { MailRequest, OutgoingMessage } from '../mail/mail.ts'
import type { Transaction } from '../storage/database.ts'
import type { EmailChangeRequests, EmailChangeRequestsDeps } from './email-change-requests.ts'
import type { EmailChanges } from './email-changes.ts'
import type { EmailUndo, EmailUndoDeps } from './email-undo.ts'
import type { FirstFactor, FirstFactorDeps } from './first-factor.ts'
import type { Invitations, InvitationsDeps } from './invitations.ts'
import type { Links } from './links.ts'
import type { MailLimits } from './mail-limits.ts'
import { lockUserToChange } from '../accounts/user-store.ts'
import { createLoginLimit, type LoginLimit, type LoginLimitDeps } from './login-limit.ts'
import type { NotMe, NotMeDeps } from './not-me.ts'
import type { AskedFactor, ProvedFactor } from './proved-factor.ts'
import type { EnterByProvider, EntryPurpose } from './provider-entry.ts'
import type { PasswordReset, PasswordResetDeps } from './reset.ts'
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
  firstFactor: FirstFactor
  /** By a link, and a provider that is connected to the account in place of a password. */
  byProvider: Partial<Record<EntryPurpose, EnterByProvider>>
  verification: Verification
  pendingSignups: PendingSignups
  /** Uses up a second factor that was proved, where the rest of the work comes later. */
  useFactor(asked: AskedFactor, proved: ProvedFactor): Promise<void>
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
  extends Omit<PasswordResetDeps & VerificationDeps & PendingSignupsDeps, 'lifetimeMs' | 'users'>,
    Omit<EmailChangeRequestsDeps, 'undoLinks' | 'lifetimeMs'>,
    EmailUndoDeps,
    FirstFactorDeps,
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
  const pendingSignups = createPendingSignups({ ...deps, lifetimeMs: lifetimes.verifyMs })
  const loginLimit = createLoginLimit(deps)
  const subjects = createSubjects(deps)
  const { reset, emailChangeRequests, emailUndo, invitations } = subjects
  /** By the purpose of the request. */
  const preparing: Partial<Record<MailRequest['purpose'], Pick<Recovery, 'prepare'>>> = {
    reset,
    signup: pendingSignups,
    new_email: emailChangeRequests,
    login_limited: loginLimit,
  }
  return {
    links,
    limits,
    ...subjects,
    loginLimit,
    pendingSignups,
    verification: createVerification({ ...deps, lifetimeMs: lifetimes.verifyMs }),
    byProvider: {
      invite: invitations.enterByProvider,
      ...(acceptsPasswords ? {} : { reset: reset.enterByProvider, undo: emailUndo.enterByProvider }),
    },
    useFactor: ({ userId }, { apply }) =>
      deps.db.inTransaction(async (transaction) => {
        await lockUserToChange(transaction, userId)
        await apply(transaction)
      }),
    askingBrowserMs: Math.max(lifetimes.resetMs, lifetimes.verifyMs),
    prepare: async (transaction, request) => preparing[request.purpose]?.prepare(transaction, request),
  }
}

/** What few requests need. */
const createSubjects = (deps: RecoveryDeps) => {
  const { resetMs: lifetimeMs, inviteMs } = deps.lifetimes
  return {
    ...createEmailSubjects(deps),
    reset: onDemand(
      async () => (await import('./reset.ts')).createPasswordReset({ ...deps, lifetimeMs }),
      'ask',
      'prepare',
      'createByOperator',
      'createIn',
      'requireAccount',
      'findAsked',
      'check',
      'enterByProvider',
    ),
    firstFactor: onDemand(
      async () => (await import('./first-factor.ts')).createFirstFactor(deps),
      'isAllowed',
      'require',
      'findAddress',
      'send',
      'prove',
    ),
    notMe: onDemand(
      async () => (await import('./not-me.ts')).createNotMe({ ...deps, resetLifetimeMs: lifetimeMs }),
      'requireAccount',
      'findForm',
      'check',
      'confirm',
    ),
    invitations: onDemand(
      async () => (await import('./invitations.ts')).createInvitations({ ...deps, lifetimeMs: inviteMs }),
      'invite',
      'inviteIn',
      'requireAccount',
      'check',
      'enterByProvider',
    ),
  }
}

const createEmailSubjects = (deps: RecoveryDeps) => {
  const { verifyMs: lifetimeMs } = deps.lifetimes
  const withUndoLinks = async () => ({ ...deps, undoLinks: (await import('./undo-links.ts')).createUndoLinks(deps) })
  return {
    emailChangeRequests: onDemand(
      async () => {
        const { createEmailChangeRequests } = await import('./email-change-requests.ts')
        return createEmailChangeRequests({ ...(await withUndoLinks()), lifetimeMs })
      },
      'ask',
      'cancel',
      'findRequested',
      'prepare',
    ),
    emailChanges: onDemand(
      async () => (await import('./email-changes.ts')).createEmailChanges(await withUndoLinks()),
      'describe',
      'confirm',
      'set',
      'setIn',
      'deleteEndedReservations',
    ),
    emailUndo: onDemand(
      async () => (await import('./email-undo.ts')).createEmailUndo(deps),
      'findAsked',
      'check',
      'waits',
      'enterByProvider',
    ),
  }
}
