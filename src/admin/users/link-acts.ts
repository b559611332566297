import type { HttpResponse } from '../../http/response.ts'
import { AppError } from '../../lib/errors.ts'
import { type HtmlFragment, html } from '../../lib/html.ts'
import type { AdminContext } from '../http/context.ts'
import type { AdminServices } from '../services.ts'
import { selectField } from '../site/ask.ts'
import { moment } from '../site/parts.ts'
import type { UserAct } from './user-act.ts'

type How = Pick<AdminServices, 'door' | 'mail'>

/** A link opens the account: support staff have it mailed. An operator on this machine could print it by command. */
const canShow = ({ door }: How): boolean => door === 'machine'

/** Tells whether the link is mailed, and not shown. Throws `conflict` where neither can be. */
export const isMailedOf = ({ mail, door }: How, { form }: AdminContext): boolean => {
  if (door === 'machine') return mail.isOn && form.get('how') !== 'show'
  if (mail.isOn) return true
  throw new AppError('conflict', 'Mail is off (SVC_SMTP_URL), and a link is never shown here.')
}

export const howField = (services: How, { form }: AdminContext): HtmlFragment | undefined =>
  canShow(services) && services.mail.isOn
    ? selectField(
        'how',
        'The link',
        [
          ['', 'is mailed to the user'],
          ['show', 'is shown here once'],
        ],
        form.get('how'),
      )
    : undefined

/** Without mail, nobody gets the link, and the page names the command that prints one. */
export const commandInstead = (services: How, command: string): string | undefined =>
  services.mail.isOn || canShow(services)
    ? undefined
    : `Mail is off (SVC_SMTP_URL), and a link is never shown here. An operator makes one by command: ${command}`

/** Shows a link, once, to an operator on this machine. */
export const showLink = (
  { site }: Pick<AdminServices, 'site'>,
  context: AdminContext,
  {
    title,
    url,
    expiresAtMs,
    email,
    back,
  }: { title: string; url: string; expiresAtMs: number; email: string; back: string },
): HttpResponse => {
  const body = html`<div class="narrow"><h1>${title}</h1>
<p>This link is for ${email} alone. It works once, until ${moment(expiresAtMs)}, and is not shown again.</p>
<p class="svc-card panel none"><code id="link">${url}</code></p>
<button class="svc-button second small" type="button" hidden data-copies="link" data-copied="Copied">Copy</button>
<p><a href="${context.at(back)}">Go on</a></p></div>`
  return site.page(context, { title, tab: 'Users', body })
}

const resetLink: UserAct = {
  path: 'reset-link',
  does: 'user.reset_link',
  event: 'password_reset_request',
  title: 'Send a reset link',
  ask(services, { user }, context) {
    if (user.disabled) return 'The account is disabled: enable it first.'
    const instead = commandInstead(services, `svc users reset-link ${user.username}`)
    if (instead !== undefined) return instead
    return {
      ends: [
        'The user sets a new password with the link. All sessions end then.',
        services.mail.isOn ? `It is mailed to ${user.email}.` : 'It is shown here once: give it to nobody else.',
        user.emailVerifiedAtMs === undefined
          ? 'The address is not verified: the user of the link takes the account over.'
          : undefined,
      ],
      fields: html`${howField(services, context)}`,
      button: 'Make the link',
    }
  },
  async act(services, { user }, context, caller) {
    const isMailed = isMailedOf(services, context)
    const { url, expiresAtMs } = await services.links.reset.createByOperator(user.id, { isMailed }, caller)
    const title = 'A link for a new password'
    if (!isMailed)
      return showLink(services, context, { title, url, expiresAtMs, email: user.email, back: `/users/${user.id}` })
    return `A link for a new password is mailed to ${user.email}. It ends unused; to end it at once, disable the account.`
  },
}

const inviteAgain: UserAct = {
  path: 'invite-again',
  does: 'user.invite_again',
  event: 'account_invite',
  title: 'Invite again',
  ask(services, { user }, context) {
    if (user.disabled) return 'The account is disabled: enable it first.'
    if (user.invitedAtMs === undefined) return 'The user has entered the account already.'
    const instead = commandInstead(services, `svc users invite ${user.email}`)
    if (instead !== undefined) return instead
    return {
      ends: [`${user.email} gets one more link, with which the user enters the account.`],
      fields: html`${howField(services, context)}`,
      button: 'Invite again',
    }
  },
  async act(services, { user }, context, caller) {
    const isMailed = isMailedOf(services, context)
    const { url, expiresAtMs } = await services.links.invitations.invite({ email: user.email, isMailed }, caller)
    const title = 'An invitation'
    if (!isMailed)
      return showLink(services, context, { title, url, expiresAtMs, email: user.email, back: `/users/${user.id}` })
    return `${user.email} gets an invitation by mail. To take it back, disable the account.`
  },
}

export const linkActs: readonly UserAct[] = [resetLink, inviteAgain]
