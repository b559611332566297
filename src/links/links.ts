import { loadedOnDemand } from '../lib/on-demand.ts'
import type { MailRequest, OutgoingMessage } from '../mail/mail.ts'
import type { Transaction } from '../storage/database.ts'
import { lockUserToChange } from '../accounts/user-store.ts'
import type { EmailChangeRequests, EmailChangeRequestsDeps } from './email-change-requests.ts'
import type { EmailChanges, EmailChangesDeps } from './email-changes.ts'
import type { Entries, EntriesDeps } from './entry.ts'
import type { FirstFactor, FirstFactorDeps } from './first-factor.ts'
import type { Invite, InviteDeps } from './invite.ts'
import type { Links } from './issued-links.ts'
import type { EntryPurpose } from './link.ts'
import { createLoginLimit, type LoginLimit, type LoginLimitDeps } from './login-limit.ts'
import type { MailLimits } from './mail-limits.ts'
import type { NotMe, NotMeDeps } from './not-me.ts'
import { createPendingSignups, type PendingSignups, type PendingSignupsDeps } from './pending-signups.ts'
import type { AskedFactor, ProvedFactor } from '../sign-in/asked-factor.ts'
import type { ResetLinks, ResetLinksDeps } from './reset-links.ts'
import { createVerification, type Verification, type VerificationDeps } from './verification.ts'

/** Links in messages are ways back into an account, and proofs of an address. */
export interface Recovery {
  links: Links
  limits: MailLimits
  entry: Entries
  /** Tells whether the user of a link may choose a provider or a passkey in place of a password. */
  takesConnectable(purpose: EntryPurpose): boolean
  reset: ResetLinks
  notMe: NotMe
  loginLimit: LoginLimit
  invitations: Invite
  firstFactor: FirstFactor
  verification: Verification
  pendingSignups: PendingSignups
  /** Uses up a second factor that was proved, if the rest of the work comes later. */
  useFactor(asked: AskedFactor, proved: ProvedFactor): Promise<void>
  /** A browser that has asked for a link is remembered for this many milliseconds: longer than the link is good. */
  askingBrowserMs: number
  emailChangeRequests: EmailChangeRequests
  emailChanges: EmailChanges
  /**
   * Makes the message that was asked for, in the background: its look-ups take no time of the response. It resolves to
   * undefined when there is nothing to send.
   */
  prepare(transaction: Transaction, request: MailRequest): Promise<OutgoingMessage | undefined>
}

type SubjectDeps = ResetLinksDeps &
  EntriesDeps &
  VerificationDeps &
  PendingSignupsDeps &
  EmailChangeRequestsDeps &
  EmailChangesDeps &
  FirstFactorDeps &
  LoginLimitDeps &
  NotMeDeps &
  InviteDeps

interface RecoveryDeps extends Omit<SubjectDeps, 'lifetimeMs' | 'resetLifetimeMs' | 'undoLinks'> {
  /** Links are good for this long, in milliseconds. */
  lifetimes: { resetMs: number; verifyMs: number; inviteMs: number }
  /**
   * It tells whether users have passwords: then links to a new password, and those that undo a change, are for a new
   * one.
   */
  acceptsPasswords: boolean
}

export const createRecovery = (deps: RecoveryDeps): Recovery => {
  const { links, limits, acceptsPasswords } = deps
  const { resetMs, verifyMs, inviteMs } = deps.lifetimes
  const pendingSignups = createPendingSignups({ ...deps, lifetimeMs: verifyMs })
  const loginLimit = createLoginLimit(deps)
  const withUndoLinks = async () => ({ ...deps, undoLinks: (await import('./undo-links.ts')).createUndoLinks(deps) })
  const reset = loadedOnDemand(async () =>
    (await import('./reset-links.ts')).createResetLinks({ ...deps, lifetimeMs: resetMs }),
  )
  const emailChangeRequests = loadedOnDemand(async () => {
    const { createEmailChangeRequests } = await import('./email-change-requests.ts')
    return createEmailChangeRequests({ ...(await withUndoLinks()), lifetimeMs: verifyMs })
  })
  /** The key is the purpose of the request. */
  const preparing: Partial<Record<MailRequest['purpose'], Pick<Recovery, 'prepare'>>> = {
    reset,
    signup: pendingSignups,
    new_email: emailChangeRequests,
    login_limited: loginLimit,
  }
  return {
    links,
    limits,
    entry: loadedOnDemand(async () => (await import('./entry.ts')).createEntries(deps)),
    takesConnectable: (purpose) => purpose === 'invite' || !acceptsPasswords,
    reset,
    emailChangeRequests,
    emailChanges: loadedOnDemand(async () => (await import('./email-changes.ts')).createEmailChanges(deps)),
    firstFactor: loadedOnDemand(async () => (await import('./first-factor.ts')).createFirstFactor(deps)),
    notMe: loadedOnDemand(async () => (await import('./not-me.ts')).createNotMe({ ...deps, resetLifetimeMs: resetMs })),
    invitations: loadedOnDemand(async () =>
      (await import('./invite.ts')).createInvite({ ...deps, lifetimeMs: inviteMs }),
    ),
    loginLimit,
    pendingSignups,
    verification: createVerification({ ...deps, lifetimeMs: verifyMs }),
    useFactor: ({ userId }, { apply }) =>
      deps.db.inTransaction(async (transaction) => {
        await lockUserToChange(transaction, userId)
        await apply(transaction)
      }),
    askingBrowserMs: Math.max(resetMs, verifyMs),
    prepare: async (transaction, request) => preparing[request.purpose]?.prepare(transaction, request),
  }
}
