import { createLogoutPage, type LogoutView } from './logout-page.ts'
import type { ScreenServices } from '../site/frame.ts'
import { type ReturnTargets, returnToParameter } from '../../http/return-to.ts'
import { prefersJson } from '../../http/negotiation.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type HttpResponse, noContent, page, redirect } from '../../http/response.ts'
import type { Refusal } from '../../http/route.ts'
import { logOut, type LogOutServices } from '../sign-in/log-out.ts'
import { requestedReturnTo } from '../sign-in/start-session.ts'

/** Handles `GET` (a button) and `POST /auth/logout` (CONTRACT.md 4.2). */
export const createLogout = (
  deps: LogOutServices & ReturnTargets & Pick<ScreenServices, 'findCurrentSession' | 'layout'>,
) => {
  const logoutPage = createLogoutPage(deps.layout)
  const view = async (context: RequestContext): Promise<LogoutView> => {
    const returnTo = returnToParameter(requestedReturnTo(context, deps), deps)
    const session = await deps.findCurrentSession(context)
    return { csrfToken: context.csrfToken, returnTo, signedIn: session !== undefined, email: session?.email }
  }

  return {
    show: async (context: RequestContext): Promise<HttpResponse> => page(200, logoutPage(await view(context))),

    /**
     * Shows the button again. If another tab has logged out since, it shows the page that says so. Cookies that came
     * more than once hide whether the user is signed in.
     */
    async showAgain(context: RequestContext, { problem }: Refusal): Promise<string> {
      const shown = await view(context)
      return logoutPage({ ...shown, signedIn: shown.signedIn || context.cookies.repeated.length > 0, problem })
    },

    async act(context: RequestContext): Promise<HttpResponse> {
      const returnTo = requestedReturnTo(context, deps)
      await logOut(deps, context)
      return prefersJson(context.headers) ? noContent : redirect(returnTo)
    },
  }
}
