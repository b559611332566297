import { type AskForCodeView, createAskForCodePage, createTypeCodePage } from './pages.ts'
import type { ScreenServices } from '../site/frame.ts'
import type { OfferedWays } from '../../http/services.ts'
import { requireEmail } from '../../accounts/fields.ts'
import type { Awaitable } from '../../lib/awaitable.ts'
import { AppError } from '../../lib/errors.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type HttpResponse, page } from '../../http/response.ts'
import { type ReturnTargets, returnToParameter } from '../../http/return-to.ts'
import { readStepUp } from '../../http/step-up.ts'
import type { FormAttempt, Refusal } from '../../http/route.ts'
import { hashBrowserSecret } from '../../sign-in/known-browsers.ts'
import { carriedEmail } from '../site/carried-email.ts'
import { markAskingBrowser } from '../sign-in/asking-browser.ts'
import type { RedirectSignedIn } from '../sign-in/redirect-signed-in.ts'
import { requestedReturnTo } from '../sign-in/start-session.ts'
import { canConfirmByMail } from '../sign-in/ways-in.ts'
import { isConfirmation, requireSessionToConfirm } from './confirmation.ts'

/** Handles `GET` and `POST /auth/login/email`: a user asks for a code that signs in (CONTRACT.md 4.21). */
export const createAskForCode = (
  deps: OfferedWays &
    ReturnTargets &
    Pick<
      ScreenServices,
      | 'audit'
      | 'cookieWriter'
      | 'findCurrentSession'
      | 'layout'
      | 'links'
      | 'requestMetrics'
      | 'secondFactors'
      | 'signup'
      | 'users'
    > & { redirectSignedIn: RedirectSignedIn },
) => {
  const { links, layout, audit, requestMetrics, redirectSignedIn } = deps
  const signupOpen = deps.signup === 'on'
  const askForCodePage = createAskForCodePage(layout)
  const typeCodePage = createTypeCodePage(layout)

  const view = (context: RequestContext, returnTo: string, email: string): AskForCodeView => ({
    csrfToken: context.csrfToken,
    returnTo: returnToParameter(returnTo, deps),
    email,
    errors: {},
  })

  /** The account is looked up later: nothing here may depend on whether it exists, and neither may the log line. */
  const ask = (context: RequestContext, attempt: FormAttempt): Promise<HttpResponse> => {
    const returnTo = requestedReturnTo(context, deps)
    const entered = context.form.get('email') ?? ''
    const { device } = context.cookies
    return attempt({ email: entered, check: () => requireEmail(entered) }, async (_facts, email) => {
      audit.tally({ type: 'login.email_requested', email: email.lower }, context)
      requestMetrics?.countEmailSignIn('requested')
      const deviceHash = device === undefined ? undefined : hashBrowserSecret(device)
      await links.signIn.ask({ email, returnTo, browser: markAskingBrowser(deps, context), deviceHash }, context)
      return page(200, typeCodePage({ ...view(context, returnTo, email.shown), signupOpen, isNew: true, errors: {} }))
    })
  }

  /** The user of a session signs in again. The message goes to the address of the account, whatever the form says. */
  const askToConfirm = async (context: RequestContext, attempt: FormAttempt): Promise<HttpResponse> => {
    const session = await requireSessionToConfirm(deps, context)
    const { returnTo, acr } = readStepUp(context, deps)
    const { userId, sessionId, email } = session
    return attempt({ userId, sessionId }, async () => {
      if (!(await canConfirmByMail(deps, userId))) throw notByMail()
      requestMetrics?.countEmailSignIn('requested')
      await links.signIn.askToConfirm(session, markAskingBrowser(deps, context), context)
      const { csrfToken } = context
      const asked = { csrfToken, returnTo, email, confirms: { acr }, signupOpen, isNew: true, errors: {} }
      return page(200, typeCodePage(asked))
    })
  }

  return {
    show: (context: RequestContext): Awaitable<HttpResponse> =>
      redirectSignedIn(context, (returnTo) =>
        page(200, askForCodePage(view(context, returnTo, carriedEmail(context)))),
      ),

    showAgain: (context: RequestContext, refusal: Refusal): string =>
      askForCodePage({
        ...view(context, requestedReturnTo(context, deps), context.form.get('email') ?? ''),
        ...refusal,
      }),

    act: (context: RequestContext, attempt: FormAttempt): Promise<HttpResponse> =>
      isConfirmation(context) ? askToConfirm(context, attempt) : ask(context, attempt),
  }
}

const notByMail = (): AppError =>
  new AppError('forbidden', 'This account has a stronger way to sign in again: use that one.', {
    reason: 'confirm_otherwise',
  })
