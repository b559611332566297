import { AppError } from '../../lib/errors.ts'
import type { EventFacts } from '../../audit/account-log.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { HttpResponse } from '../../http/response.ts'
import { orShowAgain } from '../../http/form-problems.ts'
import { limitLogin } from '../../http/login-limits.ts'
import { completeSignIn } from '../sign-in/complete-sign-in.ts'
import { createGate } from '../sign-in/gate.ts'
import { startSession } from '../sign-in/start-session.ts'
import { createProofPage, type LinkForm, type ProofPage } from './proof-page.ts'
import type { ProviderRouteDeps } from './provider-route.ts'
import { requireStarted } from './sign-in-by-provider.ts'

export interface LinkAccount extends Pick<ProofPage, 'askForProof' | 'show' | 'showAgain'> {
  linkByPassword(context: RequestContext): Promise<HttpResponse>
  reclaim(context: RequestContext): Promise<HttpResponse>
}

/** The "link account" page (`proof-page.ts`) and its forms. */
export const createLinkAccount = (deps: ProviderRouteDeps): LinkAccount => {
  const { provider, oauth, users, accountLog } = deps
  const { askForProof, show, showAgain, handleForm, render } = createProofPage(deps)

  const checkPassword = async (context: RequestContext, form: LinkForm, facts: EventFacts): Promise<HttpResponse> => {
    const { browserSecret, request } = form
    const { pendingLink, returnTo } = request
    const { userId } = pendingLink
    const signIn = { way: 'password', returnTo, facts } as const
    const result = await users.authenticate(form.account.email, context.form.get('password') ?? '', context)
    if ('refusal' in result || result.userId !== userId) throw wrongPassword()
    const gate = createGate(deps, context, { ...signIn, grant: result, connect: { pendingLink, browserSecret } })
    const grant = await oauth.linkPending(pendingLink, browserSecret, { grant: gate.guard(result), caller: context })
    const nextPage = grant ? undefined : await gate.findNextPage()
    if (nextPage) return nextPage
    if (!grant) throw wrongPassword()
    accountLog.record(context, { event: 'provider_connect', method: provider.name, userId })
    const response = await startSession(deps, context, { ...signIn, grant })
    if (!response) throw wrongPassword()
    return response
  }

  const checkWithinLimits = (context: RequestContext, form: LinkForm, facts: EventFacts): Promise<HttpResponse> =>
    limitLogin(deps, context, form.account.email, () => checkPassword(context, form, facts))

  const logIn = (context: RequestContext, form: LinkForm): Promise<HttpResponse> => {
    const event: EventFacts = { event: 'login', method: 'password', userId: form.account.userId }
    return accountLog.recordOutcome(context, event, (facts) => checkWithinLimits(context, form, facts))
  }

  const linkByPassword = (context: RequestContext, form: LinkForm): Promise<HttpResponse> =>
    orShowAgain(
      context,
      () => logIn(context, form),
      (refusal) => render(context, form, refusal),
    )

  const reclaim = async (context: RequestContext, { request, browserSecret }: LinkForm): Promise<HttpResponse> => {
    const { pendingLink, returnTo } = request
    const by = { method: provider.name, userId: pendingLink.userId }
    const reclaimed: EventFacts = { event: 'account_reclaim', ...by }
    const grant = await accountLog.recordFailure(context, reclaimed, () =>
      oauth.reclaim(pendingLink, browserSecret, context),
    )
    try {
      return await accountLog.recordOutcome(context, { event: 'login', ...by }, async (facts) => {
        const signIn = { way: 'provider', grant, returnTo, facts, browser: 'silent' } as const
        const response = requireStarted(await completeSignIn(deps, context, signIn))
        reclaimed.sessionId = facts.sessionId
        return response
      })
    } finally {
      // The account is theirs, also where no session has started.
      accountLog.record(context, reclaimed)
    }
  }

  return {
    askForProof,
    show,
    showAgain,
    linkByPassword: (context) => handleForm(context, (form) => linkByPassword(context, form)),
    reclaim: (context) => handleForm(context, (form) => reclaim(context, form)),
  }
}

const wrongPassword = (): AppError =>
  new AppError('unauthorized', 'This is not the password of the account.', {
    field: 'password',
    reason: 'password_wrong',
  })
