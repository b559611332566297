import { AppError } from '../../../lib/errors.ts'
import { signInProblem } from '../../../oauth/errors.ts'
import type { AuthorizationFlow, NewAuthorizationFlow, ProviderProfile } from '../../../oauth/oauth.ts'
import type { ProviderView } from '../../../pages/pages.ts'
import type { AuthenticatedSession, SignInGrant } from '../../../sessions/sessions.ts'
import type { EventInProgress } from '../../account-log.ts'
import { isToken, newToken } from '../../cookies.ts'
import type { RouteDeps } from '../../deps.ts'
import { type HttpResponse, type RequestContext, redirect } from '../../request-context.ts'
import { watchProvider } from '../../request-metrics.ts'
import { requestedReturnTo } from '../start-session.ts'
import {
  findState,
  MAX_CALLBACK_LENGTH,
  readCallbackParameters,
  requireCallbackParameters,
} from './callback-parameters.ts'
import { createLinkAccount } from './link-account.ts'
import { orExplain, type RetryParams, signInAs } from './problem-page.ts'

type Intent = 'link' | 'confirm' | undefined

const readIntent = ({ get }: RequestContext['form']): Intent => {
  const intent = get('intent')
  if (intent === undefined || intent === 'link' || intent === 'confirm') return intent
  throw new AppError('invalid_request', 'The field "intent" is link or confirm, or left out.', { field: 'intent' })
}

/** What a user returns from a provider with. */
interface Returned {
  flow: AuthorizationFlow
  /** The secret of the browser. */
  binding: string
  /** The event that the return is. */
  found: EventInProgress
}

const EVENTS = { sign_in: 'login', confirm: 'reauthentication', link: 'provider_connect' } as const

/** Whom the provider vouches for, who so proves the account that is to be connected to what is pending. */
interface Proven {
  proven: NonNullable<AuthorizationFlow['pending']>
  vouched: ProviderProfile
  binding: string
}

/** Signing in by one provider: there (`POST /auth/oauth/{name}`) and back (its callback). */
export const createProviderSignIn = (deps: RouteDeps, provider: ProviderView) => {
  const { oauth, sessions, limits, findCurrentSession, cookieWriter, baseUrl, requestMetrics, accountLog } = deps
  const proof = createLinkAccount(deps, provider)

  const requireSignedIn = async (context: RequestContext): Promise<AuthenticatedSession> => {
    const signedIn = await findCurrentSession(context)
    if (!signedIn) throw signInProblem('logged_out')
    return signedIn
  }

  /** An errand for who is signed in: to link the provider, or to confirm by it. */
  const ownErrand = async (context: RequestContext, intent: 'link' | 'confirm'): Promise<NewAuthorizationFlow> => {
    const signedIn = await requireSignedIn(context)
    if (intent === 'link') sessions.requireFresh(signedIn)
    return { provider: provider.name, intent, target: '/auth/account', userId: signedIn.userId }
  }

  const errandOf = async (context: RequestContext, target: string, intent: Intent): Promise<NewAuthorizationFlow> => {
    if (intent) return ownErrand(context, intent)
    const sealed = context.form.get('pending')
    if (sealed === undefined) return { provider: provider.name, intent: 'sign_in', target }
    const { target: pendingTarget, ...pending } = oauth.openPending(sealed, context.cookies.oauth)
    // Another provider than the one that is pending may be here: the account's own, which is to prove it.
    await oauth.requireProvableBy(provider.name, pending.userId)
    return { provider: provider.name, intent: 'sign_in', target: pendingTarget, pending }
  }

  /** Who began the flow for his own account. It may be another session by now: he may have confirmed in another tab. */
  const requireOwner = async (
    context: RequestContext,
    { userId }: AuthorizationFlow,
  ): Promise<AuthenticatedSession> => {
    const signedIn = await requireSignedIn(context)
    if (signedIn.userId !== userId) throw signInProblem('logged_out')
    return signedIn
  }

  /** The user has proved by this provider that the account is theirs: the pending one is connected to it. */
  const linkProven = async (
    context: RequestContext,
    { proven, vouched, binding }: Proven,
  ): Promise<SignInGrant | undefined> => {
    oauth.requireCurrent(proven)
    const { userId } = proven
    const grant = await oauth.linkProven(proven, binding, await oauth.signInAs(vouched, userId))
    if (grant) accountLog.note(context, { event: 'provider_connect', method: proven.vouched.provider, userId })
    return grant
  }

  const signIn = async (
    context: RequestContext,
    returned: Returned,
    vouched: ProviderProfile,
  ): Promise<HttpResponse> => {
    const { flow, binding, found } = returned
    const { pending: proven, target } = flow
    if (proven)
      return signInAs(deps, context, await linkProven(context, { proven, vouched, binding }), { target, found })
    const { network } = context
    const admitted = await oauth.signIn(vouched, (signUp) => limits.attempt([['signupOfAddress', network]], signUp))
    if (!('taken' in admitted)) {
      if (admitted.isNew) found.event = 'signup'
      return signInAs(deps, context, admitted, { target, found })
    }
    Object.assign(found, { userId: admitted.taken.userId, reason: 'proof_required' })
    const pending = await oauth.rememberPending(vouched, admitted.taken.userId, target, binding)
    return proof.ask(context, pending, admitted.taken, binding)
  }

  const conclude = async (context: RequestContext, returned: Returned): Promise<HttpResponse> => {
    const { flow, binding, found } = returned
    const owner = flow.intent === 'sign_in' ? undefined : await requireOwner(context, flow)
    Object.assign(found, { userId: owner?.userId, sessionId: owner?.sessionId })
    const vouched = await oauth.finish(flow, requireCallbackParameters(context.query), binding)
    if (!owner) return signIn(context, returned, vouched)
    if (flow.intent === 'confirm') {
      const target = `${flow.target}?done=confirmed`
      return signInAs(deps, context, await oauth.signInAs(vouched, owner.userId), { target, found })
    }
    await oauth.linkOwn(vouched, owner)
    return redirect(`${flow.target}?done=linked`)
  }

  /** What whoever tries again wants still; what is pending stays with the browser that it was given to. */
  const wishOf = ({ flow, problem }: ReturnType<typeof oauth.recall>, binding: string | undefined): RetryParams => ({
    provider,
    target: flow?.target ?? '/',
    intent: flow?.intent === 'sign_in' ? undefined : flow?.intent,
    pending:
      flow?.pending && binding && !problem
        ? oauth.closePending({ ...flow.pending, target: flow.target }, binding)
        : undefined,
  })

  const orExplainAndCount = (
    context: RequestContext,
    wish: RetryParams,
    action: () => Promise<HttpResponse>,
  ): Promise<HttpResponse> => orExplain(deps, context, wish, () => watchProvider(requestMetrics, provider.name, action))

  return {
    start(context: RequestContext): Promise<HttpResponse> {
      const target = requestedReturnTo(context, baseUrl)
      const intent = readIntent(context.form)
      const sealed = context.form.get('pending')
      const isGood = oauth.isPending(sealed, context.cookies.oauth)
      const wish = { provider, target, intent, pending: isGood ? sealed : undefined }
      return orExplainAndCount(context, wish, async () => {
        limits.count('providerOfAddress', context.network)
        const binding = isToken(context.cookies.oauth) ? context.cookies.oauth : newToken()
        const url = await oauth.begin(await errandOf(context, target, intent), binding)
        context.setCookies([cookieWriter.oauth(binding)])
        return redirect(url.href)
      })
    },

    callback(context: RequestContext): Promise<HttpResponse> {
      const { query, cookies } = context
      const binding = cookies.oauth
      const recalled = oauth.recall(findState(query), provider.name, binding)
      const { flow, problem } = recalled
      const event: EventInProgress = { event: EVENTS[flow?.intent ?? 'sign_in'], method: provider.name }
      return orExplainAndCount(context, wishOf(recalled, binding), () =>
        accountLog.watch(context, event, async (found) => {
          if (problem || !flow || !binding) throw signInProblem(problem ?? 'unreadable')
          const concluded = await conclude(context, { flow, binding, found })
          requestMetrics?.countProviderSignIn(provider.name, 'redirect' in concluded ? 'succeeded' : 'proof_asked')
          return concluded
        }),
      )
    },

    /** A provider that answers by a form posts from its own site, without our cookies: the `GET` will have them. */
    relay(context: RequestContext): HttpResponse {
      const answer = readCallbackParameters(context.form).toString()
      if (answer.length <= MAX_CALLBACK_LENGTH) return redirect(`/auth/oauth/${provider.name}/callback?${answer}`)
      throw new AppError('invalid_request', `The answer is longer than ${MAX_CALLBACK_LENGTH} characters.`)
    },

    proveByPassword: proof.byPassword,
    claim: proof.claim,
  }
}
