import { AppError } from '../../../lib/errors.ts'
import { emailProblem, signInProblem } from '../../../oauth/errors.ts'
import type { ExistingAccount, LinkRequest } from '../../../oauth/oauth.ts'
import type { LinkAccountView } from '../../../pages/pages.ts'
import type { EventFacts } from '../../account-log.ts'
import type { RequestContext } from '../../request-context.ts'
import { type HttpResponse, page } from '../../response.ts'
import { returnToParameter } from '../../return-to.ts'
import type { ShowAgain } from '../../route.ts'
import { orShowAgain } from '../form-problems.ts'
import { startSession } from '../start-session.ts'
import { stayAtLogin } from '../stay-at-login.ts'
import { orProblemPage, startSessionBy } from './problem-page.ts'
import type { ProviderRouteDeps } from './provider-route.ts'

/** A "link account" page, or what a form of it brings back. */
interface LinkForm {
  request: LinkRequest
  account: ExistingAccount
  browserSecret: string
}

export interface LinkAccount {
  /** `conflict` when nothing can prove the account. */
  showPage(context: RequestContext, form: LinkForm): HttpResponse
  /** `invalid_request` when the form brings no link request that is good. */
  showAgain: ShowAgain
  linkByPassword(context: RequestContext): Promise<HttpResponse>
  reclaim(context: RequestContext): Promise<HttpResponse>
}

/**
 * The "link account" page. A user comes from this provider for the first time, and an account has their email: they
 * must prove that the account is theirs before the two are connected. If the email alone were enough, an attacker who
 * had registered the address first would share the account with its owner.
 */
export const createLinkAccount = (deps: ProviderRouteDeps): LinkAccount => {
  const { provider, oauth, users, limits, pages, providers, cookieWriter, accountLog } = deps

  const view = (context: RequestContext, { request, account, browserSecret }: LinkForm): LinkAccountView => {
    // Set again, so that the cookie lasts as long as the page can be used.
    context.setCookies([cookieWriter.oauth(browserSecret)])
    stayAtLogin(deps, context)
    return {
      csrfToken: context.csrfToken,
      returnTo: returnToParameter(request.returnTo, deps),
      provider,
      email: account.email,
      pending: oauth.sealLinkRequest(request, browserSecret),
      hasPassword: account.hasPassword,
      providers: providers.filter(({ name }) => account.providers.includes(name)),
      canReclaim: account.isEmailUnverified,
      errors: {},
    }
  }

  /** Handles a form of the page, with the link request that the form brings back. */
  const handleForm = (
    context: RequestContext,
    handle: (context: RequestContext, request: LinkRequest, browserSecret: string) => Promise<HttpResponse>,
  ): Promise<HttpResponse> => {
    const browserSecret = context.cookies.oauth
    const { request, problem } = oauth.readLinkRequest(context.form.get('pending'), browserSecret, provider.name)
    return orProblemPage(deps, context, { provider, returnTo: request?.returnTo ?? deps.homeUrl }, async () => {
      if (!request) throw signInProblem(problem)
      return handle(context, request, browserSecret ?? '')
    })
  }

  const checkPassword = async (context: RequestContext, form: LinkForm, facts: EventFacts): Promise<HttpResponse> => {
    const { pendingLink, returnTo } = form.request
    const { userId } = pendingLink
    const result = await users.authenticate(form.account.email, context.form.get('password') ?? '', context)
    const isOwner = !('refusal' in result) && result.userId === userId
    const grant = isOwner && (await oauth.linkPending(pendingLink, form.browserSecret, result, context))
    if (!grant) throw wrongPassword()
    accountLog.record(context, { event: 'provider_connect', method: provider.name, userId })
    const response = await startSession(deps, context, { grant, returnTo, facts })
    if (!response) throw wrongPassword()
    return response
  }

  const checkWithinLimits = (context: RequestContext, form: LinkForm, facts: EventFacts): Promise<HttpResponse> => {
    const { network } = context
    return limits.attempt(
      [
        ['loginOfAddress', network],
        ['login', `${form.account.email.toLowerCase()} ${network}`],
      ],
      () => checkPassword(context, form, facts),
    )
  }

  const logIn = (context: RequestContext, form: LinkForm): Promise<HttpResponse> => {
    const event: EventFacts = { event: 'login', method: 'password', userId: form.account.userId }
    return accountLog.recordOutcome(context, event, (facts) => checkWithinLimits(context, form, facts))
  }

  const showAgain: ShowAgain = async (context, refusal) => {
    const { oauth: browserSecret = '' } = context.cookies
    const { request, problem } = oauth.readLinkRequest(context.form.get('pending'), browserSecret, provider.name)
    if (!request) throw signInProblem(problem)
    const account = await oauth.requireAccount(request.pendingLink.userId)
    return pages.linkAccount({ ...view(context, { request, account, browserSecret }), ...refusal })
  }

  const linkByPassword = async (context: RequestContext, request: LinkRequest, browserSecret: string) => {
    const account = await oauth.requireAccount(request.pendingLink.userId)
    const form = { request, account, browserSecret }
    return orShowAgain(
      context,
      () => logIn(context, form),
      (refusal) => pages.linkAccount({ ...view(context, form), ...refusal }),
    )
  }

  const reclaim = async (context: RequestContext, { pendingLink, returnTo }: LinkRequest, browserSecret: string) => {
    const by = { method: provider.name, userId: pendingLink.userId }
    const grant = await accountLog.recordOutcome(context, { event: 'account_reclaim', ...by }, () =>
      oauth.reclaim(pendingLink, browserSecret, context),
    )
    return accountLog.recordOutcome(context, { event: 'login', ...by }, (facts) =>
      startSessionBy(deps, context, grant, { returnTo, facts, browser: 'silent' }),
    )
  }

  return {
    showPage(context, form) {
      const shown = view(context, form)
      if (!shown.hasPassword && shown.providers.length === 0 && !shown.canReclaim)
        throw emailProblem('no_proof', form.account.email)
      return page(409, pages.linkAccount(shown))
    },

    showAgain,
    linkByPassword: (context) => handleForm(context, linkByPassword),
    reclaim: (context) => handleForm(context, reclaim),
  }
}

const wrongPassword = (): AppError =>
  new AppError('unauthorized', 'This is not the password of the account.', {
    field: 'password',
    reason: 'password_wrong',
  })
