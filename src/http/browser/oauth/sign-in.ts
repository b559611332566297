import { AppError } from '../../../lib/errors.ts'
import { signInProblem } from '../../../oauth/errors.ts'
import type {
  AuthorizationFlow,
  NewAuthorizationFlow,
  PendingLink,
  ProviderProfile,
  ReadLinkRequest,
  ReadState,
} from '../../../oauth/oauth.ts'
import type { ProviderView } from '../../../pages/pages.ts'
import type { AuthenticatedSession, SignInGrant } from '../../../sessions/sessions.ts'
import type { EventFacts } from '../../account-log.ts'
import { isToken, newToken } from '../../cookies.ts'
import type { RouteDeps } from '../../deps.ts'
import { type HttpResponse, type RequestContext, redirect } from '../../request-context.ts'
import { countProviderFailure } from '../../request-metrics.ts'
import { requestedReturnTo } from '../start-session.ts'
import {
  findState,
  MAX_CALLBACK_LENGTH,
  readCallbackParameters,
  requireCallbackParameters,
} from './callback-parameters.ts'
import { createLinkAccount } from './link-account.ts'
import { orProblemPage, type RetryParams, startSessionBy } from './problem-page.ts'

type Intent = 'link' | 'confirm' | undefined

const readIntent = ({ get }: RequestContext['form']): Intent => {
  const intent = get('intent')
  if (intent === undefined || intent === 'link' || intent === 'confirm') return intent
  throw new AppError('invalid_request', 'The field "intent" is link or confirm, or left out.', { field: 'intent' })
}

/** A callback whose `state` was accepted. */
interface Callback {
  flow: AuthorizationFlow
  browserSecret: string
  /** The event in the log that the callback is. */
  facts: EventFacts
}

const EVENTS = { sign_in: 'login', confirm: 'reauthentication', link: 'provider_connect' } as const

/** Sign-in with one provider: to it (`POST /auth/oauth/{name}`) and back from it (its callback). */
export const createProviderSignIn = (deps: RouteDeps, provider: ProviderView) => {
  const { oauth, sessions, limits, findCurrentSession, cookieWriter, baseUrl, requestMetrics, accountLog } = deps
  const linkAccount = createLinkAccount(deps, provider)

  const requireSession = async (context: RequestContext): Promise<AuthenticatedSession> => {
    const session = await findCurrentSession(context)
    if (!session) throw signInProblem('logged_out')
    return session
  }

  /** A flow for the account that is signed in. */
  const newAccountFlow = async (context: RequestContext, intent: 'link' | 'confirm'): Promise<NewAuthorizationFlow> => {
    const session = await requireSession(context)
    if (intent === 'link') sessions.requireRecentAuthentication(session)
    return { provider: provider.name, intent, returnTo: '/auth/account', userId: session.userId }
  }

  const newSignInFlow = (returnTo: string, link: ReadLinkRequest | undefined): NewAuthorizationFlow => {
    if (!link) return { provider: provider.name, intent: 'sign_in', returnTo }
    if (!link.request) throw signInProblem(link.problem)
    return { provider: provider.name, intent: 'sign_in', ...link.request }
  }

  /** The session may be newer than the flow: the user may have re-authenticated in another tab. */
  const requireSessionOf = async (
    context: RequestContext,
    { userId }: AuthorizationFlow,
  ): Promise<AuthenticatedSession> => {
    const session = await requireSession(context)
    if (session.userId !== userId) throw signInProblem('logged_out')
    return session
  }

  /** The user has proved with this provider that the account is theirs: the pending provider is connected to it. */
  const linkPending = async (
    context: RequestContext,
    pendingLink: PendingLink,
    profile: ProviderProfile,
    browserSecret: string,
  ): Promise<SignInGrant | undefined> => {
    const grant = await oauth.linkPendingBy(profile, pendingLink, browserSecret)
    const { userId } = pendingLink
    const { provider: method } = pendingLink.profile
    if (grant) accountLog.record(context, { event: 'provider_connect', method, userId })
    return grant
  }

  const signIn = async (context: RequestContext, callback: Callback, profile: ProviderProfile) => {
    const { flow, browserSecret, facts } = callback
    const { returnTo, pendingLink } = flow
    if (pendingLink) {
      const grant = await linkPending(context, pendingLink, profile, browserSecret)
      return startSessionBy(deps, context, grant, { returnTo, facts })
    }
    const result = await oauth.signIn(profile, (signUp) =>
      limits.attempt([['signupOfAddress', context.network]], signUp),
    )
    if ('grant' in result) {
      if (result.isNew) facts.event = 'signup'
      return startSessionBy(deps, context, result.grant, { returnTo, facts })
    }
    const { account } = result
    Object.assign(facts, { userId: account.userId, reason: 'proof_required' })
    const created = await oauth.createPendingLink(profile, account.userId, browserSecret)
    return linkAccount.showPage(context, { pendingLink: created, returnTo }, account, browserSecret)
  }

  const finish = async (context: RequestContext, callback: Callback): Promise<HttpResponse> => {
    const { flow, browserSecret, facts } = callback
    const session = flow.intent === 'sign_in' ? undefined : await requireSessionOf(context, flow)
    Object.assign(facts, { userId: session?.userId, sessionId: session?.sessionId })
    const profile = await oauth.finish(flow, requireCallbackParameters(context.query), browserSecret)
    if (!session) return signIn(context, callback, profile)
    if (flow.intent === 'confirm') {
      const grant = await oauth.signInAs(profile, session.userId)
      return startSessionBy(deps, context, grant, { returnTo: `${flow.returnTo}?done=confirmed`, facts })
    }
    await oauth.link(profile, session)
    return redirect(`${flow.returnTo}?done=linked`)
  }

  /** Only the browser that the flow belongs to gets its pending link back, to try again. */
  const retryParamsOf = ({ flow, problem }: ReadState, browserSecret: string | undefined): RetryParams => {
    if (!flow) return { provider, returnTo: '/' }
    const { returnTo, pendingLink } = flow
    const mayRetry = pendingLink && browserSecret && !problem
    return {
      provider,
      returnTo,
      intent: flow.intent === 'sign_in' ? undefined : flow.intent,
      linkRequest: mayRetry ? oauth.sealLinkRequest({ pendingLink, returnTo }, browserSecret) : undefined,
    }
  }

  const counted = (action: () => Promise<HttpResponse>) => () =>
    countProviderFailure(requestMetrics, provider.name, action)

  return {
    start(context: RequestContext): Promise<HttpResponse> {
      const returnTo = requestedReturnTo(context, baseUrl)
      const intent = readIntent(context.form)
      const token = context.form.get('pending')
      const { oauth: cookie } = context.cookies
      const link = token === undefined ? undefined : oauth.readLinkRequest(token, cookie)
      const retryParams = { provider, returnTo, intent, linkRequest: link?.request ? token : undefined }
      const begin = async () => {
        limits.count('providerOfAddress', context.network)
        const browserSecret = isToken(cookie) ? cookie : newToken()
        const flow = intent ? await newAccountFlow(context, intent) : newSignInFlow(returnTo, link)
        const url = await oauth.begin(flow, browserSecret)
        context.setCookies([cookieWriter.oauth(browserSecret)])
        return redirect(url.href)
      }
      return orProblemPage(deps, context, retryParams, counted(begin))
    },

    callback(context: RequestContext): Promise<HttpResponse> {
      const { query, cookies } = context
      const browserSecret = cookies.oauth
      const state = oauth.readState(findState(query), provider.name, browserSecret)
      const { flow, problem } = state
      const event: EventFacts = { event: EVENTS[flow?.intent ?? 'sign_in'], method: provider.name }
      const finishAndRecord = () =>
        accountLog.recordOutcome(context, event, async (facts) => {
          if (problem || !flow || !browserSecret) throw signInProblem(problem ?? 'unreadable')
          const response = await finish(context, { flow, browserSecret, facts })
          requestMetrics?.countProviderSignIn(provider.name, 'redirect' in response ? 'succeeded' : 'proof_asked')
          return response
        })
      return orProblemPage(deps, context, retryParamsOf(state, browserSecret), counted(finishAndRecord))
    },

    /** A form that a provider's site posts comes without our cookies; the redirect to the `GET` brings them. */
    relay(context: RequestContext): HttpResponse {
      const params = readCallbackParameters(context.form).toString()
      if (params.length <= MAX_CALLBACK_LENGTH) return redirect(`/auth/oauth/${provider.name}/callback?${params}`)
      throw new AppError('invalid_request', `The parameters are longer than ${MAX_CALLBACK_LENGTH} characters.`)
    },

    linkByPassword: linkAccount.byPassword,
    reclaim: linkAccount.reclaim,
  }
}
