import type { Entrance } from '../../administrators/administrators.ts'
import { type HttpResponse, json, page } from '../../http/response.ts'
import { html } from '../../lib/html.ts'
import type { Limits } from '../../limits/limits.ts'
import { deviceName } from '../../web/site/device.ts'
import { passkeyButton } from '../../web/site/passkey-button.ts'
import type { AdminContext } from '../http/context.ts'
import type { AdminServices } from '../services.ts'
import type { AdminSite } from '../site/site.ts'
import { limitedByAddress } from './origin-door.ts'

interface JoinDeps {
  entrance: Entrance
  limits: Limits
  site: AdminSite
  logEvent: AdminServices['logEvent']
}

/** An administrator has followed the link of `svc admins invite`, and makes the first passkey. */
export const createJoin = ({ entrance, limits, site, logEvent }: JoinDeps) => ({
  page: {
    async handle(context: AdminContext): Promise<HttpResponse> {
      const token = context.query.get('token')
      const { name, role } = await limitedByAddress({ limits }, context, () => entrance.requireInvited(token))
      const button = passkeyButton({
        kind: 'add',
        csrfToken: context.csrfToken,
        base: context.at('/join'),
        link: { purpose: 'invite', token: token ?? '' },
        label: 'Make your passkey',
        isMain: true,
      })
      const may = role === 'change' ? 'look at everything and change it' : 'look at everything, and change nothing'
      const body = html`<p>You become the administrator <b>${name}</b>, who may ${may}.</p>
<p>A passkey of this site signs you in from now on. It is kept by your device, your password manager or a security key, and asks for your finger, your face or a PIN.</p>
${button}`
      const document = site.card(context.at, { title: 'Your access', body, passkeys: true })
      // No request from this page names its address, which holds the token.
      return { ...page(200, document), headers: ['referrer-policy', 'strict-origin'] }
    },
  },

  options: {
    async handle(context: AdminContext): Promise<HttpResponse> {
      const options = await limitedByAddress({ limits }, context, () =>
        entrance.joinOptions(tokenOf(context), context.browserSecret),
      )
      return json(200, JSON.stringify(options))
    },
  },

  submit: {
    async handle(context: AdminContext): Promise<HttpResponse> {
      const given = { ...newPasskeyOf(context), token: tokenOf(context) }
      const { secret, administrator } = await limitedByAddress({ limits }, context, () =>
        entrance.join(given, context.anyone()),
      )
      context.setSession(secret)
      logEvent(context, 'administrator_sign_in', { administrator: administrator.name, method: 'invitation' })
      return { ...json(201, '{}'), headers: ['location', '/passkeys'] }
    },
  },
})

const tokenOf = ({ json: { token } }: AdminContext): string | undefined =>
  typeof token === 'string' ? token : undefined

/** Reads what a browser sends of a passkey that it has made. */
export const newPasskeyOf = ({ json: response, browserSecret, device }: AdminContext) => ({
  response,
  browserSecret,
  otherwise: deviceName(device.userAgent),
})
