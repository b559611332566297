import type { Dev, DevOptions } from '../../dev/dev.ts'
import type { DevEvent } from '../../dev/events.ts'
import { passedOnText } from '../../dev/pages/webhooks-page.ts'
import { toShownWebhook } from '../../dev/webhook-receiver.ts'
import { toJsonText } from '../../lib/control-characters.ts'
import { timestampNow } from '../../lib/time.ts'
import { type Paint, withoutControls } from '../terminal/text.ts'

/** The first screen, of at most twelve lines. */
export const screenOf = (dev: Dev, { app, webhook }: DevOptions, paint: Paint): string => {
  const { url, users, apiKey, webhookSecret, notUsed } = dev
  const line = (label: string, text: string): string => `  ${paint('dim', label.padEnd(12))}${withoutControls(text)}\n`
  return [
    `  ${paint('bold', `svc dev  ${url}`)}  ${paint('dim', '(Ctrl+C stops it)')}\n`,
    line('Application', app ?? `none: --app http://localhost:3000 puts one there`),
    ...users.map(({ email, password, roles }, index) =>
      line(index === 0 ? 'Users' : '', `${email}  ${password ?? '(its password was changed)'}${rolesText(roles)}`),
    ),
    line('Mailbox', `${url}/auth/dev/mail`),
    line('Webhooks', `${url}/auth/dev/webhooks${webhook === undefined ? '' : `, passed on to ${webhook}`}`),
    line('Provider', `"Dev Provider" on ${url}/auth/login`),
    line('For the app', `SVC_URL=${url}`),
    line('', `SVC_API_KEY=${apiKey}`),
    line('', `SVC_WEBHOOK_SECRET=${webhookSecret}`),
    notUsed.length > 0 ? line('Not used', `${notUsed.join(', ')}: svc dev has its own`) : '',
    '\n',
  ].join('')
}

const rolesText = (roles: readonly string[]): string => (roles.length > 0 ? `  (role ${roles.join(', ')})` : '')

/** One readable line for what has happened; undefined for what needs none. */
export const lineOf = (event: DevEvent, url: string, paint: Paint): string | undefined => {
  const text = textOf(event, url, paint)
  return text && `${paint('dim', timestampNow().slice(11, 19))}  ${text}\n`
}

const textOf = (event: DevEvent, url: string, paint: Paint): string | undefined => {
  if (event.type === 'request') return requestText(event, paint)
  if (event.type === 'reset') return `${paint('yellow', 'reset')}   everything is as at the start`
  if (event.type === 'mail') {
    const { id, to, subject } = event.message
    return `${paint('cyan', 'mail')}    ${withoutControls(`${to}  ${subject}`)}  ${paint('dim', `${url}/auth/dev/mail/${id}`)}`
  }
  const { event: sent, passedOn } = event.webhook
  const outcome = passedOn ? `  ${passedOnText(passedOn)}` : ''
  return `${paint('cyan', 'event')}   ${withoutControls(`${sent.type}  ${sent.data.user_id}${outcome}`)}`
}

const requestText = ({ method, path, status, ms }: DevEvent & { type: 'request' }, paint: Paint): string => {
  const colour = status >= 500 || status === 0 ? 'red' : status >= 400 ? 'yellow' : 'green'
  const shown = status === 0 ? 'gone' : String(status)
  return `${method.padEnd(6)}  ${withoutControls(path)}  ${paint(colour, shown)}  ${paint('dim', `${ms} ms`)}`
}

/** The first line with `--json`. */
export const readyJson = ({ url, users, apiKey, webhookSecret, notUsed }: Dev): string =>
  `${toJsonText({ type: 'ready', url, users, api_key: apiKey, webhook_secret: webhookSecret, not_used: notUsed })}\n`

/** One line of JSON for what has happened. */
export const jsonLineOf = (event: DevEvent): string => {
  if (event.type === 'mail') return `${toJsonText({ type: 'mail', ...event.message })}\n`
  if (event.type === 'webhook') return `${toJsonText({ type: 'webhook', webhook: toShownWebhook(event.webhook) })}\n`
  return `${toJsonText(event)}\n`
}
