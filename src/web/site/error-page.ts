import type { ErrorView, NotSentView } from '../../http/frame.ts'
import { afterWaitText } from '../../languages/formats.ts'
import { t } from '../../languages/texts.ts'
import { type HtmlFragment, html } from '../../lib/html.ts'
import type { IconName } from './icon.ts'
import type { Layout } from './layout.ts'
import { entryHref } from './providers.ts'
import { operatorDetails } from './support.ts'

/** Pages say about errors with these reasons what happened. The message of the error says the same in JSON. */
const REASONS = [
  'account_gone',
  'codes_expired',
  'confirm_otherwise',
  'factor_changed',
  'has_password',
  'last_way',
  'logged_out',
  'no_verification',
  'not_connected',
  'not_set_up',
  'passkey_gone',
  'passkey_needed',
  'session_gone',
] as const

/** These statuses have a title, and advice that holds for all of their errors. */
const STATUSES = [400, 401, 403, 404, 405, 408, 409, 410, 413, 415, 422, 429, 500, 503] as const

/**
 * The message of these errors is for the developers and operators of the application: it is English, and names headers,
 * cookies, fields and parts of the service. Other people get the text for the reason or the status.
 */
const FOR_OPERATORS: ReadonlySet<number> = new Set([400, 403, 405, 408, 409, 410, 413, 415, 422, 429, 503])

const knownStatus = (status: number): (typeof STATUSES)[number] => STATUSES.find((one) => one === status) ?? 500

/** Says what happened, if there is more to say than the status does. */
const happened = ({ reason }: ErrorView): string | undefined => {
  const known = REASONS.find((one) => one === reason)
  return known && t(`error.message.${known}`)
}

/** 503 keeps its advice, which is to wait a moment: users must know that they are not logged out. */
const adviceOf = ({ status, retryAfterSeconds }: ErrorView): string =>
  retryAfterSeconds === undefined || status === 503
    ? t(`error.${knownStatus(status)}.advice`)
    : t('form.try_again', { when: afterWaitText(retryAfterSeconds) })

/** Another tab may have logged in since a form was loaded: the login page redirects a user who is logged in. */
const loginButtonOf = ({ status, returnTo }: ErrorView): string | undefined => {
  if (status === 401) return t('error.log_in')
  return returnTo === undefined ? undefined : t('error.start_again')
}

const signOf = ({ status, retryAfterSeconds }: ErrorView): IconName => {
  if (status === 401) return 'key'
  if (status === 404) return 'info'
  return retryAfterSeconds === undefined ? 'warning' : 'clock'
}

const firstLink = (href: string, text: string): HtmlFragment =>
  html`<a class="svc-button first" href="${href}">${text}</a>`

/**
 * Creates the page of a failed request. It says what happened and what to do, with one button for it, and shows the
 * request ID, with which an operator finds the log line.
 */
export const createErrorPage = (layout: Layout) => {
  /** Makes the button, and the ways elsewhere. */
  const waysOf = (view: ErrorView, isFailed: boolean): { button: HtmlFragment; below: HtmlFragment } => {
    const home = html`<a href="${layout.homeUrl}">${t('common.home', { app: layout.appName })}</a>`
    const account = html`<a href="/auth/account">${t('account.title')}</a>`
    const login = loginButtonOf(view)
    if (login)
      return { button: firstLink(entryHref('/auth/login', view.returnTo), login), below: html`${home} · ${account}` }
    if (isFailed) return { button: firstLink('/auth/account', t('common.back_to_account')), below: home }
    return { button: firstLink(layout.homeUrl, t('common.home', { app: layout.appName })), below: account }
  }

  return (view: ErrorView): string => {
    const { status, message, requestId } = view
    const said = happened(view)
    const isFailed = said !== undefined && status !== 401
    const { button, below } = waysOf(view, isFailed)
    return layout.panel({
      title: isFailed ? t('error.failed.title') : t(`error.${knownStatus(status)}.title`),
      sign: signOf(view),
      over: t('error.status', { status }),
      below,
      requestId,
      body: html`<p>${said ?? adviceOf(view)}</p>
${button}
${said === undefined && FOR_OPERATORS.has(status) && operatorDetails(html`<p>${message}</p>`)}`,
    })
  }
}

/**
 * Creates the page in place of a form of the application that was sent after its user was logged out. The login page
 * opens beside it, since the browser still holds the form, and sends it again when this page is loaded again.
 */
export const createNotSentPage =
  (layout: Layout) =>
  ({ returnTo, requestId }: NotSentView): string =>
    layout.panel({
      title: t('error.not_sent.title'),
      sign: 'info',
      over: t('error.status', { status: 401 }),
      requestId,
      body: html`<p>${t('error.not_sent.about')}</p>
<a class="svc-button first" href="${entryHref('/auth/login', returnTo)}" target="_blank" rel="noopener">${t('error.not_sent.button')}</a>`,
    })

/** Creates the page in place of an own form of the service that was sent after its user was logged out. */
export const createWasLoggedOutPage =
  (layout: Layout) =>
  ({ returnTo, requestId }: NotSentView): string =>
    layout.panel({
      title: t('error.logged_out'),
      sign: 'info',
      requestId,
      body: html`<p>${t('error.logged_out_about')}</p>
<a class="svc-button first" href="${entryHref('/auth/login', returnTo)}">${t('error.log_in')}</a>`,
    })
