import type { Entrance } from '../../administrators/administrators.ts'
import { type HttpResponse, json, redirect } from '../../http/response.ts'
import { AppError } from '../../lib/errors.ts'
import { html } from '../../lib/html.ts'
import type { Clock } from '../../lib/time.ts'
import type { Limits } from '../../limits/limits.ts'
import type { Passkey } from '../../passkeys/passkey.ts'
import { csrfInput } from '../../web/site/form.ts'
import { passkeyButton } from '../../web/site/passkey-button.ts'
import type { AdminContext, AdminForm } from '../http/context.ts'
import type { AdminServices } from '../services.ts'
import { askPage } from '../site/ask.ts'
import { actLink, ago, things } from '../site/parts.ts'
import type { AdminSite } from '../site/site.ts'
import { newPasskeyOf } from './join.ts'
import { limitedByAddress, requireSession } from './origin-door.ts'

interface OwnPasskeysDeps {
  clock: Clock
  entrance: Entrance
  limits: Limits
  site: AdminSite
  logEvent: AdminServices['logEvent']
}

/** Administrators see, add and remove their passkeys. */
export const createOwnPasskeyPages = (deps: OwnPasskeysDeps) => ({
  list: createList(deps),
  remove: createRemoval(deps),

  options: {
    async handle(context: AdminContext): Promise<HttpResponse> {
      const session = requireSession(context.operator)
      return json(200, JSON.stringify(await deps.entrance.passkeyOptions(session, context.browserSecret)))
    },
  },

  submit: {
    async handle(context: AdminContext): Promise<HttpResponse> {
      const session = requireSession(context.operator)
      const { id, name } = await limitedByAddress(deps, context, () =>
        deps.entrance.addPasskey(session, newPasskeyOf(context), context.caller()),
      )
      deps.logEvent(context, 'administrator_passkey_add', { passkeyId: id })
      context.noteDone('/passkeys', `The passkey "${name}" is added.`)
      return { ...json(201, '{}'), headers: ['location', '/passkeys'] }
    },
  },
})

/** The page is a form: it asks for a passkey before it offers to add another one. */
const createList = ({ clock, entrance, site }: OwnPasskeysDeps): AdminForm => ({
  async show(context, refusal) {
    const passkeys = await entrance.passkeys(requireSession(context.operator))
    const nowMs = clock.now()
    const list = passkeys.map(({ id, name, createdAtMs, lastUsedAtMs, isBackedUp }) => ({
      title: html`<bdi>${name}</bdi>`,
      about: html`added ${ago(createdAtMs, nowMs)}, last used ${ago(lastUsedAtMs ?? createdAtMs, nowMs)}${isBackedUp && ' · synced'}`,
      acts:
        passkeys.length > 1 &&
        actLink(context, {
          does: 'own.change',
          path: `/passkeys/${id}/remove`,
          text: 'Remove',
          label: `Remove the passkey ${name}`,
        }),
    }))
    const body = html`<div class="narrow"><h1>Your passkeys</h1>
${
  passkeys.length === 1 &&
  html`<p class="state">You have one passkey. Add a second one, on another device or a security key: without it, a lost device needs an operator.</p>`
}${refusal && html`<p class="box wrong" role="alert" tabindex="-1" autofocus>${refusal.message}</p>`}${things(list, 'There are none.')}${addition(context)}</div>`
    const status = refusal?.status ?? 200
    return site.page(context, { title: 'Your passkeys', body, status, isWrong: refusal !== undefined, passkeys: true })
  },

  // The passkey was shown on the way here.
  act: ({ at }) => redirect(at('/passkeys')),
})

const addition = ({ operator, csrfToken, at }: AdminContext) => {
  const common = { csrfToken, base: at('/passkeys'), isMain: true }
  if (!operator.mustProve) return passkeyButton({ ...common, kind: 'add', label: 'Add a passkey' })
  const before = html`<p class="hint">You have not shown your passkey in the last ten minutes.</p>`
  return html`<form method="post" novalidate>
${csrfInput(csrfToken)}${passkeyButton({ ...common, kind: 'fill', label: 'Show a passkey, to add another one', before })}
</form>`
}

const createRemoval = ({ entrance, site, logEvent }: OwnPasskeysDeps): AdminForm => {
  const requireOwn = async ({ operator, parameters }: AdminContext): Promise<Passkey> => {
    const passkey = (await entrance.passkeys(requireSession(operator))).find(({ id }) => id === parameters.id)
    if (passkey) return passkey
    throw new AppError('not_found', 'You do not have this passkey.')
  }
  return {
    async show(context, refusal) {
      const { name } = await requireOwn(context)
      const ends = [
        'It no longer signs you in. All your other sessions end.',
        'Remove it from your device or password manager, too.',
      ]
      const asked = { title: 'Remove a passkey', back: '/passkeys', about: html`<bdi>${name}</bdi>`, ends }
      return askPage(site, context, { ...asked, button: 'Remove it', isDanger: true, asksReason: false }, refusal)
    },

    async act(context) {
      const { id, name } = await requireOwn(context)
      await entrance.removePasskey(requireSession(context.operator), id, context.caller())
      logEvent(context, 'administrator_passkey_remove', { passkeyId: id })
      return context.redirectDone('/passkeys#done', `The passkey "${name}" is removed.`)
    },
  }
}
