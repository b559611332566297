import { DeadLinkError, type Link } from '../../links/link.ts'
import type { EventFacts } from '../../audit/account-log.ts'
import type { PageDeps } from '../../http/deps.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type HttpResponse, page } from '../../http/response.ts'
import { orShowAgain, type Refusal } from '../../http/form-problems.ts'
import { completeSignIn } from '../sign-in/complete-sign-in.ts'
import { createAskedFactor } from '../sign-in/asked-factor.ts'
import { returnToOf } from '../sign-in/asking-browser.ts'
import { findSessionsBeside, requireLink } from '../sign-in/link-token.ts'
import { createOtherWaysIn } from '../sign-in/other-ways-in.ts'

/** `GET` and `POST /auth/password/reset`: sets a new password by a link (CONTRACT.md 4.2). */
export const createResetPassword = (deps: PageDeps) => {
  const { recovery, pages, passwords, providers, accountLog } = deps
  const otherWaysIn = createOtherWaysIn(deps)
  const askedFactor = createAskedFactor(deps)

  const render = async (
    context: RequestContext,
    { link, token }: { link: Link; token: string },
    refusal: Refusal = { errors: {}, problem: undefined },
  ): Promise<string> => {
    const { email } = await recovery.entry.requireAccount(link)
    const { isOwn: isOwnSession, others } = await findSessionsBeside(deps, context, link)
    return pages.resetPassword({
      csrfToken: context.csrfToken,
      token,
      email,
      otherEmail: others[0]?.email,
      providers: passwords ? undefined : providers,
      factor: await askedFactor.describe(await recovery.entry.findAsked({ link, isOwnSession })),
      ...refusal,
    })
  }

  const reset = async (context: RequestContext, link: Link, facts: EventFacts): Promise<HttpResponse> => {
    const password = context.form.get('password') ?? ''
    const { isOwn: isOwnSession } = await findSessionsBeside(deps, context, link)
    const asked = await recovery.entry.findAsked({ link, isOwnSession })
    const factor = await askedFactor.prove(context, asked)
    const entry = { link, chosen: { password }, isOwnSession, factor, caller: context }
    const { grant, apply: also } = await recovery.entry.check(entry)
    const returnTo = () => otherWaysIn.before(grant.userId, returnToOf(deps, context, link))
    const signIn = { way: 'recovery', grant, returnTo, facts, also, browser: 'silent' } as const
    const response = await completeSignIn(deps, context, signIn)
    // The account was disabled, or has another address, since the link was read.
    if (!response) throw new DeadLinkError('reset', 'ended')
    return response
  }

  const showAgain = async (context: RequestContext, refusal: Refusal): Promise<string> =>
    render(context, await requireLink(deps, context, 'reset'), refusal)

  return {
    showAgain,

    show: async (context: RequestContext): Promise<HttpResponse> =>
      page(200, await render(context, await requireLink(deps, context, 'reset'))),

    async submit(context: RequestContext): Promise<HttpResponse> {
      const named = await requireLink(deps, context, 'reset')
      const event: EventFacts = { event: 'password_reset', userId: named.link.userId }
      return orShowAgain(
        context,
        () => accountLog.recordOutcome(context, event, (facts) => reset(context, named.link, facts)),
        (refusal) => render(context, named, refusal),
      )
    },
  }
}
