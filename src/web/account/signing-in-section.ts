import { anyOfText } from '../../languages/formats.ts'
import { t } from '../../languages/texts.ts'
import { type HtmlFragment, html } from '../../lib/html.ts'
import { csrfInput, field } from '../site/form.ts'
import { icon } from '../site/icon.ts'
import type { Layout } from '../site/layout.ts'
import { type PasskeyView, passkeyButton, passkeyIcon } from '../site/passkey-button.ts'
import { disconnectLabel, intentInput, type LinkedView, providerButtons, providerIcon } from '../site/providers.ts'
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
  label: t('passkeys.name'),
  type: 'text',
  autocomplete: 'off',
  value: refused?.name ?? name,
  problem: refused?.problem,
  focused: Boolean(refused?.problem),
})}
<button class="svc-button second">${t('common.save')}</button>
</form>`
}

const removeForm = ({ id, name }: PasskeyView, csrfToken: string): HtmlFragment =>
  html`<form method="post" action="${PASSKEYS}">
${csrfInput(csrfToken)}<input type="hidden" name="passkey_id" value="${id}">
<button class="svc-button second danger" name="remove" value="1" aria-label="${t('passkeys.remove_label', { name })}">${t('passkeys.remove')}</button>
</form>`

const passkeyForms = (passkey: PasskeyView, view: AccountView): HtmlFragment =>
  html`<p class="about">${t.html('passkeys.added', { date: dayOf(passkey.addedAtMs) })}</p>
${nameForm(passkey, view)}
${passkey.removable && removeForm(passkey, view.csrfToken)}`

/** The last way in cannot be removed, and its state says so. */
const withOnlyWay = (state: HtmlFragment, removable: boolean): HtmlFragment =>
  removable ? state : html`${state} · ${t('account.login.only_way')}`

const passkeyState = ({ lastUsedAtMs, isSynced, removable }: PasskeyView, nowMs: number): HtmlFragment => {
  const used =
    lastUsedAtMs === undefined
      ? t('passkeys.never_used')
      : t.html('passkeys.last_used', { when: agoOf(lastUsedAtMs, nowMs) })
  return withOnlyWay(html`${used} · ${t(isSynced ? 'passkeys.synced' : 'passkeys.bound')}`, removable)
}

const passkeyRow = (passkey: PasskeyView, view: AccountView, isRecentlyAuthenticated: boolean): AccountRow => {
  const { id, name } = passkey
  return {
    icon: passkeyIcon,
    title: name,
    badge: { text: t('passkeys.passkey'), isPlain: true },
    state: passkeyState(passkey, view.nowMs),
    action: isRecentlyAuthenticated
      ? {
          kind: 'opens',
          label: t('account.row.edit'),
          body: passkeyForms(passkey, view),
          isOpen: view.refusedPasskeyName?.id === id,
        }
      : confirmFirst('ways-in', t('account.row.edit'), t('account.passkeys.edit_label', { name })),
  }
}

const disconnectForm = (linked: LinkedView, csrfToken: string): HtmlFragment =>
  html`<form method="post" action="/auth/account/identities">
${csrfInput(csrfToken)}<button class="svc-button second small" name="identity_id" value="${linked.id}" aria-label="${disconnectLabel(linked)}">${t('account.provider.disconnect')}</button>
</form>`

const linkedRow = (linked: LinkedView, csrfToken: string, isRecentlyAuthenticated: boolean): AccountRow => {
  const { label, iconUrl, email, linkedAtMs, removable } = linked
  const since = t.html('account.provider.connected', { date: dayOf(linkedAtMs) })
  const form = disconnectForm(linked, csrfToken)
  const action: AccountRow['action'] = isRecentlyAuthenticated
    ? { kind: 'sends', form }
    : confirmFirst('ways-in', t('account.provider.disconnect'), disconnectLabel(linked))
  return {
    icon: providerIcon(label, iconUrl),
    title: label,
    state: withOnlyWay(html`${email && html`${email} · `}${since}`, removable),
    action: removable ? action : undefined,
  }
}

const explanation = (isOpen: boolean): HtmlFragment =>
  html`<details${isOpen && html` open`}>
<summary class="quiet">${t('passkeys.what')}</summary>
<p class="about">${t('passkeys.explanation')}</p>
</details>
`

const passkeyPart = (csrfToken: string, { list }: PasskeysView): HtmlFragment =>
  html`${explanation(list.length === 0)}${passkeyButton({ kind: 'add', csrfToken })}
`

const addTitle = (hasPasskeys: boolean, labels: readonly string[]): string => {
  if (labels.length === 0) return t('passkeys.add')
  return t(hasPasskeys ? 'account.login.add' : 'account.login.connect', { providers: anyOfText(labels) })
}

/** This row adds a passkey, or connects a provider. */
const addRow = ({ csrfToken, passkeys, signIn, at }: AccountView): AccountRow | undefined => {
  const providers = signIn?.linkable ?? []
  if (!passkeys && providers.length === 0) return undefined
  const hasPasskeys = passkeys !== undefined
  const labels = providers.map((one) => one.label)
  const title = addTitle(hasPasskeys, labels)
  const label = t(hasPasskeys ? 'account.row.add' : 'account.row.connect')
  const id = hasPasskeys ? 'passkeys' : 'connect'
  const hiddenInputs = intentInput('link')
  const isRecentlyAuthenticated = (passkeys ?? signIn)?.isRecentlyAuthenticated === true
  return {
    id,
    icon: icon('plus'),
    title,
    state: hasPasskeys ? t('passkeys.about') : undefined,
    action: isRecentlyAuthenticated
      ? {
          kind: 'opens',
          label,
          isOpen: at === id,
          body: html`${passkeys && passkeyPart(csrfToken, passkeys)}${providerButtons({ csrfToken, providers, hiddenInputs, words: (provider) => t('account.provider.connect', { provider }) })}`,
        }
      : confirmFirst(id, label, title),
  }
}

/** A user can always sign in by mail: there is nothing to change. */
const mailRow = ({ user }: AccountView): AccountRow => ({
  icon: icon('mail'),
  title: t('account.email_sign_in.title'),
  state: html`${t.html('account.email_sign_in.about', { email: user.email })}`,
})

/** The section has a row for each way in, and one to add another. */
export const signingInSection = (view: AccountView, focus: Focus, layout: Layout): Section => {
  const { csrfToken, passkeys, signIn } = view
  const accepted = passkeys?.accepted
  const passkeyRows = (passkeys?.list ?? []).map((one) =>
    passkeyRow(one, view, passkeys?.isRecentlyAuthenticated === true),
  )
  const rows = [
    passwordRow(view, focus, layout),
    layout.emailSignIn ? mailRow(view) : undefined,
    ...(signIn?.linked ?? []).map((one) => linkedRow(one, csrfToken, signIn?.isRecentlyAuthenticated === true)),
    ...passkeyRows,
    addRow(view),
  ]
  return {
    id: 'signing-in',
    title: t('account.login.title'),
    formerId: 'ways-in',
    rows: rows.filter((row) => row !== undefined),
    data: accepted && html` data-passkeys="${JSON.stringify(accepted)}"`,
  }
}
