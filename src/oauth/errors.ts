import { AppError, type ErrorCode } from '../lib/errors.ts'

/** How a sign-in by a provider can end without one: what a person is told depends on the name alone. */
const PROBLEMS = {
  cancelled: { code: 'forbidden', message: 'The sign-in was cancelled at the provider.' },
  refused: { code: 'invalid_request', message: 'The provider refused the sign-in.' },
  expired: { code: 'invalid_request', message: 'The sign-in took longer than ten minutes.' },
  other_browser: { code: 'invalid_request', message: 'The sign-in was begun in another browser.' },
  used: { code: 'invalid_request', message: 'This answer of the provider was used already.' },
  unreadable: { code: 'invalid_request', message: 'The state is missing, or not one that was made here for it.' },
  unreachable: { code: 'unavailable', message: 'The provider does not answer as it should.' },
  unverifiable: { code: 'unauthorized', message: 'The answer of the provider could not be verified.' },
  email_missing: { code: 'forbidden', message: 'The provider gave no email address.' },
  email_unverified: { code: 'forbidden', message: 'The provider has not verified the email address.' },
  domain_not_allowed: { code: 'forbidden', message: 'Accounts of this domain are not let in.' },
  signup_closed: { code: 'forbidden', message: 'New accounts are not open.' },
  disabled: { code: 'forbidden', message: 'The account is disabled.' },
  linked_elsewhere: { code: 'conflict', message: 'It is connected to another account here.' },
  other_account: { code: 'forbidden', message: 'This is not the account that is signed in.' },
  logged_out: { code: 'unauthorized', message: 'The session ended meanwhile.' },
  last_way: { code: 'conflict', message: 'The last way to sign in cannot be removed.' },
  no_proof: { code: 'conflict', message: 'Nothing here can prove that the account is yours.' },
} as const satisfies Record<string, { code: ErrorCode; message: string }>

export type SignInProblem = keyof typeof PROBLEMS

export const SIGN_IN_PROBLEMS = Object.keys(PROBLEMS) as SignInProblem[]

/** Whether the reason of an error is one of them. */
export const isSignInProblem = (reason: string | undefined): reason is SignInProblem =>
  reason !== undefined && Object.hasOwn(PROBLEMS, reason)

/** Until a provider that is away is worth another try. */
const RETRY_AFTER_SECONDS = 5

/** An `AppError` that has the problem's name as its reason. */
class SignInRefusal extends AppError {
  /** What it is about, as the provider wrote it; for the person alone. */
  readonly email: string | undefined

  constructor(name: SignInProblem, { cause, email }: { cause?: unknown; email?: string | undefined }) {
    const { code, message } = PROBLEMS[name]
    const retry = code === 'unavailable' ? { retryAfterSeconds: RETRY_AFTER_SECONDS } : {}
    super(code, message, { reason: name, cause, ...retry })
    this.email = email
  }
}

export const signInProblem = (name: SignInProblem, cause?: unknown): AppError => new SignInRefusal(name, { cause })

/** The same, about an email. */
export const emailProblem = (name: SignInProblem, email: string | undefined): AppError =>
  new SignInRefusal(name, { email })

/** The email that an error is about, where it is about one. */
export const emailOf = (error: AppError): string | undefined =>
  error instanceof SignInRefusal ? error.email : undefined
