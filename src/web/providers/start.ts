import type { Proof } from '../../sign-in/amr.ts'
import type { Awaitable } from '../../lib/awaitable.ts'
import { AppError } from '../../lib/errors.ts'
import { signInProblem } from '../../oauth/errors.ts'
import type { NewAuthorizationFlow, ReadLinkRequest } from '../../oauth/oauth.ts'
import { type EntryPurpose, isEntryPurpose } from '../../links/link.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { countProviderFailure } from '../../http/request-metrics.ts'
import type { HttpResponse } from '../../http/response.ts'
import { requireLink } from '../sign-in/link-token.ts'
import { ACCOUNT_PATH, readStepUp } from '../../http/step-up.ts'
import { requestedReturnTo } from '../sign-in/start-session.ts'
import { stayNoLonger } from '../sign-in/offered-ways.ts'
import { orProblemPage, type RetryParams, sendToProvider } from '../sign-in/provider-flow.ts'
import { createEntryProof } from './prove-entry.ts'
import { type ProviderServices, requireSignedIn } from './provider-services.ts'

type Intent = 'link' | 'confirm' | EntryPurpose | undefined

const readIntent = ({ get }: RequestContext['form']): Intent => {
  const intent = get('intent')
  if (intent === undefined || intent === 'link' || intent === 'confirm' || isEntryPurpose(intent)) return intent
  const message = 'The field "intent" is link, confirm, reset, undo or invite, or left out.'
  throw new AppError('invalid_request', message, { field: 'intent' })
}

/** The form of a provider's button asks for this. */
interface Start {
  returnTo: string
  intent: Intent
  /** The user has proved this second factor of the account of a link. */
  proved: Proof | undefined
  link: ReadLinkRequest | undefined
}

/** Handles `POST /auth/oauth/{name}`: it sends the browser to the provider. */
export const createProviderStart = (deps: ProviderServices) => {
  const { provider, oauth, sessions, links, requestMetrics } = deps
  const proveEntry = createEntryProof(deps)

  /** Makes a flow for the account that is signed in. */
  const newAccountFlow = async (context: RequestContext, intent: 'link' | 'confirm'): Promise<NewAuthorizationFlow> => {
    const session = await requireSignedIn(deps, context)
    const flow = { provider: provider.name, intent, userId: session.userId, returnTo: ACCOUNT_PATH }
    if (intent === 'confirm') return { ...flow, ...confirmationOf(context) }
    await sessions.requireRecentAuthentication(session)
    return flow
  }

  const confirmationOf = (context: RequestContext): Pick<NewAuthorizationFlow, 'returnTo' | 'acr'> => {
    const { returnTo = ACCOUNT_PATH, acr } = readStepUp(context, deps)
    return { returnTo, acr }
  }

  const retryParamsOf = (context: RequestContext, { returnTo, intent, link }: Start): RetryParams => ({
    provider,
    returnTo,
    ...(isEntryPurpose(intent) ? { entry: { purpose: intent, token: context.form.get('token') ?? '' } } : { intent }),
    ...(intent === 'confirm' && confirmationOf(context)),
    linkRequest: link?.request && context.form.get('pending'),
  })

  const newSignInFlow = (returnTo: string, link: ReadLinkRequest | undefined): NewAuthorizationFlow => {
    if (!link) return { provider: provider.name, intent: 'sign_in', returnTo }
    if (!link.request) throw signInProblem(link.problem)
    return { provider: provider.name, intent: 'sign_in', ...link.request }
  }

  /** Makes a flow for the account of a link. The link is not used up before the user is back. */
  const newEntryFlow = async (
    context: RequestContext,
    purpose: EntryPurpose,
    { returnTo, proved }: Start,
  ): Promise<NewAuthorizationFlow> => {
    if (!links.takesConnectable(purpose)) throw signInProblem('unreadable')
    const { token } = await requireLink(deps, context, purpose)
    return { provider: provider.name, intent: 'enter', returnTo, entry: { purpose, token, proved } }
  }

  const newFlow = (context: RequestContext, start: Start): Awaitable<NewAuthorizationFlow> => {
    const { returnTo, intent, link } = start
    if (isEntryPurpose(intent)) return newEntryFlow(context, intent, start)
    return intent ? newAccountFlow(context, intent) : newSignInFlow(returnTo, link)
  }

  const act = (context: RequestContext): Promise<HttpResponse> => {
    const returnTo = requestedReturnTo(context, deps)
    const intent = readIntent(context.form)
    const token = context.form.get('pending')
    const link = token === undefined ? undefined : oauth.readLinkRequest(token, context.cookies.oauth)
    stayNoLonger(deps, context)
    const goOn = (proved?: Start['proved']): Promise<HttpResponse> => {
      const start = { returnTo, intent, link, proved }
      return orProblemPage(deps, context, retryParamsOf(context, start), () =>
        countProviderFailure(requestMetrics, provider.name, () =>
          sendToProvider(deps, context, () => newFlow(context, start)),
        ),
      )
    }
    return (intent === 'reset' || intent === 'undo') && links.takesConnectable(intent)
      ? proveEntry(context, intent, goOn)
      : goOn()
  }
  return { act }
}
