import { AppError } from '../../lib/errors.ts'
import { signInProblem } from '../../oauth/errors.ts'
import type { AuthorizationFlow, ReadState } from '../../oauth/oauth.ts'
import { isEntryPurpose } from '../../links/link.ts'
import type { AuthenticatedSession } from '../../sessions/sessions.ts'
import type { EventFacts } from '../../audit/account-log.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { countProviderFailure } from '../../http/request-metrics.ts'
import { type HttpResponse, isFinished, redirect } from '../../http/response.ts'
import { doneOnAccount } from '../site/done.ts'
import { enterByLink } from './enter-by-link.ts'
import { ACCOUNT_PATH, type StepUp } from '../../http/step-up.ts'
import { confirmByProvider } from './confirm-by-provider.ts'
import { orProblemPage, type RetryParams } from '../sign-in/provider-flow.ts'
import { requireSignedIn } from './provider-services.ts'
import {
  type Callback,
  createSignInByProvider,
  requireStarted,
  type SignInByProviderDeps,
} from './sign-in-by-provider.ts'
import type { Fields } from '../../http/body/form.ts'

const EVENTS = { sign_in: 'login', confirm: 'reauthentication', link: 'provider_connect', enter: 'login' } as const

/** Handles `/auth/oauth/{name}/callback`: it ends the flow of a browser that comes back from the provider. */
export const createProviderCallback = (deps: SignInByProviderDeps) => {
  const { provider, oauth, requestMetrics, accountLog } = deps
  const signIn = createSignInByProvider(deps)

  /** The session may be newer than the flow: the user may have re-authenticated in another tab. */
  const requireSessionOf = async (
    context: RequestContext,
    { userId }: AuthorizationFlow,
  ): Promise<AuthenticatedSession> => {
    const session = await requireSignedIn(deps, context)
    if (session.userId !== userId) throw signInProblem('logged_out')
    return session
  }

  const finish = async (context: RequestContext, callback: Callback): Promise<HttpResponse> => {
    const { flow, browserSecret, facts } = callback
    const isOfSession = flow.intent === 'link' || flow.intent === 'confirm'
    const session = isOfSession ? await requireSessionOf(context, flow) : undefined
    Object.assign(facts, { userId: session?.userId, sessionId: session?.sessionId })
    const profile = await oauth.finish(flow, requireCallbackParameters(context.query), browserSecret)
    if (flow.intent === 'enter') return enterByLink(deps, context, { flow, profile, facts })
    if (!session) return signIn(context, callback, profile)
    if (flow.intent === 'confirm') {
      const grant = await oauth.signInAs(profile, session.userId)
      return requireStarted(await confirmByProvider(deps, context, { session, grant, stepUp: stepUpOf(flow), facts }))
    }
    await oauth.link(profile, session, context)
    return redirect(doneOnAccount(deps, context, session.userId, 'linked'))
  }

  /** The pending link or the link is given back, to try again, only to the browser that the flow belongs to. */
  const retryParamsOf = ({ flow, problem }: ReadState, browserSecret: string | undefined): RetryParams => {
    if (!flow) return { provider, returnTo: deps.homeUrl }
    const { returnTo, pendingLink, entry, acr } = flow
    const isOfBrowser = browserSecret && !problem
    return {
      provider,
      returnTo,
      intent: flow.intent === 'link' || flow.intent === 'confirm' ? flow.intent : undefined,
      acr,
      entry: isOfBrowser && isEntryPurpose(entry?.purpose) ? { ...entry, purpose: entry.purpose } : undefined,
      linkRequest:
        pendingLink && isOfBrowser ? oauth.sealLinkRequest({ pendingLink, returnTo }, browserSecret) : undefined,
    }
  }

  const finishAndRecord = (
    context: RequestContext,
    { flow, problem }: ReadState,
    browserSecret: string | undefined,
  ): Promise<HttpResponse> => {
    const event: EventFacts = { event: EVENTS[flow?.intent ?? 'sign_in'], method: provider.name }
    return accountLog.recordOutcome(context, event, async (facts) => {
      if (problem || !flow || !browserSecret) throw signInProblem(problem ?? 'unreadable')
      const response = await finish(context, { flow, browserSecret, facts })
      if (isFinished(response))
        requestMetrics?.countProviderSignIn(provider.name, facts.reason ? 'proof_asked' : 'succeeded')
      return response
    })
  }

  return {
    show(context: RequestContext): Promise<HttpResponse> {
      const browserSecret = context.cookies.oauth
      const state = oauth.readState(findState(context.query), provider.name, browserSecret)
      return orProblemPage(deps, context, retryParamsOf(state, browserSecret), () =>
        countProviderFailure(requestMetrics, provider.name, () => finishAndRecord(context, state, browserSecret)),
      )
    },

    /** A form that a provider's site posts comes without our cookies; the redirect to the `GET` brings them. */
    act(context: RequestContext): HttpResponse {
      const params = readCallbackParameters(context.form).toString()
      if (params.length <= MAX_CALLBACK_LENGTH) return redirect(`/auth/oauth/${provider.name}/callback?${params}`)
      throw new AppError('invalid_request', `The parameters are longer than ${MAX_CALLBACK_LENGTH} characters.`)
    },
  }
}

/** Reads what a confirmation is for. */
const stepUpOf = ({ returnTo, acr }: AuthorizationFlow): StepUp => ({
  returnTo: returnTo === ACCOUNT_PATH ? undefined : returnTo,
  acr,
})

/** These are the parameters of a callback (RFC 6749 section 4.1.2, RFC 9207; `user` is Apple's). */
const CALLBACK_PARAMETERS = ['code', 'state', 'iss', 'error', 'error_description', 'user'] as const

/** Proxies refuse longer addresses. */
export const MAX_CALLBACK_LENGTH = 8000

/** Reads the parameters of a callback. A repeated one is `invalid_request`, since it is not clear which counts. */
export const readCallbackParameters = ({ get }: Fields): URLSearchParams => {
  const params = new URLSearchParams()
  for (const field of CALLBACK_PARAMETERS) {
    const value = get(field)
    if (value !== undefined) params.set(field, value)
  }
  return params
}

/** Does the same, but repeated parameters are a sign-in problem. */
export const requireCallbackParameters = (query: Fields): URLSearchParams => {
  try {
    return readCallbackParameters(query)
  } catch (error) {
    throw signInProblem('unreadable', error)
  }
}

/**
 * Finds `state` alone, even if another parameter is repeated. The result is undefined if `state` is missing or
 * repeated.
 */
export const findState = ({ get }: Fields): string | undefined => {
  try {
    return get('state')
  } catch {
    return undefined
  }
}
