import type { ForgotPasswordView } from '../../pages/links/password-pages.ts'
import { requireEmail } from '../../accounts/email.ts'
import type { PageDeps } from '../../http/deps.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type HttpResponse, page } from '../../http/response.ts'
import { returnToParameter } from '../../http/return-to.ts'
import { carriedEmail } from '../site/carried-email.ts'
import { orShowAgain, type Refusal } from '../../http/form-problems.ts'
import { requestedReturnTo } from '../sign-in/start-session.ts'
import { markAskingBrowser } from '../sign-in/asking-browser.ts'

/** `GET` and `POST /auth/password/forgot`: asks for a link to a new password. While mail is off, both are 404. */
export const createForgotPassword = (deps: PageDeps) => {
  const { recovery, mail, pages, accountLog } = deps

  const view = (context: RequestContext, email: string): ForgotPasswordView => ({
    csrfToken: context.csrfToken,
    returnTo: returnToParameter(requestedReturnTo(context, deps), deps),
    email,
    errors: {},
  })

  const withoutMail = (): HttpResponse => page(404, pages.forgotWithoutMail())

  /** Whether there is such an account is looked up later: nothing here may depend on it, not even the log line. */
  const ask = async (context: RequestContext, entered: string, returnTo: string): Promise<HttpResponse> => {
    const email = requireEmail(entered)
    const browser = markAskingBrowser(deps, context)
    const { userAgent } = context.device
    await accountLog.recordOutcome(context, { event: 'password_reset_request', email: entered }, () =>
      recovery.reset.ask({ email, returnTo, browser, userAgent, network: context.network }),
    )
    return page(200, pages.linkSent())
  }

  const showAgain = (context: RequestContext, refusal: Refusal): string =>
    mail.isOn
      ? pages.forgotPassword({ ...view(context, context.form.get('email') ?? ''), ...refusal })
      : pages.forgotWithoutMail()

  return {
    showAgain,

    show(context: RequestContext): HttpResponse {
      if (!mail.isOn) return withoutMail()
      return page(200, pages.forgotPassword(view(context, carriedEmail(context))))
    },

    async submit(context: RequestContext): Promise<HttpResponse> {
      if (!mail.isOn) return withoutMail()
      const returnTo = requestedReturnTo(context, deps)
      const email = context.form.get('email') ?? ''
      return orShowAgain(
        context,
        () => ask(context, email, returnTo),
        (refusal) => showAgain(context, refusal),
      )
    },
  }
}
