import type { EventFacts } from '../../account-log.ts'
import type { RouteDeps } from '../../deps.ts'
import type { RequestContext } from '../../request-context.ts'
import { type HttpResponse, page } from '../../response.ts'
import type { NamedLink } from './link-token.ts'

/** The links of `/auth/email/verify` that confirm a new address. */
export const createConfirmNewEmail = ({ recovery, pages, accountLog }: RouteDeps) => {
  const render = async (context: RequestContext, { link, token }: NamedLink): Promise<string> => {
    const { account, newEmail } = await recovery.emailChanges.describe(link)
    return pages.newEmail({ csrfToken: context.csrfToken, token, email: account, newEmail })
  }

  return {
    showAgain: render,

    show: async (context: RequestContext, named: NamedLink): Promise<HttpResponse> =>
      page(200, await render(context, named)),

    async submit(context: RequestContext, { link }: NamedLink): Promise<HttpResponse> {
      const event: EventFacts = { event: 'email_change', userId: link.userId }
      const { newEmail } = await recovery.emailChanges.describe(link)
      await accountLog.recordOutcome(context, event, () => recovery.emailChanges.confirm(link, context))
      return page(200, pages.newEmailConfirmed(newEmail))
    },
  }
}
