import { type HtmlFragment, html } from '../../lib/html.ts'
import { csrfInput, field } from '../site/form.ts'
import { icon } from '../site/icon.ts'
import type { Layout } from '../site/layout.ts'
import { type PasskeyView, passkeyButton, passkeyIcon } from '../site/passkey-button.ts'
import { passkeyTexts } from '../site/passkey-texts.ts'
import { anyOfText } from '../../languages/formats.ts'
import { intentInput, type LinkedView, providerButtons, providerIcon } from '../site/providers.ts'
import { texts } from '../site/texts.ts'
import { agoOf, dayOf } from '../site/time-text.ts'
import type { AccountView, Focus, PasskeysView } from './account-view.ts'
import { passwordRow } from './password-row.ts'
import { confirmFirst, type AccountRow, type Section } from './rows.ts'

const PASSKEYS = '/auth/account/passkeys'

/** The ID of the field contains the ID of the passkey, since there is one such field for each passkey. */
const nameForm = ({ id, name }: PasskeyView, { csrfToken, refusedPasskeyName }: AccountView): HtmlFragment => {
  const refused = refusedPasskeyName?.id === id ? refusedPasskeyName : undefined
  return html`<form method="post" action="${PASSKEYS}" novalidate>
${csrfInput(csrfToken)}<input type="hidden" name="passkey_id" value="${id}">
${field({
  id: `name-${id}`,
  name: 'name',
  label: passkeyTexts.name,
  type: 'text',
  autocomplete: 'off',
  value: refused?.name ?? name,
  problem: refused?.problem,
  focused: Boolean(refused?.problem),
})}
<button class="second">${passkeyTexts.saveName}</button>
</form>`
}

const removeForm = ({ id, name }: PasskeyView, csrfToken: string): HtmlFragment =>
  html`<form method="post" action="${PASSKEYS}">
${csrfInput(csrfToken)}<input type="hidden" name="passkey_id" value="${id}">
<button class="second danger" name="remove" value="1" aria-label="${passkeyTexts.removeOf(name)}">${passkeyTexts.remove}</button>
</form>`

const passkeyForms = (passkey: PasskeyView, view: AccountView): HtmlFragment =>
  html`<p class="about">${signingInTexts.added(dayOf(passkey.addedAtMs))}</p>
${nameForm(passkey, view)}
${passkey.removable ? removeForm(passkey, view.csrfToken) : html`<p class="about">${texts.onlyWayIn}</p>`}`

const passkeyRow = (passkey: PasskeyView, view: AccountView, isRecentlyAuthenticated: boolean): AccountRow => {
  const { id, name, lastUsedAtMs, isSynced } = passkey
  const used =
    lastUsedAtMs === undefined ? signingInTexts.neverUsed : signingInTexts.lastUsed(agoOf(lastUsedAtMs, view.nowMs))
  return {
    icon: passkeyIcon,
    title: name,
    badge: { text: passkeyTexts.passkey, isPlain: true },
    state: html`${used} · ${isSynced ? passkeyTexts.synced : passkeyTexts.bound}`,
    action: isRecentlyAuthenticated
      ? {
          kind: 'opens',
          label: signingInTexts.edit,
          body: passkeyForms(passkey, view),
          isOpen: view.refusedPasskeyName?.id === id,
        }
      : confirmFirst('ways-in', signingInTexts.edit),
  }
}

const disconnectForm = ({ id, label, email }: LinkedView, csrfToken: string): HtmlFragment =>
  html`<form method="post" action="/auth/account/identities">
${csrfInput(csrfToken)}<button class="second small" name="identity_id" value="${id}" aria-label="${texts.disconnectOf(label, email)}">${texts.disconnect}</button>
</form>`

const linkedRow = (linked: LinkedView, csrfToken: string, isRecentlyAuthenticated: boolean): AccountRow => {
  const { label, iconUrl, email, linkedAtMs, removable } = linked
  const since = signingInTexts.connected(dayOf(linkedAtMs))
  const form = disconnectForm(linked, csrfToken)
  const action: AccountRow['action'] = isRecentlyAuthenticated
    ? { kind: 'sends', form }
    : confirmFirst('ways-in', texts.disconnect)
  return {
    icon: providerIcon(label, iconUrl),
    title: label,
    state: html`${email && html`${email} · `}${since}${
      !removable &&
      html`<br>
${texts.onlyWayIn}`
    }`,
    action: removable ? action : undefined,
  }
}

const explanation = (isOpen: boolean): HtmlFragment =>
  html`<details${isOpen && html` open`}>
<summary class="quiet">${passkeyTexts.whatOpen}</summary>
<p class="about">${passkeyTexts.what.join(' ')}</p>
</details>
`

const passkeyPart = (csrfToken: string, { list }: PasskeysView): HtmlFragment =>
  html`${explanation(list.length === 0)}${passkeyButton({ kind: 'add', csrfToken })}
`

/** This row adds a passkey, or connects a provider. */
const addRow = ({ csrfToken, passkeys, signIn, at }: AccountView): AccountRow | undefined => {
  const providers = signIn?.linkable ?? []
  if (!passkeys && providers.length === 0) return undefined
  const labels = providers.map(({ label }) => label)
  const id = passkeys ? 'passkeys' : 'connect'
  const hiddenInputs = intentInput('link')
  const isRecentlyAuthenticated = (passkeys ?? signIn)?.isRecentlyAuthenticated === true
  return {
    id,
    icon: icon('plus'),
    title: signingInTexts.addTitle,
    state: signingInTexts.addAbout(passkeys !== undefined, labels),
    action: isRecentlyAuthenticated
      ? {
          kind: 'opens',
          label: signingInTexts.add,
          isOpen: at === id,
          body: html`${passkeys && passkeyPart(csrfToken, passkeys)}${providerButtons({ csrfToken, providers, hiddenInputs, words: texts.connect })}`,
        }
      : confirmFirst(id, signingInTexts.add),
  }
}

/** The section has a row for each way in, and one to add another. */
export const signingInSection = (view: AccountView, focus: Focus, layout: Layout): Section => {
  const { csrfToken, passkeys, signIn } = view
  const accepted = passkeys?.accepted
  const passkeyRows = (passkeys?.list ?? []).map((one) =>
    passkeyRow(one, view, passkeys?.isRecentlyAuthenticated === true),
  )
  const rows = [
    passwordRow(view, focus, layout),
    ...(signIn?.linked ?? []).map((one) => linkedRow(one, csrfToken, signIn?.isRecentlyAuthenticated === true)),
    ...passkeyRows,
    addRow(view),
  ]
  return {
    id: 'signing-in',
    title: signingInTexts.title,
    formerId: 'ways-in',
    rows: rows.filter((row) => row !== undefined),
    data: accepted && html` data-passkeys="${JSON.stringify(accepted)}"`,
  }
}

const signingInTexts = {
  title: 'Signing in',
  edit: 'Edit',
  added: (day: HtmlFragment): HtmlFragment => html`Added ${day}`,
  lastUsed: (ago: HtmlFragment): HtmlFragment => html`Last used ${ago}`,
  neverUsed: 'Not used yet',
  connected: (day: HtmlFragment): HtmlFragment => html`Connected ${day}`,
  add: 'Add',
  addTitle: 'Add a way to log in',
  addAbout(passkeys: boolean, labels: readonly string[]): string {
    if (labels.length === 0) return 'A passkey: your fingerprint, your face or a PIN'
    return passkeys ? `A passkey, ${anyOfText(labels)}` : anyOfText(labels)
  },
} as const
