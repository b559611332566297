import { createProviderProblemPage, type ProviderProblemView } from './provider-problem-page.ts'
import type { ScreenServices } from '../site/frame.ts'
import type { OfferedWays, Services, ProviderView } from '../../http/services.ts'
import { AppError } from '../../lib/errors.ts'
import { emailOf, isSignInProblem, type SignInProblem } from '../../oauth/errors.ts'
import { statusOf } from '../../http/errors.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type HttpResponse, page, redirect } from '../../http/response.ts'
import { returnToParameter } from '../../http/return-to.ts'
import { ACCOUNT_PATH, confirmPath, type StepUp } from '../../http/step-up.ts'
import { signupWays, stayAtLogin } from './offered-ways.ts'
import type { Awaitable } from '../../lib/awaitable.ts'
import type { NewAuthorizationFlow } from '../../oauth/oauth.ts'
import { isToken, newToken } from '../../http/cookies.ts'

/** A user wanted this from a provider. The problem page uses it to offer another try. */
export interface RetryParams {
  /** This is undefined when no configured provider is concerned. */
  provider: ProviderView | undefined
  returnTo: string
  intent?: 'link' | 'confirm' | undefined
  /** This is set for `confirm`. */
  acr?: StepUp['acr']
  /** The user has followed this link. */
  entry?: ProviderProblemView['entry']
  /** This sealed request names the provider that is connected once the user has proved the account. */
  linkRequest?: string | undefined
}

/**
 * Runs `action`. When it ends in a sign-in problem, this logs the cause and shows a page that says what happened and
 * what to do next. The cause never appears on the page: it can repeat what the provider said.
 */
export const orProblemPage = async (
  deps: OfferedWays &
    Pick<ScreenServices, 'cookieWriter' | 'findCurrentSession' | 'homeUrl' | 'log' | 'layout' | 'signup'>,
  context: RequestContext,
  retryParams: RetryParams,
  action: () => Promise<HttpResponse>,
): Promise<HttpResponse> => {
  try {
    return await action()
  } catch (error) {
    stayAtLogin(deps, context)
    if (!(error instanceof AppError) || !isSignInProblem(error.reason)) throw error
    const { reason: problem } = error
    deps.log.warn(
      { request_id: context.requestId, provider: retryParams.provider?.name, problem, cause: causesOf(error) },
      'sign-in by a provider failed',
    )
    return problemPage(deps, context, retryParams, error, problem)
  }
}

const problemPage = async (
  deps: OfferedWays & Pick<ScreenServices, 'findCurrentSession' | 'homeUrl' | 'layout' | 'signup'>,
  context: RequestContext,
  { provider, returnTo, intent, acr, entry, linkRequest }: RetryParams,
  error: AppError,
  problem: SignInProblem,
): Promise<HttpResponse> => {
  const { layout, findCurrentSession } = deps
  const providerProblemPage = createProviderProblemPage(layout)
  const signedIn = (await findCurrentSession(context)) !== undefined
  // A user who presses "back" after the sign-in comes here again, and is signed in already.
  if (problem === 'used' && signedIn) return redirect(intent === 'confirm' ? confirmationPath(returnTo, acr) : returnTo)
  const { retryAfterSeconds } = error
  const view = {
    csrfToken: context.csrfToken,
    returnTo: intent === 'confirm' ? returnTo : returnToParameter(returnTo, deps),
    acr,
    confirmUrl: confirmPath({ returnTo: returnTo === ACCOUNT_PATH ? undefined : returnTo, acr }),
    provider,
    problem,
    intent,
    entry,
    // A link request that was refused would be refused again.
    pending: problem === 'unreadable' ? undefined : linkRequest,
    email: emailOf(error),
    accepted: error.values,
    canSignUp: signupWays(deps).byPassword,
    signedIn,
    requestId: context.requestId,
    retryAfterSeconds,
  }
  return page(statusOf(error.code), providerProblemPage(view), retryAfterSeconds)
}

/** Names the page of confirmation, which goes on at once if the user has confirmed already. */
const confirmationPath = (returnTo: string, acr: StepUp['acr']): string =>
  returnTo === ACCOUNT_PATH ? ACCOUNT_PATH : confirmPath({ returnTo, acr })

const MAX_CAUSE_LENGTH = 500

/**
 * This matches codes, tokens and secrets, which a provider may repeat in its messages; no word of a language looks like
 * that.
 */
const SECRET = /(?=[\w.~+/=%-]*(?:\d|[a-z][A-Z]))[\w.~+/=%-]{16,}|[\w.~+/=%-]{40,}/g

/** Collects the messages of an error's causes and nothing else: some errors carry tokens in their properties. */
const causesOf = (error: Error): string => {
  const messages: string[] = []
  let cause: unknown = error.cause
  while (cause instanceof Error && messages.length < 5) {
    const { error: code, error_description: description } = cause as { error?: unknown; error_description?: unknown }
    messages.push([cause.message, code, description].filter((text) => typeof text === 'string').join(' '))
    cause = cause.cause
  }
  return messages.join(': ').replace(SECRET, '…').slice(0, MAX_CAUSE_LENGTH)
}

/** Counts a start, and sends the browser to the provider of the flow. */
export const sendToProvider = async (
  { oauth, limits, cookieWriter }: Pick<Services, 'oauth' | 'limits' | 'cookieWriter'>,
  context: RequestContext,
  makeFlow: () => Awaitable<NewAuthorizationFlow>,
): Promise<HttpResponse> => {
  limits.countProviderStart(context.network)
  const { oauth: cookie } = context.cookies
  const browserSecret = isToken(cookie) ? cookie : newToken()
  const url = await oauth.begin(await makeFlow(), browserSecret)
  context.setCookies([cookieWriter.oauth(browserSecret)])
  return redirect(url.href)
}
