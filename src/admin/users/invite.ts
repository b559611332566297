import { html } from '../../lib/html.ts'
import type { AdminForm } from '../http/context.ts'
import type { AdminServices } from '../services.ts'
import { askPage, readReason, textField } from '../site/ask.ts'
import { commandInstead, howField, isMailedOf, showLink } from './link-acts.ts'

const TITLE = 'Invite a user'

/** Makes an account for the owner of an address, and a link by which they enter it. */
export const createInviteForm = (
  services: Pick<AdminServices, 'door' | 'links' | 'logEvent' | 'mail' | 'site'>,
): AdminForm => ({
  show(context, refusal) {
    const { form } = context
    const instead = commandInstead(services, 'svc users invite EMAIL')
    if (instead !== undefined) {
      const body = html`<div class="narrow"><h1>${TITLE}</h1><p>${instead}</p></div>`
      return services.site.page(context, { title: TITLE, tab: 'Users', body, status: refusal?.status ?? 200 })
    }
    const fields = html`${textField({ name: 'email', label: 'Email address', type: 'email', value: form.get('email'), isFocused: true }, refusal)}${textField({ name: 'username', label: 'Username', value: form.get('username'), isOptional: true, hint: 'Made of the email address when left out.' }, refusal)}${textField({ name: 'roles', label: 'Roles, with spaces between them', value: form.get('roles'), isOptional: true }, refusal)}${howField(services, context)}`
    const ends = [
      'The account exists at once. Nobody can enter it before the link was followed.',
      'Inviting the same address again makes another link, until it was entered.',
    ]
    return askPage(
      services.site,
      context,
      { tab: 'Users', title: TITLE, back: '/', ends, fields, button: 'Invite' },
      refusal,
    )
  },

  async act(context) {
    const { form } = context
    const reason = readReason(context)
    const isMailed = isMailedOf(services, context)
    const roles = (form.get('roles') ?? '').split(/[\s,]+/).filter(Boolean)
    const given = {
      email: form.get('email') ?? '',
      username: form.get('username')?.trim() || undefined,
      roles: roles.length > 0 ? roles : undefined,
      isMailed,
    }
    const invited = await services.links.invitations.invite(given, context.caller(reason))
    const { userId, url, expiresAtMs } = invited
    services.logEvent(context, 'account_invite', { userId })
    const back = `/users/${userId}`
    if (!isMailed)
      return showLink(services, context, { title: 'An invitation', url, expiresAtMs, email: given.email, back })
    const done = `${given.email.trim()} gets an invitation by mail. To take it back, disable or delete the account.`
    return context.redirectDone(`${back}#done`, done)
  },
})
