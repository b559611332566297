import { AppError } from '../../../lib/errors.ts'
import { emailOf, isSignInProblem, type SignInProblem, signInProblem } from '../../../oauth/errors.ts'
import type { ProviderView } from '../../../pages/pages.ts'
import type { SignInGrant } from '../../../sessions/sessions.ts'
import type { EventInProgress } from '../../account-log.ts'
import type { RouteDeps } from '../../deps.ts'
import { statusOf } from '../../errors.ts'
import { type HttpResponse, page, type RequestContext, redirect } from '../../request-context.ts'
import { returnToParameter } from '../../return-to.ts'
import { startSession } from '../start-session.ts'

/** What somebody wanted of a provider. */
export interface RetryParams {
  /** Undefined where it is not about one of those that there are. */
  provider: ProviderView | undefined
  target: string
  intent?: 'link' | 'confirm' | undefined
  /** What is to be linked once he has proved an account by the provider, sealed. */
  pending?: string | undefined
}

/** Starts a session for who may come in; `forbidden` when he no longer may. */
export const signInAs = async (
  deps: RouteDeps,
  context: RequestContext,
  grant: SignInGrant | undefined,
  { target, found }: { target: string; found: EventInProgress },
): Promise<HttpResponse> => {
  const answer = grant && (await startSession(deps, context, { grant, returnTo: target, found }))
  // What let him in a moment ago does so no more: the account was disabled, deleted or disconnected.
  if (!answer) throw signInProblem('disabled')
  return answer
}

const CONFIRMATION_PATH = '/auth/account/confirm'

/** Does something for which one must have signed in just now; sends who has not to where he can. */
export const orConfirm = async (action: () => Promise<HttpResponse>): Promise<HttpResponse> => {
  try {
    return await action()
  } catch (error) {
    if (error instanceof AppError && error.reason === 'confirm_first') return redirect(CONFIRMATION_PATH)
    throw error
  }
}

/**
 * Does something with a provider; where that ends in a problem, says on a page what happened and what to do next. What
 * lies behind it goes to the log, never what the provider said to the page.
 */
export const orExplain = async (
  deps: RouteDeps,
  context: RequestContext,
  wish: RetryParams,
  action: () => Promise<HttpResponse>,
): Promise<HttpResponse> => {
  try {
    return await orConfirm(action)
  } catch (error) {
    if (!(error instanceof AppError) || !isSignInProblem(error.reason)) throw error
    return explain(deps, context, wish, error, error.reason)
  }
}

const explain = async (
  { pages, findCurrentSession, log }: RouteDeps,
  context: RequestContext,
  { provider, target, intent, pending }: RetryParams,
  error: AppError,
  problem: SignInProblem,
): Promise<HttpResponse> => {
  log.warn(
    { request_id: context.requestId, provider: provider?.name, problem, cause: causesOf(error) },
    'sign-in by a provider failed',
  )
  const signedIn = (await findCurrentSession(context)) !== undefined
  // Whoever presses "back" after he has signed in comes here again, and is where he wanted to be.
  if (problem === 'used' && signedIn) return redirect(target)
  const { retryAfterSeconds } = error
  const view = {
    csrfToken: context.csrfToken,
    returnTo: returnToParameter(target),
    provider,
    problem,
    intent,
    // What is not accepted here would not be accepted the next time.
    pending: problem === 'unreadable' ? undefined : pending,
    email: emailOf(error),
    signedIn,
    requestId: context.requestId,
    retryAfterSeconds,
  }
  return page(statusOf(error.code), pages.providerProblem(view), retryAfterSeconds)
}

const MAX_CAUSE_LENGTH = 500

/** Codes, tokens and secrets, which a provider may repeat in what it says; no word of a language looks like that. */
const SECRET = /(?=[\w.~+/=%-]*(?:\d|[a-z][A-Z]))[\w.~+/=%-]{16,}|[\w.~+/=%-]{40,}/g

/** The messages of an error and what caused it. No more of it: some carry the tokens that they are about. */
const causesOf = (error: Error): string => {
  const messages: string[] = []
  let cause: unknown = error.cause
  while (cause instanceof Error && messages.length < 5) {
    const { error: word, error_description: description } = cause as { error?: unknown; error_description?: unknown }
    messages.push([cause.message, word, description].filter((text) => typeof text === 'string').join(' '))
    cause = cause.cause
  }
  return messages.join(': ').replace(SECRET, '…').slice(0, MAX_CAUSE_LENGTH)
}
