import type { ProviderView, SignInView } from './provider-views.ts'

export type * from './provider-views.ts'

const FIELD_PROBLEMS = [
  'email_missing',
  'email_invalid',
  'email_taken',
  'password_missing',
  'password_too_short',
  'password_too_long',
  'password_common',
  'password_repeats',
  'password_same_as_account',
  'password_same_as_site',
  'password_wrong',
  'username_invalid',
  'username_taken',
] as const

/** What is wrong with one field; `texts.fieldProblems` says it in words. */
export type FieldProblem = (typeof FIELD_PROBLEMS)[number]

/** Whether the reason of an error is one that stands at a field. */
export const isFieldProblem = (reason: string | undefined): reason is FieldProblem =>
  FIELD_PROBLEMS.some((problem) => problem === reason)

/** What is wrong with a form as a whole. The id of the request leads an operator to its line in the log. */
export type FormProblem =
  | { kind: 'credentials_wrong' }
  | { kind: 'too_many_attempts'; retryAfterSeconds: number; requestId: string }
  | { kind: 'busy'; retryAfterSeconds: number; requestId: string }

interface FormView {
  csrfToken: string
  problem?: FormProblem | undefined
}

interface EntryView extends FormView {
  /** Where to go afterwards; kept in the form and on the links between login and signup. */
  returnTo: string | undefined
  /** As typed. */
  email: string
  providers: readonly ProviderView[]
}

export interface LoginView extends EntryView {
  errors: { email?: FieldProblem | undefined; password?: FieldProblem | undefined }
  notice?: 'deleted' | 'signed_out' | undefined
  signupOpen: boolean
}

export interface SignupView extends EntryView {
  /** As typed. */
  username: string
  errors: {
    email?: FieldProblem | undefined
    username?: FieldProblem | undefined
    password?: FieldProblem | undefined
  }
  /** New accounts are not open. */
  closed: boolean
}

/** Somebody comes by a new provider, and the email belongs to an account. */
export interface LinkAccountView extends FormView {
  /** The new one, which is to be connected. */
  provider: ProviderView
  email: string
  /** Sealed by the service; goes back with each form. */
  pending: string
  hasPassword: boolean
  /** Those that are connected to the account already. */
  providers: readonly ProviderView[]
  /** Nobody ever proved that the email is his: its owner may take the account. */
  canClaim: boolean
  returnTo: string | undefined
  errors: { password?: FieldProblem | undefined }
}

/** Somebody who is logged in shows once more who he is. */
export interface ReauthenticationView extends FormView {
  email: string
  hasPassword: boolean
  /** Those that are connected to the account. */
  providers: readonly ProviderView[]
  errors: { password?: FieldProblem | undefined }
}

export interface LogoutView {
  csrfToken: string
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

export interface AccountView extends FormView {
  user: { email: string; username: string; createdAtMs: number }
  nowMs: number
  sessions: readonly SessionView[]
  /** How many there are besides those. */
  moreSessions: number
  done?:
    | 'username'
    | 'password'
    | 'password_set'
    | 'session'
    | 'sessions'
    | 'linked'
    | 'unlinked'
    | 'confirmed'
    | undefined
  /** `value` is what stands in the field: the username, or what was typed. */
  username: { value: string; error?: FieldProblem | undefined }
  password: {
    errors: { current_password?: FieldProblem | undefined; new_password?: FieldProblem | undefined }
  }
  deletion: { error?: FieldProblem | undefined }
  /** Undefined where no provider is configured and none is linked. */
  signIn?: SignInView | undefined
}

/** The application does not accept the session of a signed-in user, and redirects to the login page without end. */
export interface RedirectLoopView {
  email: string
  /** The path of the application that does so, with its query. */
  returnTo: string
  /** The `iss` of access tokens. */
  issuer: string
  nowMs: number
  requestId: string
}

export interface ErrorView {
  status: number
  /** For people; shown. */
  message: string
  requestId: string
  retryAfterSeconds: number | undefined
  /** Where to go after logging in, of a form that was refused for its age: the page then offers to start again. */
  returnTo?: string | undefined
}
