import { AppError } from '../../../lib/errors.ts'
import { signInProblem } from '../../../oauth/errors.ts'
import type { AuthorizationFlow, PendingLink, ProviderProfile, ReadState } from '../../../oauth/oauth.ts'
import { isEntryPurpose } from '../../../recovery/provider-entry.ts'
import type { AuthenticatedSession, SignInGrant } from '../../../sessions/sessions.ts'
import type { EventFacts } from '../../account-log.ts'
import type { RequestContext } from '../../request-context.ts'
import { countProviderFailure } from '../../request-metrics.ts'
import { type HttpResponse, redirect } from '../../response.ts'
import {
  findState,
  MAX_CALLBACK_LENGTH,
  readCallbackParameters,
  requireCallbackParameters,
} from './callback-parameters.ts'
import { askToProveEmail } from '../recovery/check-mail.ts'
import { enterByLink } from './enter-by-link.ts'
import type { LinkAccount } from './link-account.ts'
import { orProblemPage, type RetryParams, startSessionBy } from './problem-page.ts'
import { type ProviderRouteDeps, requireSignedIn } from './provider-route.ts'

/** A callback whose `state` was accepted. */
interface Callback {
  flow: AuthorizationFlow
  browserSecret: string
  /** The event in the log that the callback is. */
  facts: EventFacts
}

/** The reason in the log of a sign-in that waits for a proof of the account. */
const PROOF_REQUIRED = 'proof_required'

const EVENTS = { sign_in: 'login', confirm: 'reauthentication', link: 'provider_connect', enter: 'login' } as const

interface CallbackDeps extends ProviderRouteDeps {
  /** Leads to the "link account" page. */
  askForProof: LinkAccount['askForProof']
}

/** `/auth/oauth/{name}/callback`: ends the flow of a browser that comes back from the provider. */
export const createProviderCallback = (deps: CallbackDeps) => {
  const { provider, oauth, limits, requestMetrics, accountLog, askForProof } = deps

  /** The session may be newer than the flow: the user may have re-authenticated in another tab. */
  const requireSessionOf = async (
    context: RequestContext,
    { userId }: AuthorizationFlow,
  ): Promise<AuthenticatedSession> => {
    const session = await requireSignedIn(deps, context)
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
    const grant = await oauth.linkPendingBy(profile, pendingLink, browserSecret, context)
    const { userId, profile: pending } = pendingLink
    if (grant) accountLog.record(context, { event: 'provider_connect', method: pending.provider, userId })
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
      facts.event = result.event
      const browser = result.event === 'login' ? 'announced' : 'silent'
      const signIn = { grant: result.grant, returnTo, facts, browser } as const
      return (await askToProveEmail(deps, context, signIn)) ?? startSessionBy(deps, context, signIn.grant, signIn)
    }
    const { account } = result
    Object.assign(facts, { userId: account.userId, reason: PROOF_REQUIRED })
    const request = { pendingLink: await oauth.createPendingLink(profile, account.userId, browserSecret), returnTo }
    return askForProof(context, { request, account, browserSecret })
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
      return startSessionBy(deps, context, grant, { returnTo: `${flow.returnTo}?done=confirmed`, facts })
    }
    await oauth.link(profile, session, context)
    return redirect(`${flow.returnTo}?done=linked`)
  }

  /** Only the browser that the flow belongs to gets its pending link or its link back, to try again. */
  const retryParamsOf = ({ flow, problem }: ReadState, browserSecret: string | undefined): RetryParams => {
    if (!flow) return { provider, returnTo: deps.homeUrl }
    const { returnTo, pendingLink, entry } = flow
    const isOfBrowser = browserSecret && !problem
    return {
      provider,
      returnTo,
      intent: flow.intent === 'link' || flow.intent === 'confirm' ? flow.intent : undefined,
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
      requestMetrics?.countProviderSignIn(provider.name, facts.reason ? 'proof_asked' : 'succeeded')
      return response
    })
  }

  return {
    callback(context: RequestContext): Promise<HttpResponse> {
      const browserSecret = context.cookies.oauth
      const state = oauth.readState(findState(context.query), provider.name, browserSecret)
      return orProblemPage(deps, context, retryParamsOf(state, browserSecret), () =>
        countProviderFailure(requestMetrics, provider.name, () => finishAndRecord(context, state, browserSecret)),
      )
    },

    /** A form that a provider's site posts comes without our cookies; the redirect to the `GET` brings them. */
    relay(context: RequestContext): HttpResponse {
      const params = readCallbackParameters(context.form).toString()
      if (params.length <= MAX_CALLBACK_LENGTH) return redirect(`/auth/oauth/${provider.name}/callback?${params}`)
      throw new AppError('invalid_request', `The parameters are longer than ${MAX_CALLBACK_LENGTH} characters.`)
    },
  }
}
