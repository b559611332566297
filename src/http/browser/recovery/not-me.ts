import type { Link } from '../../../recovery/link.ts'
import type { PageDeps } from '../../deps.ts'
import type { RequestContext } from '../../request-context.ts'
import { type HttpResponse, page, redirect } from '../../response.ts'
import { requireLink } from './link-token.ts'

/** `GET` and `POST /auth/account/not-me`: "This wasn't me", in notices about an account (CONTRACT.md 4.2). */
export const createNotMeLink = (deps: PageDeps) => {
  const { recovery, pages, accountLog } = deps

  const requireNotMe = (context: RequestContext) => requireLink(deps, context, 'not_me', 'not_my_browser')

  const render = async (context: RequestContext, { link, token }: { link: Link; token: string }): Promise<string> => {
    const { email } = await recovery.notMe.requireAccount(link)
    return pages.notMe({ csrfToken: context.csrfToken, token, email, provider: link.details.provider })
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
