import { type Link, NOT_ME_PURPOSES, type NotMePurpose } from '../../../recovery/link.ts'
import type { PageDeps } from '../../deps.ts'
import type { RequestContext } from '../../request-context.ts'
import { type HttpResponse, page, redirect } from '../../response.ts'
import { requireLink } from './link-token.ts'

/** `GET` and `POST /auth/account/not-me`: "This wasn't me", in notices about an account (CONTRACT.md 4.2). */
export const createNotMeLink = (deps: PageDeps) => {
  const { recovery, pages, accountLog } = deps

  const requireNotMe = (context: RequestContext) => requireLink(deps, context, ...NOT_ME_PURPOSES)

  const render = async (context: RequestContext, { link, token }: { link: Link; token: string }): Promise<string> => {
    const { email } = await recovery.notMe.requireAccount(link)
    const purpose = link.purpose as NotMePurpose
    return pages.notMe({ csrfToken: context.csrfToken, token, email, purpose, provider: link.details.provider ?? '' })
  }

  const showAgain = async (context: RequestContext): Promise<string> => render(context, await requireNotMe(context))

  return {
    showAgain,

    show: async (context: RequestContext): Promise<HttpResponse> => page(200, await showAgain(context)),

    async submit(context: RequestContext): Promise<HttpResponse> {
      const { link } = await requireNotMe(context)
      const token = await accountLog.recordOutcome(context, { event: 'not_me', userId: link.userId }, () =>
        recovery.notMe.confirm(link, context),
      )
      return redirect(`/auth/password/reset?token=${token}`)
    },
  }
}
