import { AppError, type ErrorCode } from '../lib/errors.ts'
import { isSignInProblem, SIGN_IN_PROBLEMS } from '../oauth/errors.ts'
import type { HttpResponse } from './response.ts'
import type { RefreshResult } from '../sessions/sessions.ts'

/** A login or a signup can fail in these ways. */
const FAILURES = ['invalid', 'rate_limited', 'busy', 'given_up', 'unavailable', 'failed'] as const
export const LOGIN_OUTCOMES = ['succeeded', ...FAILURES, 'wrong_credentials'] as const
export const SIGNUP_OUTCOMES = ['succeeded', ...FAILURES, 'email_taken', 'username_taken', 'closed'] as const

/**
 * A sign-in with a provider can end in these ways. `proof_asked` means that the email belongs to an account, and the
 * user must first prove that it is theirs.
 */
export const PROVIDER_OUTCOMES = ['succeeded', 'proof_asked', 'failed', ...SIGN_IN_PROBLEMS] as const

/**
 * A sign-in with a passkey, or a confirmation, can end in these ways. `refused`: the browser sent something that was
 * not good.
 */
export const PASSKEY_OUTCOMES = ['succeeded', 'refused', 'disabled', 'rate_limited', 'unavailable', 'failed'] as const
/**
 * These happen to sign-ins by mail. `code`, `link`: it was right. `passkey_needed`: the account has a passkey, and does
 * not know the browser.
 */
export const EMAIL_SIGN_IN_OUTCOMES = ['requested', 'code', 'link', 'wrong_code', 'limited', 'passkey_needed'] as const
/** A sign-in can wait for a code, or for the user to set a second factor up. */
export const ASKED_FACTORS = ['code', 'set_up'] as const

/**
 * A program that acts for users, or the page that its user sees instead, is told about failures by these names: those of
 * OAuth, and what is wrong with a request that leads nowhere.
 */
export const CLIENT_ERRORS = [
  'invalid_request',
  'invalid_client',
  'invalid_grant',
  'invalid_scope',
  'invalid_target',
  'invalid_token',
  'insufficient_scope',
  'invalid_redirect_uri',
  'invalid_client_metadata',
  'unsupported_grant_type',
  'unsupported_response_type',
  'request_not_supported',
  'access_denied',
  'login_required',
  'consent_required',
  'interaction_required',
  'unmet_authentication_requirements',
  'temporarily_unavailable',
  'server_error',
  'client_missing',
  'client_unknown',
  'client_document',
  'redirect_missing',
  'redirect_unknown',
  'parameter_repeated',
  'too_long',
  'request_expired',
  'request_other_browser',
  'request_unreadable',
] as const

export type ClientError = (typeof CLIENT_ERRORS)[number]
type EmailSignInOutcome = (typeof EMAIL_SIGN_IN_OUTCOMES)[number]
type PasskeyOutcome = (typeof PASSKEY_OUTCOMES)[number]
type AskedFactor = (typeof ASKED_FACTORS)[number]
type Failure = (typeof FAILURES)[number]
type LoginOutcome = (typeof LOGIN_OUTCOMES)[number]
type SignupOutcome = (typeof SIGNUP_OUTCOMES)[number]
type ProviderOutcome = (typeof PROVIDER_OUTCOMES)[number]

/**
 * These numbers about requests are counted. No labels come from users or clients: they must stay few, and hold no
 * personal data.
 */
export interface RequestMetrics {
  /** `route` is the path as the table has it. It is undefined for a path that is not in the table. */
  observeRequest: (method: string, route: string | undefined, status: number, seconds: number) => void
  /** Counts a request that could not be read. */
  countUnreadable: (status: number) => void
  /** Counts a connection beyond `SVC_MAX_CONNECTIONS`. */
  countRefusedConnection: () => void
  countRefresh: (outcome: RefreshResult['outcome']) => void
  countLogin: (outcome: LoginOutcome) => void
  countSignup: (outcome: SignupOutcome) => void
  /** `provider` is the name in the settings. */
  countProviderSignIn: (provider: string, outcome: ProviderOutcome) => void
  countPasskey: (outcome: PasskeyOutcome) => void
  countEmailSignIn: (outcome: EmailSignInOutcome) => void
  /** Counts a sign-in by password or provider that is held until the user has shown a second factor. */
  countAskedFactor: (factor: AskedFactor) => void
  /** Counts an error that svc as an OAuth server has told a client, or has shown in its place. */
  countClientError: (error: ClientError) => void
}

/** This serves errors whose reason is not counted by itself. */
const BY_CODE: Partial<Record<ErrorCode, Failure>> = {
  unprocessable: 'invalid',
  rate_limited: 'rate_limited',
  unavailable: 'unavailable',
}

const failureOf = (thrown: unknown): Failure => {
  if (!(thrown instanceof AppError)) return 'failed'
  const { code, reason } = thrown
  return reason === 'busy' || reason === 'given_up' ? reason : (BY_CODE[code] ?? 'failed')
}

/** This says how an attempt ended. */
export type Ended = { response: HttpResponse } | { thrown: unknown }

export type CountEnd = (ended: Ended) => void

export const loginOutcome = (ended: Ended): LoginOutcome => {
  if ('response' in ended) return 'succeeded'
  const { thrown } = ended
  return thrown instanceof AppError && thrown.code === 'unauthorized' ? 'wrong_credentials' : failureOf(thrown)
}

export const signupOutcome = (ended: Ended): SignupOutcome => {
  if ('response' in ended) return 'succeeded'
  const { thrown } = ended
  const reason = thrown instanceof AppError ? thrown.reason : undefined
  return reason === 'email_taken' || reason === 'username_taken' ? reason : failureOf(thrown)
}

export const passkeyOutcome = (ended: Ended): PasskeyOutcome => {
  if ('response' in ended) return 'succeeded'
  const { thrown } = ended
  if (!(thrown instanceof AppError)) return 'failed'
  const { code } = thrown
  if (code === 'unauthorized' || code === 'invalid_request') return 'refused'
  if (code === 'forbidden') return 'disabled'
  return code === 'rate_limited' || code === 'unavailable' ? code : 'failed'
}

/** Runs `action`, and counts how it ended. */
export const countOutcome = async (action: () => Promise<HttpResponse>, count: CountEnd): Promise<HttpResponse> => {
  try {
    const response = await action()
    count({ response })
    return response
  } catch (error) {
    count({ thrown: error })
    throw error
  }
}

/** Runs a step of a sign-in with a provider, and counts how it failed. */
export const countProviderFailure = async <T>(
  requestMetrics: RequestMetrics | undefined,
  provider: string,
  action: () => Promise<T>,
): Promise<T> => {
  try {
    return await action()
  } catch (error) {
    const reason = error instanceof AppError ? error.reason : undefined
    requestMetrics?.countProviderSignIn(provider, isSignInProblem(reason) ? reason : 'failed')
    throw error
  }
}
