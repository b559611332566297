import { t, type TextKey } from '../../languages/texts.ts'
import { type HtmlFragment, html } from '../../lib/html.ts'
import { lastUsedMark } from './form.ts'

export interface PasskeyView {
  id: string
  name: string
  addedAtMs: number
  lastUsedAtMs: number | undefined
  /** This tells whether it can be on several devices of the user, and not on one alone. */
  isSynced: boolean
  /** This tells whether it may be removed: it is not the last way to sign in. */
  removable: boolean
}

/** `passkeys.js` does what a button for passkeys stands for. */
interface PasskeyButton {
  /**
   * `log-in` and `confirm`: signs in, and goes on. `fill`: puts the response of a passkey into the form around it, and
   * sends the form. `add`: makes a passkey, and goes on where the service says.
   */
  kind: 'log-in' | 'confirm' | 'fill' | 'add'
  csrfToken: string
  /** This route signs in. */
  url?: string
  /** The routes of passkeys are below this path, if it is not that of the users. */
  base?: string
  /** This is the text of the button, if it is not the usual one. */
  label?: string
  isMain?: boolean
  isLastUsed?: boolean
  /** This tells whether there are other ways: then the page says nothing about passkeys in a browser that has none. */
  hasOthers?: boolean | undefined
  /** The user has followed this link: the passkey is added to its account. */
  link?: { purpose: 'reset' | 'undo' | 'invite'; token: string } | undefined
  /** This is shown with the button, above it. */
  before?: HtmlFragment | false | undefined
}

const LABELS: Record<PasskeyButton['kind'], TextKey> = {
  'log-in': 'passkeys.log_in',
  confirm: 'passkeys.confirm',
  fill: 'passkeys.use',
  add: 'passkeys.add',
}

/** `fill` puts the response into this field, as JSON. */
const responseInput = html`<input type="hidden" name="passkey_response">`

/**
 * Makes a button that uses or creates a passkey, with the place where the script says what happens. The script reveals
 * it; if scripts are off, there is a sentence in its place, which says what to do where nothing else is on the page.
 */
export const passkeyButton = ({ kind, csrfToken, url, base, link, ...it }: PasskeyButton): HtmlFragment =>
  html`<div class="passkey" data-passkey="${kind}" data-csrf="${csrfToken}"${url !== undefined && html` data-url="${url}"`}${base !== undefined && html` data-base="${base}"`}${link && html` data-link="${JSON.stringify(link)}"`}${!it.hasOthers && html` data-needed`} hidden>
${it.before}<button class="svc-button ${it.isMain ? 'first' : 'second'}" type="button">${passkeyIcon}${it.label ?? t(LABELS[kind])}${it.isLastUsed && html` ${lastUsedMark()}`}</button>
${kind === 'fill' && responseInput}<p class="hint" role="status"></p>
</div>
<noscript>${it.isMain && !it.hasOthers ? html`<p class="box note">${t('passkeys.need_scripts_alone')}</p>` : html`<p class="hint">${t('passkeys.need_scripts')}</p>`}</noscript>`

/**
 * The icon shows a user and a key, which stand for passkeys. It has the colour of the text around it, in forced colours
 * too.
 */
export const passkeyIcon = html`<svg width="20" height="20" fill="currentColor" fill-rule="evenodd" aria-hidden="true"><path transform="scale(.833)" d="M9.5 2.5a4.6 4.6 0 1 1 0 9.2 4.6 4.6 0 0 1 0-9.2zM1 20.5c0-4 3.4-6.8 8.5-6.8 1.8 0 3.4.4 4.7 1a5 5 0 0 0 1.5 3.2v2.6zM19 8.8a4 4 0 0 1 1.5 7.7v1l1.2 1.3-1.2 1.3 1.2 1.3-2.3 2.3-1.9-2v-5.2A4 4 0 0 1 19 8.8zm0 2a1.3 1.3 0 1 0 0 2.6 1.3 1.3 0 0 0 0-2.6z"></path></svg>`
