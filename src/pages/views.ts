import type { AccountDone } from './account-done.ts'
import type { AccountEmailView } from './account-email-view.ts'
import type { ActivityView } from './activity-view.ts'
import type { FieldProblem, FormProblem } from './form-views.ts'
import type { PasskeysView, RefusedNameView } from './passkey-views.ts'
import type { ProviderView, SignInView } from './provider-views.ts'
import type { SecondFactorSectionView } from './second-factor/views.ts'

export type { FieldProblem, FormProblem, LockedCodes } from './form-views.ts'
export { isFieldProblem } from './form-views.ts'
export type * from './provider-views.ts'
export type * from './reauthentication-view.ts'

export interface FormView {
  csrfToken: string
  problem?: FormProblem | undefined
}

interface EntryView extends FormView {
  /** `return_to`, kept in the form and in the links between login and signup. */
  returnTo: string | undefined
  /** As typed. */
  email: string
  providers: readonly ProviderView[]
}

export interface LoginView extends EntryView {
  /** Whether there is a form with a password, and not the providers alone. */
  passwords: boolean
  errors: { email?: FieldProblem | undefined; password?: FieldProblem | undefined }
  notice?: 'deleted' | 'signed_out' | 'sign_in_ended' | 'check_mail' | undefined
  signupOpen: boolean
}

export interface SignupView extends EntryView {
  /** As typed. Undefined where usernames are made, and not asked for. */
  username: string | undefined
  errors: {
    email?: FieldProblem | undefined
    username?: FieldProblem | undefined
    password?: FieldProblem | undefined
  }
  /** The domains of which an email must be; none: any. */
  acceptedDomains: readonly string[]
  /** Whether there is a form with a password, and not the providers alone. */
  byPassword: boolean
  /** Signup is closed. */
  closed: boolean
}

/** A sign-in with a new provider whose email belongs to an existing account. */
export interface LinkAccountView extends FormView {
  /** The new provider, which will be connected. */
  provider: ProviderView
  email: string
  /** Sealed by the service; each form sends it back. */
  pending: string
  hasPassword: boolean
  /** The providers that are already connected to the account. */
  providers: readonly ProviderView[]
  /** Whether the account's email was never proved, so that the owner of the email may reclaim the account. */
  canReclaim: boolean
  returnTo: string | undefined
  errors: { password?: FieldProblem | undefined }
}

export interface LogoutView extends FormView {
  /** `return_to`, kept in the form. */
  returnTo: string | undefined
  signedIn: boolean
  email?: string | undefined
}

export interface SessionView {
  id: string
  userAgent: string
  address: string
  createdAtMs: number
  lastSeenAtMs: number
  current: boolean
}

export interface AccountView extends FormView, AccountEmailView {
  user: { email: string; username: string; createdAtMs: number }
  nowMs: number
  sessions: readonly SessionView[]
  /** Number of further sessions that are not listed. */
  moreSessions: number
  done?: AccountDone | undefined
  /** The section that says what was done, or what is wrong; what is none: as `done` says, else the top of the page. */
  at?: string | undefined
  /** `value` is the content of the field: the username, or the text that was typed. Undefined without usernames. */
  username?: { value: string; error?: FieldProblem | undefined } | undefined
  /** Undefined where the service accepts none. */
  password?:
    | { errors: { current_password?: FieldProblem | undefined; new_password?: FieldProblem | undefined } }
    | undefined
  /**
   * Its form is collapsed unless it is open, or has an error. `isBehindConfirmation`: there is none before the user has
   * confirmed that it is them.
   */
  deletion: { error?: FieldProblem | undefined; isOpen?: boolean; isBehindConfirmation?: boolean }
  /** Undefined if no provider is configured and none is connected. */
  signIn?: SignInView | undefined
  /** Undefined where there are none. */
  passkeys?: PasskeysView | undefined
  /** Undefined where there is nothing to set up, and nothing set up. */
  secondFactor?: SecondFactorSectionView | undefined
  refusedPasskeyName?: RefusedNameView | undefined
  /** The latest first. */
  activity: readonly ActivityView[]
}

/** The application refuses the session of a signed-in user, and redirects to the login page again and again. */
export interface RedirectLoopView {
  email: string
  /** The path and query of the application that redirects. */
  returnTo: string
  /** The `iss` of access tokens. */
  issuer: string
  nowMs: number
  requestId: string
}

/** The address of the application, as long as no application answers there. */
export interface WelcomeView {
  /** Undefined: signed out. */
  email: string | undefined
  /** Where svc was reached. */
  host: string
  signupOpen: boolean
  requestId: string
}

export interface ErrorView {
  status: number
  /** The message, which is shown. */
  message: string
  requestId: string
  retryAfterSeconds: number | undefined
  /** `return_to` of a form that was refused because it was too old: the page then offers to start again. */
  returnTo?: string | undefined
}
