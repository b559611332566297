import { AppError } from '../../../lib/errors.ts'
import type { Link } from '../../../recovery/link.ts'
import type { EventFacts } from '../../account-log.ts'
import type { PageDeps } from '../../deps.ts'
import type { RequestContext } from '../../request-context.ts'
import { type HttpResponse, page } from '../../response.ts'
import type { NamedLink } from './link-token.ts'

/** The links of `/auth/email/verify` that confirm a new address. */
export const createConfirmNewEmail = ({ recovery, pages, accountLog }: PageDeps) => {
  const render = async (context: RequestContext, { link, token }: NamedLink): Promise<string> =>
    pages.newEmail({ csrfToken: context.csrfToken, token, ...(await recovery.emailChanges.describe(link)) })

  const confirm = (context: RequestContext, link: Link): Promise<void> => {
    const event: EventFacts = { event: 'email_change', userId: link.userId }
    return accountLog.recordOutcome(context, event, () => recovery.emailChanges.confirm(link, context))
  }

  return {
    showAgain: render,

    show: async (context: RequestContext, named: NamedLink): Promise<HttpResponse> =>
      page(200, await render(context, named)),

    /** Signs nobody in: who opens the link may be anybody who reads the mail of the new address. */
    async submit(context: RequestContext, { link }: NamedLink): Promise<HttpResponse> {
      const addresses = await recovery.emailChanges.describe(link)
      try {
        await confirm(context, link)
        return page(200, pages.newEmailConfirmed(addresses.newEmail))
      } catch (error) {
        if (!(error instanceof AppError) || error.reason !== 'email_taken') throw error
        return page(409, pages.newEmailTaken(addresses))
      }
    },
  }
}
