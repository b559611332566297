import { AppError, type ErrorCode } from '../lib/errors.ts'

/** A sign-in with a provider can fail in these ways. The page, the log and the metric follow from the name alone. */
const PROBLEMS = {
  cancelled: { code: 'forbidden', message: 'The sign-in was cancelled at the provider.' },
  refused: { code: 'invalid_request', message: 'The provider refused the sign-in.' },
  expired: { code: 'invalid_request', message: 'The sign-in took longer than ten minutes.' },
  other_browser: { code: 'invalid_request', message: 'The sign-in began in another browser.' },
  used: { code: 'invalid_request', message: 'This sign-in has ended already.' },
  unreadable: { code: 'invalid_request', message: 'The state is missing, or svc did not make it for this provider.' },
  unreachable: { code: 'unavailable', message: 'The provider does not answer as it should.' },
  unverifiable: { code: 'unauthorized', message: 'The response of the provider could not be verified.' },
  email_missing: { code: 'forbidden', message: 'The provider gave no email address.' },
  email_unverified: { code: 'forbidden', message: 'The provider has not verified the email address.' },
  domain_not_allowed: { code: 'forbidden', message: 'Accounts of this domain are not allowed.' },
  email_domain_not_accepted: { code: 'unprocessable', message: 'Emails of this domain are not accepted.' },
  email_reserved: { code: 'conflict', message: 'The email may be put back to the account that had it.' },
  signup_closed: { code: 'forbidden', message: 'Signup is closed.' },
  disabled: { code: 'forbidden', message: 'The account is disabled.' },
  linked_elsewhere: { code: 'conflict', message: 'The provider account is connected to another user.' },
  other_email: { code: 'forbidden', message: 'The provider has verified another email than that of the link.' },
  other_account: { code: 'forbidden', message: 'This provider account belongs to another user.' },
  logged_out: { code: 'unauthorized', message: 'The session has ended.' },
  last_way: { code: 'conflict', message: 'The last way to sign in cannot be removed.' },
  no_proof: { code: 'conflict', message: 'There is no way to prove that the account is yours.' },
} as const satisfies Record<string, { code: ErrorCode; message: string }>

export type SignInProblem = keyof typeof PROBLEMS

export const SIGN_IN_PROBLEMS = Object.keys(PROBLEMS) as SignInProblem[]

/** Tells whether the reason of an `AppError` is a sign-in problem. */
export const isSignInProblem = (reason: string | undefined): reason is SignInProblem =>
  reason !== undefined && Object.hasOwn(PROBLEMS, reason)

/** The user may try again this long after a provider did not answer. */
const RETRY_AFTER_SECONDS = 5

interface ProblemDetails {
  cause?: unknown
  email?: string | undefined
  values?: readonly string[]
}

/** The reason of this `AppError` is the name of the problem. */
class SignInRefusal extends AppError {
  /** The problem is about this email, as the provider wrote it: it is shown to the user, and never logged. */
  readonly email: string | undefined

  constructor(name: SignInProblem, { cause, email, values = [] }: ProblemDetails) {
    const { code, message } = PROBLEMS[name]
    const retry = code === 'unavailable' ? { retryAfterSeconds: RETRY_AFTER_SECONDS } : {}
    super(code, message, { reason: name, cause, values, ...retry })
    this.email = email
  }
}

export const signInProblem = (name: SignInProblem, cause?: unknown): AppError => new SignInRefusal(name, { cause })

/**
 * Makes a sign-in problem with an email, which the page shows, and with the values that would be accepted in its place.
 */
export const emailProblem = (name: SignInProblem, email: string | undefined, values?: readonly string[]): AppError =>
  new SignInRefusal(name, { email, ...(values && { values }) })

/** Gives the email that an error is about; it returns undefined when it is about none. */
export const emailOf = (error: AppError): string | undefined =>
  error instanceof SignInRefusal ? error.email : undefined
