import { type HtmlFragment, html } from '../lib/html.ts'
import { initialOf } from './assets.ts'
import { csrfInput } from './form.ts'
import { texts } from './texts.ts'
import type { ProviderIntent, ProviderProblemView, ProviderView } from './views.ts'

/** The action of a provider's form: the start of the sign-in, or a step after it. */
export const providerPath = (name: string, step?: 'link' | 'claim'): string => {
  const path = `/auth/oauth/${encodeURIComponent(name.toWellFormed())}`
  return step ? `${path}/${step}` : path
}

/** The purpose of the button, if it is not a sign-in. */
export const intentInput = (intent: ProviderIntent | undefined): HtmlFragment | undefined =>
  intent && html`<input type="hidden" name="intent" value="${intent}">`

/** How strong the confirmation must be. */
export const acrInput = (acr: string | undefined): HtmlFragment | undefined =>
  acr === undefined ? undefined : html`<input type="hidden" name="acr" value="${acr}">`

/** The link that the user has followed: the provider is connected to its account. */
export const entryInputs = ({ purpose, token }: NonNullable<ProviderProblemView['entry']>): HtmlFragment =>
  html`<input type="hidden" name="intent" value="${purpose}"><input type="hidden" name="token" value="${token}">`

/** The pending account link from a provider, sealed by the service. */
export const pendingInput = (pending: string): HtmlFragment =>
  html`<input type="hidden" name="pending" value="${pending}">`

/** A provider's icon, or a tile with its initial, so that all names are aligned. */
export const providerIcon = (label: string, iconUrl: string | undefined): HtmlFragment =>
  iconUrl
    ? html`<img src="${iconUrl}" alt="" width="20" height="20">`
    : html`<span class="tile" aria-hidden="true">${initialOf(label)}</span>`

interface Buttons {
  csrfToken: string
  providers: readonly ProviderView[]
  /** Fields of each form. */
  hiddenInputs?: HtmlFragment | undefined
  words: (label: string) => string
}

/** A form with a button for each provider, since each has a different action. Empty without providers. */
export const providerButtons = ({ csrfToken, providers, hiddenInputs, words }: Buttons): HtmlFragment | undefined => {
  if (providers.length === 0) return undefined
  const inputs = html`${csrfInput(csrfToken)}${hiddenInputs}`
  const forms = providers.map(
    ({ name, label, iconUrl }) => html`<form method="post" action="${providerPath(name)}">${inputs}
<button class="second">${providerIcon(label, iconUrl)}${words(label)}</button>
</form>
`,
  )
  return html`<div class="providers">
${forms}</div>`
}

/** The same on the page of a link: the provider that is chosen is connected to the account of the link. */
export const entryButtons = (
  { csrfToken, providers = [] }: { csrfToken: string; providers: readonly ProviderView[] | undefined },
  entry: NonNullable<ProviderProblemView['entry']>,
): HtmlFragment | undefined =>
  providerButtons({ csrfToken, providers, hiddenInputs: entryInputs(entry), words: texts.continueWith })

/** The separator between a form and the buttons that can be used in its place. */
export const orLine = (): HtmlFragment => html`<div class="or"><span>${texts.or}</span></div>
`
