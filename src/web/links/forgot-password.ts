import {
  createForgotWithoutMailPage,
  createForgotPasswordPage,
  createLinkSentPage,
  type ForgotPasswordView,
} from './password-pages.ts'
import type { ScreenServices } from '../site/frame.ts'
import { requireEmail } from '../../accounts/fields.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type HttpResponse, page } from '../../http/response.ts'
import { returnToParameter } from '../../http/return-to.ts'
import { carriedEmail } from '../site/carried-email.ts'
import type { FormAttempt, Refusal } from '../../http/route.ts'
import { requestedReturnTo } from '../sign-in/start-session.ts'
import { markAskingBrowser } from '../sign-in/asking-browser.ts'

/**
 * Handles `GET` and `POST /auth/password/forgot`: it asks for a link to a new password. While mail is off, both are
 * 404.
 */
export const createForgotPassword = (
  deps: Pick<ScreenServices, 'baseUrl' | 'cookieWriter' | 'homeUrl' | 'mail' | 'layout' | 'links'>,
) => {
  const { links, mail, layout } = deps
  const forgotWithoutMailPage = createForgotWithoutMailPage(layout)
  const forgotPasswordPage = createForgotPasswordPage(layout)
  const linkSentPage = createLinkSentPage(layout)

  const view = (context: RequestContext, email: string): ForgotPasswordView => ({
    csrfToken: context.csrfToken,
    returnTo: returnToParameter(requestedReturnTo(context, deps), deps),
    email,
    errors: {},
  })

  const withoutMail = (): HttpResponse => page(404, forgotWithoutMailPage())

  return {
    showAgain: (context: RequestContext, refusal: Refusal): string =>
      mail.isOn
        ? forgotPasswordPage({ ...view(context, context.form.get('email') ?? ''), ...refusal })
        : forgotWithoutMailPage(),

    show(context: RequestContext): HttpResponse {
      if (!mail.isOn) return withoutMail()
      return page(200, forgotPasswordPage(view(context, carriedEmail(context))))
    },

    /** The account is looked up later: nothing here may depend on whether it exists, and neither may the log line. */
    async act(context: RequestContext, attempt: FormAttempt): Promise<HttpResponse> {
      if (!mail.isOn) return withoutMail()
      const returnTo = requestedReturnTo(context, deps)
      const entered = context.form.get('email') ?? ''
      return attempt({ email: entered, check: () => requireEmail(entered) }, async (_facts, email) => {
        const { network, device } = context
        const browser = markAskingBrowser(deps, context)
        await links.reset.ask({ email, returnTo, browser, userAgent: device.userAgent, network })
        return page(200, linkSentPage())
      })
    },
  }
}
