import { loadedOnDemand } from '../lib/on-demand.ts'
import type { MailRequest, OutgoingMessage } from '../mail/mail.ts'
import type { Transaction } from '../storage/database.ts'
import { lockUserToChange } from '../accounts/user-store.ts'
import type { EmailChanges } from './email-changes.ts'
import type { Entries } from './entry.ts'
import type { FirstFactor } from './first-factor.ts'
import type { Invite } from './invite.ts'
import type { IssuedLinks } from './issued-links.ts'
import { type EntryPurpose, SIGN_IN_MS } from './link.ts'
import { createLoginLimit, type LoginLimit } from './login-limit.ts'
import type { LinksDeps } from './links-deps.ts'
import type { MailCodes } from './mail-codes.ts'
import type { MailLimits } from './mail-limits.ts'
import type { NotMe } from './not-me.ts'
import { createPendingSignups, type PendingSignups } from './pending-signups.ts'
import type { AskedFactor, ProvedFactor } from '../sign-in/asked-factor.ts'
import type { ResetLinks } from './reset-links.ts'
import type { SignInByMail } from './sign-in-by-mail.ts'
import { createVerification, type Verification } from './verification.ts'

/** Links in messages are ways back into an account, and proofs of an address. */
export interface Links {
  issued: IssuedLinks
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
  /** The codes that stand beside links. */
  codes: MailCodes
  signIn: SignInByMail
  /** Uses up a second factor that was proved, if the rest of the work comes later. */
  useFactor(asked: AskedFactor, proved: ProvedFactor): Promise<void>
  /** A browser that has asked for a link is remembered for this many milliseconds: longer than the link is good. */
  askingBrowserMs: number
  emailChanges: EmailChanges
  /**
   * Makes the message that was asked for, in the background: its look-ups take no time of the response. It resolves to
   * undefined when there is nothing to send.
   */
  prepare(transaction: Transaction, request: MailRequest): Promise<OutgoingMessage | undefined>
}

export const createLinks = (deps: LinksDeps): Links => {
  const { issued, limits, lifetimes, acceptsPasswords } = deps
  const pendingSignups = createPendingSignups(deps)
  const loginLimit = createLoginLimit(deps)
  const reset = loadedOnDemand(async () => (await import('./reset-links.ts')).createResetLinks(deps))
  const codes = loadedOnDemand(async () => (await import('./mail-codes.ts')).createMailCodes(deps))
  const signIn = loadedOnDemand(
    async () => (await import('./sign-in-by-mail.ts')).createSignInByMail({ ...deps, codes }),
    { isOn: deps.signIn.isOn },
  )
  const { needsPasskey } = signIn
  const emailChanges = loadedOnDemand(async () => (await import('./email-changes.ts')).createEmailChanges(deps))
  /** The key is the purpose of the request. */
  const preparing: Partial<Record<MailRequest['purpose'], Pick<Links, 'prepare'>>> = {
    reset,
    signup: pendingSignups,
    new_email: emailChanges,
    login_limited: loginLimit,
    sign_in: signIn,
  }
  return {
    issued,
    limits,
    entry: loadedOnDemand(async () => (await import('./entry.ts')).createEntries({ ...deps, needsPasskey })),
    takesConnectable: (purpose) => purpose === 'invite' || !acceptsPasswords,
    reset,
    emailChanges,
    firstFactor: loadedOnDemand(async () => (await import('./first-factor.ts')).createFirstFactor(deps)),
    notMe: loadedOnDemand(async () => (await import('./not-me.ts')).createNotMe(deps)),
    invitations: loadedOnDemand(async () => (await import('./invite.ts')).createInvite(deps)),
    loginLimit,
    pendingSignups,
    codes,
    signIn,
    verification: createVerification(deps),
    useFactor: ({ userId }, { apply }) =>
      deps.db.inTransaction(async (transaction) => {
        await lockUserToChange(transaction, userId)
        await apply(transaction)
      }),
    askingBrowserMs: Math.max(lifetimes.resetMs, lifetimes.verifyMs, SIGN_IN_MS),
    prepare: async (transaction, request) => preparing[request.purpose]?.prepare(transaction, request),
  }
}
