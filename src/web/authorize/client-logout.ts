import type { IdTokenHint } from '../../clients/tokens.ts'
import type { Client } from '../../clients/client.ts'
import type { Clients } from '../../clients/clients.ts'
import { isLogoutUriOf } from '../../clients/redirect-uri.ts'
import { redirectWith } from '../../clients/authorize-request.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type HttpResponse, page, redirect } from '../../http/response.ts'
import type { FormAttempt } from '../../http/route.ts'
import type { OfferedWays } from '../../http/services.ts'
import type { AuthenticatedSession } from '../../sessions/sessions.ts'
import type { ScreenServices } from '../site/frame.ts'
import { stayAtLogin } from '../sign-in/offered-ways.ts'
import { redirectToGet } from './authorize.ts'
import { createClientLogoutPage } from './client-logout-page.ts'

type ClientLogoutServices = OfferedWays &
  Pick<ScreenServices, 'accountLog' | 'cookieWriter' | 'findCurrentSession' | 'layout' | 'sessions'> & {
    clients: Clients
  }

const LOGOUT_PATH = '/auth/oauth2/logout'

/** A client asks for a logout (OpenID Connect RP-Initiated Logout 1.0). */
interface Asked {
  client: Client | undefined
  hint: IdTokenHint | undefined
  /** The browser goes there afterwards; it is undefined where no client has registered it. */
  returnUri: string | undefined
}

/**
 * Handles `/auth/oauth2/logout`. A link of a stranger must not log anybody out: a button asks, unless the client is the
 * operator's, and the grant of its ID token hangs on the session of this browser.
 */
export const createClientLogout = (deps: ClientLogoutServices) => {
  const { clients, sessions } = deps
  const logoutPage = createClientLogoutPage(deps.layout)

  const read = async ({ get }: RequestContext['query']): Promise<Asked> => {
    const token = get('id_token_hint')
    const hint = token ? await clients.readIdTokenHint(token) : undefined
    const id = get('client_id') ?? hint?.clientId
    // Both name the same client, or nobody knows which of them asks.
    const isClear = hint === undefined || hint.clientId === id
    const client = id === undefined || !isClear ? undefined : await clients.registry.find(id)
    const [uri, state] = [get('post_logout_redirect_uri'), get('state')]
    const isOwn = client !== undefined && uri !== undefined && isLogoutUriOf(client, uri)
    return { client, hint, returnUri: isOwn ? (state === undefined ? uri : redirectWith(uri, { state })) : undefined }
  }

  /** Ends the session of this browser, what hangs on it, and the grant of the hint: nothing else of the user. */
  const end = async (
    context: RequestContext,
    { hint }: Asked,
    session: AuthenticatedSession | undefined,
  ): Promise<void> => {
    if (hint && (session === undefined || session.userId === hint.userId))
      await clients.grants.endOfUser(hint.userId, { id: hint.grantId }, 'logout', context)
    if (!session) return
    await sessions.end(session, 'logout', context)
    const { userId, sessionId } = session
    deps.accountLog.record(context, { event: 'logout', userId, sessionId })
    context.signOut()
    stayAtLogin(deps, context)
  }

  const mayGoAtOnce = async ({ client, hint }: Asked, session: AuthenticatedSession): Promise<boolean> => {
    if (client?.kind !== 'operator' || hint?.clientId !== client.id || hint.userId !== session.userId) return false
    return (await clients.grants.find(hint.grantId))?.grant.sessionId === session.sessionId
  }

  const done = ({ returnUri, client }: Asked, context: RequestContext, came: 'form' | 'at_once'): HttpResponse => {
    if (returnUri !== undefined && came === 'at_once') return redirect(returnUri)
    const text = logoutPage({ csrfToken: context.csrfToken, done: { returnUri, name: client?.name ?? '' } })
    const response = page(200, text)
    return returnUri === undefined ? response : { ...response, headers: ['refresh', `0;url=${returnUri}`] }
  }

  /** The form sends back what the address of its page has asked for. */
  const show = async (context: RequestContext): Promise<HttpResponse> => {
    const asked = await read(context.query)
    const session = await deps.findCurrentSession(context)
    if (!session) {
      // Anyone who has the ID token of a grant may end that grant alone.
      await end(context, asked, undefined)
      return done(asked, context, 'at_once')
    }
    if (await mayGoAtOnce(asked, session)) {
      await end(context, asked, session)
      return done(asked, context, 'at_once')
    }
    const query = context.target.slice(LOGOUT_PATH.length + 1)
    return page(
      200,
      logoutPage({ csrfToken: context.csrfToken, email: session.email, name: asked.client?.name, query }),
    )
  }

  return {
    ask: { show, act: (context: RequestContext): HttpResponse => redirectToGet(context, LOGOUT_PATH) },

    confirmed: {
      async act(context: RequestContext, _attempt: FormAttempt): Promise<HttpResponse> {
        const fields = new URLSearchParams(context.form.get('query') ?? '')
        const asked = await read({
          get: (name) => fields.get(name) ?? undefined,
          all: (name) => fields.getAll(name),
          names: [],
        })
        await end(context, asked, await deps.findCurrentSession(context))
        return done(asked, context, 'form')
      },
    },
  }
}
