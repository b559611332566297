import type { IdTokenHint } from '../../clients/tokens.ts'
import type { Client } from '../../clients/client.ts'
import type { Clients } from '../../clients/clients.ts'
import { isLogoutUriOf } from '../../clients/redirect-uri.ts'
import { redirectWith } from '../../clients/authorize-request.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type HttpResponse, page, redirect } from '../../http/response.ts'
import type { FormAttempt, Refusal } from '../../http/route.ts'
import type { AuthenticatedSession } from '../../sessions/sessions.ts'
import type { ScreenServices } from '../site/frame.ts'
import { logOut, type LogOutServices } from '../sign-in/log-out.ts'
import { redirectToGet } from './authorize.ts'
import { createClientLogoutPage } from './client-logout-page.ts'

type ClientLogoutServices = LogOutServices &
  Pick<ScreenServices, 'findCurrentSession' | 'layout'> & {
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
  const { clients } = deps
  const logoutPage = createClientLogoutPage(deps.layout)

  const read = async ({ get }: Pick<RequestContext['query'], 'get'>): Promise<Asked> => {
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
    if (session) await logOut(deps, context)
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
    return page(200, logoutPage(questionOf(context, { asked, session, query })))
  }

  /** What the form has sent back. */
  const readForm = async ({ form }: RequestContext): Promise<{ query: string; asked: Asked }> => {
    const query = form.get('query') ?? ''
    const fields = new URLSearchParams(query)
    return { query, asked: await read({ get: (name) => fields.get(name) ?? undefined }) }
  }

  return {
    ask: { show, act: (context: RequestContext): HttpResponse => redirectToGet(context, LOGOUT_PATH) },

    confirmed: {
      /** Asks again, unless another tab has logged out since. */
      async showAgain(context: RequestContext, { problem }: Refusal): Promise<string> {
        const { query, asked } = await readForm(context)
        const session = await deps.findCurrentSession(context)
        if (session) return logoutPage({ ...questionOf(context, { asked, session, query }), problem })
        const { returnUri, client } = asked
        return logoutPage({ csrfToken: context.csrfToken, done: { returnUri, name: client?.name ?? '' } })
      },

      async act(context: RequestContext, _attempt: FormAttempt): Promise<HttpResponse> {
        const { asked } = await readForm(context)
        await end(context, asked, await deps.findCurrentSession(context))
        return done(asked, context, 'form')
      },
    },
  }
}

const questionOf = (
  { csrfToken }: RequestContext,
  { asked, session, query }: { asked: Asked; session: AuthenticatedSession; query: string },
) => ({ csrfToken, email: session.email, name: asked.client?.name, query })
