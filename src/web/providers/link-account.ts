import { AppError } from '../../lib/errors.ts'
import type { EventFacts } from '../../audit/account-log.ts'
import type { FormModule } from '../../http/route.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { HttpResponse } from '../../http/response.ts'
import { completeSignIn, createGate } from '../sign-in/complete-sign-in.ts'
import { startSession } from '../sign-in/start-session.ts'
import { createProofPage, type LinkForm, type ProofPage } from './proof-page.ts'
import type { ProviderServices } from './provider-services.ts'
import { requireStarted } from './sign-in-by-provider.ts'

export interface LinkAccount {
  page: Pick<ProofPage, 'askForProof' | 'show'>
  byPassword: FormModule
  reclaim: FormModule
}

/** Makes the "link account" page (`proof-page.ts`) and its forms. */
export const createLinkAccount = (deps: ProviderServices): LinkAccount => {
  const { provider, oauth, users, accountLog } = deps
  const { askForProof, show, showAgain, handleForm } = createProofPage(deps)

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
      // The account belongs to the user, even if no session has started.
      accountLog.record(context, reclaimed)
    }
  }

  return {
    page: { askForProof, show },

    byPassword: {
      showAgain,
      act: (context, attempt) =>
        handleForm(context, (form) => {
          const { email, userId } = form.account
          return attempt({ method: 'password', userId, loginOf: email }, (facts) => checkPassword(context, form, facts))
        }),
    },

    /**
     * The account belongs to the user before a session starts. The form is of no use again, whatever refuses the
     * session.
     */
    reclaim: { showAgain, act: (context) => handleForm(context, (form) => reclaim(context, form)) },
  }
}

const wrongPassword = (): AppError =>
  new AppError('unauthorized', 'This is not the password of the account.', {
    field: 'password',
    reason: 'password_wrong',
  })
