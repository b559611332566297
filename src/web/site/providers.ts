import type { ProviderView } from '../../http/services.ts'
import { readEmail } from '../../lib/email-address.ts'
import { type HtmlFragment, html } from '../../lib/html.ts'
import { t } from '../../languages/texts.ts'
import { initialOf } from './assets.ts'
import type { FormView } from '../../http/form-view.ts'
import { withReturnTo } from '../../http/return-to.ts'
import { csrfInput, lastUsedMark, returnToInput } from './form.ts'

/** This is the purpose of a visit to a provider, if it is not a sign-in. */
export type ProviderIntent = 'link' | 'confirm'

export interface LinkedView {
  id: string
  label: string
  iconUrl?: string | undefined
  email: string | undefined
  linkedAtMs: number
  /** This tells whether it may be disconnected: it is not the last way to sign in. */
  removable: boolean
}

/** Screen readers tell the buttons of several providers apart by it. */
export const disconnectLabel = ({ label: provider, email }: LinkedView): string =>
  email
    ? t('account.provider.disconnect_label_email', { provider, email })
    : t('account.provider.disconnect_label', { provider })

/** A user has followed this link: a provider is connected to its account. */
export interface EntryLink {
  purpose: 'reset' | 'undo' | 'invite'
  token: string
}

/** Finds the action of a provider's form: the start of the sign-in, or a step after it. */
export const providerPath = (name: string, step?: 'link' | 'claim'): string => {
  const path = `/auth/oauth/${encodeURIComponent(name.toWellFormed())}`
  return step ? `${path}/${step}` : path
}

/** This input says the purpose of the button, if it is not a sign-in. */
export const intentInput = (intent: ProviderIntent | undefined): HtmlFragment | undefined =>
  intent && html`<input type="hidden" name="intent" value="${intent}">`

/** This input says how strong the confirmation must be. */
export const acrInput = (acr: string | undefined): HtmlFragment | undefined =>
  acr === undefined ? undefined : html`<input type="hidden" name="acr" value="${acr}">`

/** The user has followed this link: the provider is connected to its account. */
export const entryInputs = ({ purpose, token }: EntryLink): HtmlFragment =>
  html`<input type="hidden" name="intent" value="${purpose}"><input type="hidden" name="token" value="${token}">`

/** The service has sealed the pending account link from a provider. */
export const pendingInput = (pending: string): HtmlFragment =>
  html`<input type="hidden" name="pending" value="${pending}">`

/** Shows a provider's icon, or a tile with its initial, so that all names are aligned. */
export const providerIcon = (label: string, iconUrl: string | undefined): HtmlFragment =>
  iconUrl
    ? html`<img src="${iconUrl}" alt="" width="20" height="20">`
    : html`<span class="tile" aria-hidden="true">${initialOf(label)}</span>`

/** From this number on, the buttons stand in pairs, with the name of the provider alone. */
const PAIRS_FROM = 4

/** Makes the buttons of providers. `button` makes one from its attributes and its content. */
const buttonsOf = (
  { providers, words, lastWay }: Pick<Buttons, 'providers' | 'words' | 'lastWay'>,
  button: (provider: ProviderView, attributes: HtmlFragment | undefined, content: HtmlFragment) => HtmlFragment,
): HtmlFragment => {
  const inPairs = providers.length >= PAIRS_FROM
  return html`<div class="providers${inPairs && ' pairs'}">
${providers.map((provider) => {
  const { label, iconUrl } = provider
  const isLast = provider.name === lastWay
  const name =
    inPairs && html` aria-label="${words(label)}"${isLast && html` aria-description="${t('login.last_used')}"`}`
  const content = html`${providerIcon(label, iconUrl)}${inPairs ? label : words(label)}${isLast && html` ${lastUsedMark()}`}`
  return button(provider, name || undefined, content)
})}</div>`
}

interface Buttons {
  csrfToken: string
  providers: readonly ProviderView[]
  /** These are fields of each form. */
  hiddenInputs?: HtmlFragment | undefined
  words: (label: string) => string
  /** The button of the provider with this name is marked. */
  lastWay?: string | undefined
}

/**
 * Makes a form with a button for each provider, since each has a different action. It is empty if there are no
 * providers.
 */
export const providerButtons = ({
  csrfToken,
  providers,
  hiddenInputs,
  words,
  lastWay,
}: Buttons): HtmlFragment | undefined => {
  if (providers.length === 0) return undefined
  const inputs = html`${csrfInput(csrfToken)}${hiddenInputs}`
  return buttonsOf(
    { providers, words, lastWay },
    ({ name }, attributes, content) => html`<form method="post" action="${providerPath(name)}">${inputs}
<button class="svc-button second"${attributes}>${content}</button>
</form>
`,
  )
}

/** This is the text of the button of a provider. */
export const continueWith = (provider: string): string => t('login.continue_with', { provider })

/** Makes the buttons within one form, each with the action of its provider. */
export const providerSubmits = (providers: readonly ProviderView[]): HtmlFragment | undefined =>
  providers.length === 0
    ? undefined
    : buttonsOf(
        { providers, words: continueWith },
        (
          { name },
          attributes,
          content,
        ) => html`<button class="svc-button second" formaction="${providerPath(name)}"${attributes}>${content}</button>
`,
      )

/** Makes the same for the page of a link: the provider that is chosen is connected to the account of the link. */
export const entryButtons = (
  { csrfToken, providers = [] }: { csrfToken: string; providers: readonly ProviderView[] | undefined },
  entry: EntryLink,
): HtmlFragment | undefined =>
  providerButtons({ csrfToken, providers, hiddenInputs: entryInputs(entry), words: continueWith })

/** The line separates a form and the buttons that can be used in its place. */
export const orLine = (): HtmlFragment => html`<div class="or"><span>${t('common.or')}</span></div>
`

export interface EntryView extends FormView {
  /** The form and the links between login and signup keep `return_to`. */
  returnTo: string | undefined
  /** This is the text that was typed. */
  email: string
  providers: readonly ProviderView[]
  /** This browser signed in last by this way: `password`, `passkey` or a provider. It is undefined if it is the only way. */
  lastWay?: string | undefined
}

/**
 * Links the pages of login, signup and forgotten passwords. The link keeps `return_to`, and the email if it is one: any
 * other text that was typed stays out of addresses, which proxies log and browsers remember.
 */
export const entryHref = (
  path: '/auth/login' | '/auth/login/email' | '/auth/signup' | '/auth/password/forgot',
  returnTo: string | undefined,
  email = '',
): string => {
  const address = readEmail(email)
  // A query may contain @ (RFC 3986 section 3.4), and is easier to read with it.
  const carried = address ? `${path}?email=${encodeURIComponent(address.shown).replace('%40', '@')}` : path
  return withReturnTo(carried, returnTo)
}

/** These links stand below a page of a user who is signed in, other than the account page. */
export const accountLinks = (): HtmlFragment =>
  html`<a href="/auth/account">${t('common.back_to_account')}</a> · <a href="/auth/logout">${t('logout.button')}</a>`

/** The form is older than a login in another tab: the login page leads a signed-in user on. */
export const wayOn = ({ problem, returnTo }: Pick<EntryView, 'problem' | 'returnTo'>): HtmlFragment | undefined =>
  problem?.kind === 'outdated'
    ? html`<p class="about">${t('form.logged_in_elsewhere')} <a href="${entryHref('/auth/login', returnTo)}">${t('common.continue')}</a></p>`
    : undefined

/**
 * Makes the buttons of the external providers, below or above the form if there is one. They are empty if there are no
 * providers. `agreement` stands right above them.
 */
export const providerForms = (
  { csrfToken, providers, returnTo, lastWay }: Pick<EntryView, 'providers' | 'csrfToken' | 'returnTo' | 'lastWay'>,
  place: 'below' | 'above' | 'alone' = 'below',
  agreement?: HtmlFragment,
): HtmlFragment | undefined => {
  const hiddenInputs = returnToInput(returnTo)
  const buttons = providerButtons({ csrfToken, providers, hiddenInputs, words: continueWith, lastWay })
  return buttons && html`${place === 'below' && orLine()}${agreement}${buttons}${place === 'above' && orLine()}`
}
