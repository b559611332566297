import { createOtherWaysInPage } from './other-ways-in-page.ts'
import type { ScreenServices } from '../site/frame.ts'
import type { OfferedWays } from '../../http/services.ts'
import type { ReturnTargets } from '../../http/return-to.ts'
import type { AuthenticatedSession } from '../../sessions/sessions.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type HttpResponse, page, redirect } from '../../http/response.ts'
import { requestedReturnTo } from '../sign-in/start-session.ts'
import { createSignInMethods } from '../sign-in/ways-in.ts'

/**
 * Handles `GET /auth/account/ways-in`. It shows a user who has come back by a link the other ways into the account, so
 * that the user can remove those of strangers. If there are none, the browser goes on at once.
 */
export const createWaysIn = (
  deps: OfferedWays & ReturnTargets & Pick<ScreenServices, 'oauth' | 'layout' | 'iconOf' | 'sessions' | 'users'>,
) => {
  const { passkeys, layout } = deps
  const otherWaysInPage = createOtherWaysInPage(layout)
  const signInMethods = createSignInMethods(deps)

  return {
    async show(context: RequestContext, session: AuthenticatedSession): Promise<HttpResponse> {
      const returnTo = requestedReturnTo(context, deps)
      const linked = (await signInMethods.forAccountPage(session))?.linked ?? []
      const own = passkeys.isOn ? await passkeys.list(session.userId) : []
      if (linked.length === 0 && own.length === 0) return redirect(returnTo)
      const shown = own.map(({ createdAtMs: addedAtMs, ...passkey }) => ({ ...passkey, addedAtMs }))
      return page(200, otherWaysInPage({ csrfToken: context.csrfToken, returnTo, linked, passkeys: shown }))
    },
  }
}
