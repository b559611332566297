import type { PasskeyView } from '../passkey-views.ts'
import type { LinkedView, ProviderView } from '../provider-views.ts'
import type { CodeErrors } from '../second-factor/views.ts'
import type { FieldProblem, FormView } from '../views.ts'

/** A link that is not good. */
export interface DeadLinkView {
  /** What the link was for. */
  purpose: 'reset' | 'verify' | 'signup' | 'new_email' | 'undo' | 'invite' | 'first_factor' | NotMePurpose
  /**
   * Why it is not good: it was used, a newer one took its place, a change of the account ended it, its time is over, or
   * there is no such link.
   */
  state: 'used' | 'replaced' | 'ended' | 'expired' | 'unknown'
}

/** The page on which a user asks for a link to a new password. */
export interface ForgotPasswordView extends FormView {
  returnTo: string | undefined
  /** As typed, or as carried from the login page. */
  email: string
  errors: { email?: FieldProblem | undefined }
}

/** The second factor that the page of a link asks for. */
export interface AskedFactorView {
  /** Of an authenticator app. */
  codes: boolean
  recoveryCodes: boolean
  passkeys: boolean
}

/** What the form of a link got wrong. */
export type LinkFormErrors = CodeErrors & { password?: FieldProblem | undefined }

/** A new password by a link. */
export interface ResetPasswordView extends FormView {
  token: string
  /** The address of the account. */
  email: string
  /** Of another account that is signed in in this browser. */
  otherEmail: string | undefined
  /** One of these is connected to the account, where the service accepts no passwords. */
  providers: readonly ProviderView[] | undefined
  factor?: AskedFactorView | undefined
  errors: LinkFormErrors
}

/** What a user was told of: a provider that was connected, a sign-in in a new browser, a new passkey or second factor. */
type NotMePurpose = 'not_me' | 'not_my_browser' | 'not_my_passkey' | 'not_my_second_factor'

/** "This wasn't me": what a user was told of, and did not do. */
export interface NotMeView extends FormView {
  token: string
  /** The address of the account. */
  email: string
  purpose: NotMePurpose
  /** The label of the provider that was connected, where it is about one. */
  provider: string
  /** Whether a new password is chosen here. Without one, the user goes on to another page. */
  setsPassword: boolean
  /** Of another account that is signed in in this browser. */
  otherEmail: string | undefined
  factor?: AskedFactorView | undefined
  errors: LinkFormErrors
}

/** What else gets into an account whose password was just reset. */
export interface OtherWaysInView {
  csrfToken: string
  /** Where the user goes on to. */
  returnTo: string
  linked: readonly LinkedView[]
  passkeys: readonly Pick<PasskeyView, 'id' | 'name' | 'addedAtMs' | 'removable'>[]
}

/** An invitation that can be accepted. */
export interface InvitationView extends FormView {
  token: string
  /** The address that was invited. */
  email: string
  /** Of another account that is signed in in this browser. */
  otherEmail: string | undefined
  /** That of the account, or as typed. Undefined where usernames are made, and not asked for. */
  username: string | undefined
  /** Whether there is a form with a password, and not the providers alone. */
  byPassword: boolean
  providers: readonly ProviderView[]
  errors: { password?: FieldProblem | undefined; username?: FieldProblem | undefined }
}
