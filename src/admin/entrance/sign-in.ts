import type { Entrance } from '../../administrators/administrators.ts'
import { type HttpResponse, json, redirect } from '../../http/response.ts'
import { parseReturnTo } from '../../http/return-to.ts'
import { html } from '../../lib/html.ts'
import type { Limits } from '../../limits/limits.ts'
import { passkeyButton } from '../../web/site/passkey-button.ts'
import type { AdminRequest } from '../http/admin-request.ts'
import type { AdminContext } from '../http/context.ts'
import type { AdminServices } from '../services.ts'
import type { AdminSite } from '../site/site.ts'
import { limitedByAddress, requireSession } from './origin-door.ts'

/** Goes on with a page of this origin alone: an address that was put together elsewhere may lead away. */
const ownPath = (text = '', origin: string): string => parseReturnTo(text, { baseUrl: origin }) ?? '/'

/** Makes the page for a browser that is not signed in, in place of the page that it asked for. */
export const createSignInPage =
  (site: AdminSite) =>
  (request: AdminRequest): string => {
    const { at, method, target, csrfToken, sessionSecret } = request
    // A cookie that is `SameSite=Strict` does not come with a link of another site, but with one of this page.
    if (sessionSecret === undefined && method === 'GET' && isFromElsewhere(request)) {
      const head = html`<meta http-equiv="refresh" content="0;url=${target}">`
      return site.card(at, {
        title: 'Administration',
        head,
        body: html`<a class="svc-button first" href="${target}">Go on</a>`,
      })
    }
    const to = ownPath(method === 'GET' ? target : undefined, `https://${request.headers.host}`)
    const url = `${at('/passkeys/login')}?to=${encodeURIComponent(to)}`
    const button = passkeyButton({ kind: 'log-in', csrfToken, url, base: at('/passkeys'), isMain: true })
    const body = html`${method === 'POST' && html`<p class="box wrong" role="alert">What you sent was not done.</p>`}
<p>For administrators of ${site.appName}. Your passkey of this site signs you in.</p>
${button}`
    return site.card(at, { title: 'Sign in', body, passkeys: true })
  }

const isFromElsewhere = ({ headers }: AdminRequest): boolean =>
  headers['sec-fetch-site'] === 'cross-site' || headers['sec-fetch-site'] === 'same-site'

interface SignInDeps {
  entrance: Entrance
  limits: Limits
  logEvent: AdminServices['logEvent']
  origin: string
}

/** Signs administrators in and out. */
export const createAdminSignIn = ({ entrance, limits, logEvent, origin }: SignInDeps) => ({
  options: {
    handle: ({ browserSecret }: AdminContext): HttpResponse =>
      json(200, JSON.stringify(entrance.signInOptions(browserSecret))),
  },

  submit: {
    async handle(context: AdminContext): Promise<HttpResponse> {
      const given = { response: context.json, browserSecret: context.browserSecret }
      const { secret, administrator } = await limitedByAddress({ limits }, context, () =>
        entrance.signIn(given, context.anyone()),
      )
      context.setSession(secret)
      logEvent(context, 'administrator_sign_in', { administrator: administrator.name })
      return json(200, JSON.stringify({ redirect_to: ownPath(context.query.get('to'), origin) }))
    },
  },

  signOut: {
    async handle(context: AdminContext): Promise<HttpResponse> {
      await entrance.signOut(requireSession(context.operator), context.anyone())
      logEvent(context, 'administrator_sign_out', {})
      context.setSession(undefined)
      return redirect('/')
    },
  },
})
