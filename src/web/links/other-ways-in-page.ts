import { t } from '../../languages/texts.ts'
import { type HtmlFragment, html } from '../../lib/html.ts'
import { withReturnTo } from '../../http/return-to.ts'
import { bold } from '../site/bold.ts'
import { csrfInput, returnToInput } from '../site/form.ts'
import type { Layout } from '../site/layout.ts'
import { type PasskeyView, passkeyIcon } from '../site/passkey-button.ts'
import { type LinkedView, accountLinks, disconnectLabel, providerIcon } from '../site/providers.ts'
import { dayOf } from '../site/time-text.ts'

/** These are the other ways into an account whose password was just reset. */
export interface OtherWaysInView {
  csrfToken: string
  /** The user goes on to this address. */
  returnTo: string
  linked: readonly LinkedView[]
  passkeys: readonly Pick<PasskeyView, 'id' | 'name' | 'addedAtMs' | 'removable'>[]
}

const row = (linked: LinkedView): HtmlFragment => {
  const { id, label, iconUrl, email, linkedAtMs } = linked
  return html`<li>${providerIcon(label, iconUrl)}
<div>
<p>${bold(label)}</p>
<p class="about">${
    email &&
    html`${email}<br>
`
  }${t.html('account.provider.connected', { date: dayOf(linkedAtMs) })}</p>
</div>
<button class="svc-button second small" name="identity_id" value="${id}" aria-label="${disconnectLabel(linked)}">${t('account.provider.disconnect')}</button>
</li>
`
}

type ShownPasskey = OtherWaysInView['passkeys'][number]

const passkeyRow = ({ id, name, addedAtMs, removable }: ShownPasskey, hiddenInputs: HtmlFragment): HtmlFragment =>
  html`<li>${passkeyIcon}
<div>
<p>${bold(name)}</p>
<p class="about">${t('passkeys.passkey')}<br>
${t.html('passkeys.added', { date: dayOf(addedAtMs) })}${
  !removable &&
  html`<br>
${t('account.login.only_way')}`
}</p>
</div>
${
  removable &&
  html`<form method="post" action="/auth/account/passkeys">
${hiddenInputs}<input type="hidden" name="passkey_id" value="${id}">
<button class="svc-button second small" name="remove" value="1" aria-label="${t('passkeys.remove_label', { name })}">${t('passkeys.remove')}</button>
</form>
`
}</li>
`

/**
 * Creates the page after a reset. It shows the other ways into the account, with a button to remove each: a person who
 * had the old password may have connected one.
 */
export const createOtherWaysInPage = (layout: Layout) => {
  const about = layout.passwords ? 'other_ways.about' : 'other_ways.about_passwordless'
  return ({ csrfToken, returnTo, linked, passkeys }: OtherWaysInView): string => {
    const own = withReturnTo('/auth/account/ways-in', returnTo)
    const hiddenInputs = html`${csrfInput(csrfToken)}${returnToInput(own)}`
    return layout.panel({
      title: t('other_ways.title'),
      below: accountLinks(),
      body: html`<p>${t(about)}</p>
${
  linked.length > 0 &&
  html`<form method="post" action="/auth/account/identities">
${hiddenInputs}
<ul class="entries">
${linked.map(row)}</ul>
</form>
`
}${
  passkeys.length > 0 &&
  html`<ul class="entries">
${passkeys.map((passkey) => passkeyRow(passkey, hiddenInputs))}</ul>
`
}<a class="svc-button first" href="${returnTo}">${t('other_ways.continue')}</a>`,
    })
  }
}
