import { NOT_ME_PURPOSES, type NotMePurpose } from '../../../recovery/link.ts'
import type { PageDeps } from '../../deps.ts'
import type { RequestContext } from '../../request-context.ts'
import { type HttpResponse, page, redirect } from '../../response.ts'
import { orShowAgain, type Refusal } from '../form-problems.ts'
import { createAskedFactor } from './asked-factor.ts'
import { type NamedLink, requireLink } from './link-token.ts'

/** `GET` and `POST /auth/account/not-me`: "This wasn't me", in notices about an account (CONTRACT.md 4.2). */
export const createNotMeLink = (deps: PageDeps) => {
  const { recovery, pages, accountLog } = deps
  const askedFactor = createAskedFactor(deps)

  const requireNotMe = (context: RequestContext) => requireLink(deps, context, ...NOT_ME_PURPOSES)

  const render = async (
    context: RequestContext,
    { link, token }: NamedLink,
    refusal: Refusal = { errors: {}, problem: undefined },
  ): Promise<string> => {
    const { email } = await recovery.notMe.requireAccount(link)
    const purpose = link.purpose as NotMePurpose
    const factor = await askedFactor.describe(await recovery.notMe.findAsked(link))
    const about = { email, purpose, provider: link.details.provider ?? '', factor }
    return pages.notMe({ csrfToken: context.csrfToken, token, ...about, ...refusal })
  }

  const confirm = async (context: RequestContext, { link }: NamedLink): Promise<HttpResponse> => {
    const factor = await askedFactor.prove(context, await recovery.notMe.findAsked(link))
    return redirect(`/auth/password/reset?token=${await recovery.notMe.confirm(link, factor, context)}`)
  }

  return {
    showAgain: async (context: RequestContext, refusal: Refusal): Promise<string> =>
      render(context, await requireNotMe(context), refusal),

    show: async (context: RequestContext): Promise<HttpResponse> =>
      page(200, await render(context, await requireNotMe(context))),

    async submit(context: RequestContext): Promise<HttpResponse> {
      const named = await requireNotMe(context)
      const event = { event: 'not_me', userId: named.link.userId } as const
      return orShowAgain(
        context,
        () => accountLog.recordOutcome(context, event, () => confirm(context, named)),
        (refusal) => render(context, named, refusal),
      )
    },
  }
}
