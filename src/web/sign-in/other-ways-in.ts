import type { ProviderProfile } from '../../oauth/oauth.ts'
import type { AuthenticatedSession } from '../../sessions/sessions.ts'
import type { PageDeps } from '../../http/deps.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type HttpResponse, page, redirect } from '../../http/response.ts'
import { withReturnTo } from '../../http/return-to.ts'
import { createSignInMethods } from './sign-in-methods.ts'
import { requestedReturnTo } from './start-session.ts'

/**
 * `/auth/account/ways-in`: after a user has come back by a link, the other ways into the account, so that the user can
 * remove what is not theirs. Without any, the browser goes on at once.
 */
export const createOtherWaysIn = (deps: PageDeps) => {
  const { oauth, passkeys, pages } = deps
  const signInMethods = createSignInMethods(deps)

  const listPasskeys = async (userId: string) => (passkeys.isOn ? passkeys.list(userId) : [])

  return {
    /**
     * Where to send a user who has come back: to the page, where there is something to see on it besides what they have
     * just signed in with.
     */
    async before(userId: string, returnTo: string, own?: Pick<ProviderProfile, 'issuer' | 'subject'>): Promise<string> {
      const linked = await oauth.listIdentities(userId, true)
      const others = linked.filter(({ issuer, subject }) => issuer !== own?.issuer || subject !== own.subject)
      const isAlone = others.length === 0 && (await listPasskeys(userId)).length === 0
      return isAlone ? returnTo : withReturnTo('/auth/account/ways-in', returnTo)
    },

    async show(context: RequestContext, session: AuthenticatedSession): Promise<HttpResponse> {
      const returnTo = requestedReturnTo(context, deps)
      const linked = (await signInMethods.forAccountPage(session))?.linked ?? []
      const own = (await listPasskeys(session.userId)).map(({ createdAtMs: addedAtMs, ...it }) => ({
        ...it,
        addedAtMs,
      }))
      if (linked.length === 0 && own.length === 0) return redirect(returnTo)
      return page(200, pages.otherWaysIn({ csrfToken: context.csrfToken, returnTo, linked, passkeys: own }))
    },
  }
}
