import { type HtmlFragment, html } from '../lib/html.ts'
import { passkeyIcon } from './passkey-icon.ts'
import { passkeyTexts as texts } from './passkey-texts.ts'

/** What a button for passkeys does; `passkeys.js` does it. */
interface PasskeyButton {
  /**
   * `log-in` and `confirm`: signs in, and goes on. `fill`: puts the response of a passkey into the form around it, and
   * sends the form. `add`: makes a passkey, and goes on where the service says.
   */
  kind: 'log-in' | 'confirm' | 'fill' | 'add'
  csrfToken: string
  /** The route that signs in. */
  url?: string
  /** The text of the button, if it is not the usual one. */
  label?: string
  isMain?: boolean
  /** Whether there are other ways: then the page says nothing about passkeys in a browser that has none. */
  hasOthers?: boolean | undefined
  /** The link that the user has followed: the passkey is added to its account. */
  link?: { purpose: 'reset' | 'undo' | 'invite'; token: string } | undefined
  /** Shown with the button, above it. */
  before?: HtmlFragment | false | undefined
}

const LABELS = { 'log-in': texts.logIn, confirm: texts.confirm, fill: texts.use, add: texts.add }

/** The field in which `fill` puts the response, as JSON. */
const responseInput = html`<input type="hidden" name="passkey_response">`

/**
 * A button that uses or makes a passkey, with the place where the script says what happens. The script reveals it; where
 * scripts are off, there is a sentence in its place.
 */
export const passkeyButton = ({ kind, csrfToken, url, link, ...it }: PasskeyButton): HtmlFragment =>
  html`<div class="passkey" data-passkey="${kind}" data-csrf="${csrfToken}"${url !== undefined && html` data-url="${url}"`}${link && html` data-link="${JSON.stringify(link)}"`}${!it.hasOthers && html` data-needed`} hidden>
${it.before}<button class="${it.isMain ? 'first' : 'second'}" type="button">${passkeyIcon}${it.label ?? LABELS[kind]}</button>
${kind === 'fill' && responseInput}<p class="hint" role="status"></p>
</div>
<noscript><p class="hint">${texts.withoutScripts[kind]}</p></noscript>`
