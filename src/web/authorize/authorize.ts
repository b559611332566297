import type { HeldRequest, LookedAt } from '../../clients/authorization.ts'
import type { AuthorizeOutcome } from '../../clients/authorize-policy.ts'
import { type GoodRequest, readSentRequest, type Recipient, type SentRequest } from '../../clients/authorize-request.ts'
import type { Clients } from '../../clients/clients.ts'
import { hangsOnSession } from '../../clients/grant.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type HttpResponse, page, redirect } from '../../http/response.ts'
import { AUTHORIZE_PATH, pathOfRequest, withReturnTo } from '../../http/return-to.ts'
import { confirmPath } from '../../http/step-up.ts'
import { readEmail } from '../../lib/email-address.ts'
import { AppError } from '../../lib/errors.ts'
import type { AuthenticatedSession } from '../../sessions/sessions.ts'
import { holdBrowserSecret } from '../sign-in/asking-browser.ts'
import type { ScreenServices } from '../site/frame.ts'
import { type AnswerClient, createAnswerClient } from './answer-client.ts'
import { scopesInWords } from '../site/client-words.ts'
import { type ConsentView, createConsentPage, lifeInWords } from './consent-page.ts'
import { createProblemPage } from './problem-page.ts'

export type AuthorizeServices = Pick<
  ScreenServices,
  | 'cookieWriter'
  | 'findCurrentSession'
  | 'languages'
  | 'layout'
  | 'limits'
  | 'links'
  | 'passkeys'
  | 'requestMetrics'
  | 'secondFactors'
> & { clients: Clients }

/** The client learns of these by what its developer reads. */
const DESCRIPTIONS: Partial<Record<AuthorizeOutcome, string>> = {
  login_required: 'The user has to log in.',
  consent_required: 'The user has to be asked.',
  interaction_required: 'The user has to confirm with more than one factor.',
  unmet_authentication_requirements: 'This service accepts no second factor.',
}

/** Names the login page that comes back to a path, with the email that the client expects. */
const loginPath = (path: string, hint: string | undefined): string => {
  const email = hint === undefined ? undefined : readEmail(hint)?.shown
  const login = withReturnTo('/auth/login', path)
  return email === undefined ? login : `${login}&email=${encodeURIComponent(email)}`
}

/** This is a request at one step of its way. */
export interface Step {
  held: HeldRequest
  session: AuthenticatedSession | undefined
  came: Parameters<AnswerClient>[2]
}

/** Makes what the handlers of requests share. */
export const createAuthorizeSteps = (deps: AuthorizeServices) => {
  const { clients, layout, limits, secondFactors, passkeys } = deps
  const { authorization } = clients
  const countError = deps.requestMetrics?.countClientError
  const answerClient = createAnswerClient(layout, clients.settings.issuer, countError)
  const problemPage = createProblemPage(layout, countError)
  const consentPage = createConsentPage(layout)

  // A page has several sealed texts, and all of them are good with the one cookie that it sets.
  const secrets = new WeakMap<RequestContext, string>()

  const secretOf = (context: RequestContext): string => {
    const secret = secrets.get(context) ?? holdBrowserSecret(deps, context, authorization.requestLifetimeMs)
    secrets.set(context, secret)
    return secret
  }

  /** Seals a request, which goes on at this path. */
  const pathOf = (context: RequestContext, held: HeldRequest): string =>
    pathOfRequest(authorization.seal(held, secretOf(context)), languageOf(deps, held))

  const decide = (good: GoodRequest, { session, held: { beganAtMs } }: Step): Promise<AuthorizeOutcome> =>
    authorization.decide(good, { session, beganAtMs, canStepUp: secondFactors.acceptsCodes || passkeys.isOn })

  const consentView = (
    context: RequestContext,
    good: GoodRequest,
    { held }: Step,
    { session, kind }: { session: AuthenticatedSession; kind: ConsentView['kind'] },
  ): ConsentView => ({
    kind,
    csrfToken: context.csrfToken,
    client: good.client,
    redirectUri: good.redirectUri,
    email: session.email,
    scopes: scopesInWords(good.request.scopes, clients.settings.scopes, layout.appName),
    lasts: lifeInWords(hangsOnSession(good.client.type, good.request.scopes), clients.settings.grantIdleMs),
    resource: good.request.resource,
    request: authorization.sealConsent({ good, session, held }, secretOf(context)),
    returnTo: pathOf(context, held),
  })

  /** What has allowed it may have ended since: then the request is looked at again. */
  const issue = async (
    context: RequestContext,
    good: GoodRequest,
    session: AuthenticatedSession,
    step: Step,
  ): Promise<HttpResponse> => {
    const code = await authorization.issue({ good, session })
    return code === undefined ? goOn(context, step) : answerClient(good, { code }, step.came)
  }

  const follow = async (context: RequestContext, good: GoodRequest, step: Step): Promise<HttpResponse> => {
    const { session, held } = step
    const outcome = await decide(good, step)
    if (outcome === 'login') return redirect(loginPath(pathOf(context, held), good.request.loginHint))
    if (outcome === 'confirm' || outcome === 'confirm_mfa') {
      // A confirmation with less would take away what the session has proved, and be asked for again.
      const acr = good.request.wantsMfa ? 'mfa' : undefined
      const isNew = outcome === 'confirm' || good.request.prompt.has('login')
      const since = isNew ? held.beganAtMs : undefined
      return redirect(confirmPath({ returnTo: pathOf(context, held), acr, since }))
    }
    if (session && (outcome === 'consent' || outcome === 'continue'))
      return page(200, consentPage(consentView(context, good, step, { session, kind: outcome })))
    if (session && outcome === 'code') return issue(context, good, session, step)
    const error = outcome as Exclude<typeof outcome, 'consent' | 'continue' | 'code'>
    return answerClient(good, { error, error_description: DESCRIPTIONS[error] ?? '' }, step.came)
  }

  /** A client that is known learns that svc cannot answer now (RFC 6749 section 4.1.2.1). */
  const orUnavailable = async (
    run: () => Promise<HttpResponse>,
    codes: readonly AppError['code'][],
    findRecipient: () => Recipient | undefined,
    came: Step['came'],
  ): Promise<HttpResponse> => {
    try {
      return await run()
    } catch (error) {
      const recipient = error instanceof AppError && codes.includes(error.code) ? findRecipient() : undefined
      if (!(error instanceof AppError) || !recipient) throw error
      return answerClient(recipient, { error: 'temporarily_unavailable', error_description: error.message }, came)
    }
  }

  /** Answers what is no good request. */
  const refuse = (context: RequestContext, looked: LookedAt, step: Step): HttpResponse | undefined => {
    if ('problem' in looked) return problemPage(looked.problem, context.requestId)
    if ('needsUser' in looked) {
      const { prompt = '', login_hint: hint } = step.held.sent.parameters
      if (prompt.split(' ').includes('none')) return problemPage(looked.needsUser, context.requestId)
      return redirect(loginPath(pathOf(context, step.held), hint))
    }
    if ('good' in looked) return undefined
    const { error, description } = looked.refusal
    return answerClient(looked.recipient, { error, error_description: description }, step.came)
  }

  const look = async ({ held, session }: Pick<Step, 'held' | 'session'>): Promise<LookedAt> => {
    try {
      return await authorization.look(held, session?.userId)
    } catch (error) {
      if (error instanceof AppError && error.reason === 'client_document') countError?.('client_document')
      throw error
    }
  }

  const goOn = async (context: RequestContext, step: Step): Promise<HttpResponse> => {
    const looked = await look(step)
    const refused = refuse(context, looked, step)
    if (refused || !('good' in looked)) return refused ?? problemPage('client_unknown', context.requestId)
    const { good } = looked
    const run = () => follow(context, good, step)
    const { session, came } = step
    const limited = () => (session ? limits.attempt([['authorizationOfUser', { userId: session.userId }]], run) : run())
    return orUnavailable(limited, ['unavailable', 'rate_limited'], () => good, came)
  }

  /** Goes on with a request once its session is found. Before that, the client is known by its last request alone. */
  const goOnWith = (
    context: RequestContext,
    sent: SentRequest,
    came: Step['came'],
    begin: () => HeldRequest | Promise<HeldRequest>,
  ): Promise<HttpResponse> => {
    const run = async () =>
      goOn(context, { held: await begin(), session: await deps.findCurrentSession(context), came })
    return orUnavailable(run, ['unavailable'], () => authorization.recipientOf(sent), came)
  }

  return {
    authorization,
    answerClient,
    problemPage,
    consentPage,
    consentView,
    decide,
    pathOf,
    refuse,
    look,
    goOnWith,
  }
}

/** The pages on the way keep to what the client asked for, if one of its languages is offered. */
const languageOf = ({ languages }: Pick<AuthorizeServices, 'languages'>, { sent }: HeldRequest): string | undefined => {
  const { tag, isChosen } = languages.negotiate({ uiLocales: sent.parameters.ui_locales })
  return isChosen ? tag : undefined
}

/** Handles `/auth/oauth2/authorize`. */
export const createAuthorize = (deps: AuthorizeServices) => {
  const steps = createAuthorizeSteps(deps)
  const { authorization, problemPage } = steps

  return {
    async show(context: RequestContext): Promise<HttpResponse> {
      const sent = readSentRequest(context.query)
      const isSealed = sent.parameters.request !== undefined && sent.parameters.client_id === undefined
      if (!isSealed) {
        return steps.goOnWith(context, sent, 'at_once', () => authorization.begin(sent))
      }
      const opened = authorization.open(context.query.get('request'), context.cookies.link)
      if (!opened) return problemPage('request_unreadable', context.requestId)
      if (opened.problem) return problemPage(`request_${opened.problem}`, context.requestId)
      const { content: held } = opened
      return steps.goOnWith(context, held.sent, 'pages', () => held)
    },

    /** A request may come as a form of another site, without our cookies; the redirect to the `GET` brings them. */
    act: (context: RequestContext): HttpResponse => redirectToGet(context, AUTHORIZE_PATH),
  }
}

/** Answers 303 to the same address with the fields of the form, each as often as it came. */
export const redirectToGet = ({ form }: RequestContext, path: string): HttpResponse => {
  const query = new URLSearchParams()
  for (const name of form.names) for (const value of form.all(name)) query.append(name, value)
  const address = `${path}?${query.toString()}`
  if (address.length <= MAX_ADDRESS_LENGTH) return redirect(address)
  throw new AppError('invalid_request', `The fields are longer than ${MAX_ADDRESS_LENGTH} characters.`)
}

/** Proxies refuse longer addresses. */
const MAX_ADDRESS_LENGTH = 8000
