import type { Layout } from '../layout.ts'
import { createCheckMailPage, createEmailConfirmedPage, createEmailTakenPage } from './check-mail.ts'
import { createConfirmEmailPage, createConfirmSignupPage, createProveAccountPage } from './confirm-email.ts'
import type { CheckMailView, ConfirmEmailView, ConfirmSignupView, ProveAccountView } from './verification-views.ts'

/** The pages on which an email is proved. */
export interface VerificationPages {
  checkMail(view: CheckMailView): string
  confirmEmail(view: ConfirmEmailView): string
  proveAccount(view: ProveAccountView): string
  confirmSignup(view: ConfirmSignupView): string
  emailConfirmed(view: { email: string }): string
  emailTaken(view: { email: string }): string
}

export const createVerificationPages = (layout: Layout): VerificationPages => ({
  checkMail: createCheckMailPage(layout),
  confirmEmail: createConfirmEmailPage(layout),
  proveAccount: createProveAccountPage(layout),
  confirmSignup: createConfirmSignupPage(layout),
  emailConfirmed: createEmailConfirmedPage(layout),
  emailTaken: createEmailTakenPage(layout),
})
