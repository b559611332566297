import { AppError } from '../../../lib/errors.ts'
import { emailProblem, signInProblem } from '../../../oauth/errors.ts'
import type { ExistingAccount, LinkRequest } from '../../../oauth/oauth.ts'
import type { LinkAccountView, ProviderView } from '../../../pages/pages.ts'
import type { EventFacts } from '../../account-log.ts'
import type { RouteDeps } from '../../deps.ts'
import { type HttpResponse, page, type RequestContext } from '../../request-context.ts'
import { returnToParameter } from '../../return-to.ts'
import { orShowAgain, type Refusal } from '../form-problems.ts'
import { startSession } from '../start-session.ts'
import { orProblemPage, startSessionBy } from './problem-page.ts'

/**
 * The "link account" page. A user comes from this provider for the first time, and an account has their email: they
 * must prove that the account is theirs before the two are connected. If the email alone were enough, an attacker who
 * had registered the address first would share the account with its owner.
 */
export const createLinkAccount = (deps: RouteDeps, provider: ProviderView) => {
  const { oauth, users, limits, pages, providers, cookieWriter, accountLog } = deps

  const view = (
    context: RequestContext,
    request: LinkRequest,
    account: ExistingAccount,
    browserSecret: string,
  ): LinkAccountView => {
    // Set again, so that the cookie lasts as long as the page can be used.
    context.setCookies([cookieWriter.oauth(browserSecret)])
    return {
      csrfToken: context.csrfToken,
      returnTo: returnToParameter(request.returnTo),
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
    action: (request: LinkRequest, browserSecret: string) => Promise<HttpResponse>,
  ): Promise<HttpResponse> => {
    const browserSecret = context.cookies.oauth
    const { request, problem } = oauth.readLinkRequest(context.form.get('pending'), browserSecret, provider.name)
    return orProblemPage(deps, context, { provider, returnTo: request?.returnTo ?? '/' }, async () => {
      if (!request) throw signInProblem(problem)
      return action(request, browserSecret ?? '')
    })
  }

  const linkAndSignIn = async (
    context: RequestContext,
    { pendingLink, returnTo }: LinkRequest,
    email: string,
    facts: EventFacts,
  ) => {
    const { userId } = pendingLink
    const result = await users.authenticate(email, context.form.get('password') ?? '', context)
    const isOwner = !('refusal' in result) && result.userId === userId
    const grant = isOwner && (await oauth.linkPending(pendingLink, context.cookies.oauth ?? '', result))
    if (!grant) throw wrongPassword()
    accountLog.record(context, { event: 'provider_connect', method: provider.name, userId })
    const response = await startSession(deps, context, { grant, returnTo, facts })
    if (!response) throw wrongPassword()
    return response
  }

  const linkByPassword = (
    context: RequestContext,
    request: LinkRequest,
    { email }: ExistingAccount,
    facts: EventFacts,
  ) => {
    const { network } = context
    return limits.attempt(
      [
        ['loginOfAddress', network],
        ['login', `${email.toLowerCase()} ${network}`],
      ],
      () => linkAndSignIn(context, request, email, facts),
    )
  }

  return {
    /** `conflict` when nothing can prove the account. */
    showPage(
      context: RequestContext,
      request: LinkRequest,
      account: ExistingAccount,
      browserSecret: string,
    ): HttpResponse {
      const shown = view(context, request, account, browserSecret)
      if (!shown.hasPassword && shown.providers.length === 0 && !shown.canReclaim)
        throw emailProblem('no_proof', account.email)
      return page(409, pages.linkAccount(shown))
    },

    byPassword: (context: RequestContext): Promise<HttpResponse> =>
      handleForm(context, async (request, browserSecret) => {
        const { userId } = request.pendingLink
        const account = await oauth.requireAccount(userId)
        const event: EventFacts = { event: 'login', method: 'password', userId }
        return orShowAgain(
          context,
          () => accountLog.recordOutcome(context, event, (facts) => linkByPassword(context, request, account, facts)),
          ({ errors, problem }: Refusal) =>
            pages.linkAccount({ ...view(context, request, account, browserSecret), errors, problem }),
        )
      }),

    reclaim: (context: RequestContext): Promise<HttpResponse> =>
      handleForm(context, async ({ pendingLink, returnTo }, browserSecret) => {
        const by = { method: provider.name, userId: pendingLink.userId }
        const grant = await accountLog.recordOutcome(context, { event: 'account_reclaim', ...by }, () =>
          oauth.reclaim(pendingLink, browserSecret),
        )
        return accountLog.recordOutcome(context, { event: 'login', ...by }, (facts) =>
          startSessionBy(deps, context, grant, { returnTo, facts }),
        )
      }),
  }
}

const wrongPassword = (): AppError =>
  new AppError('unauthorized', 'This is not the password of the account.', {
    field: 'password',
    reason: 'password_wrong',
  })
