import { type HtmlFragment, html } from '../lib/html.ts'
import { initialOf } from './assets.ts'
import { csrfInput } from './form.ts'
import { texts } from './texts.ts'
import type { ProviderIntent, ProviderView } from './views.ts'

/** Where a form about a provider goes: to the provider itself, or to a step on the way back. */
export const providerPath = (name: string, step?: 'link' | 'claim'): string => {
  const path = `/auth/oauth/${encodeURIComponent(name.toWellFormed())}`
  return step ? `${path}/${step}` : path
}

/** What the button is for, where that is not a session. */
export const intentInput = (intent: ProviderIntent | undefined): HtmlFragment | undefined =>
  intent && html`<input type="hidden" name="intent" value="${intent}">`

/** What a person brings back from a provider, sealed by the service. */
export const pendingInput = (pending: string): HtmlFragment =>
  html`<input type="hidden" name="pending" value="${pending}">`

/** A provider's icon, or a tile with its initial, so that names stand below one another. */
export const providerIcon = (label: string, iconUrl: string | undefined): HtmlFragment =>
  iconUrl
    ? html`<img src="${iconUrl}" alt="" width="20" height="20">`
    : html`<span class="tile" aria-hidden="true">${initialOf(label)}</span>`

interface Buttons {
  csrfToken: string
  providers: readonly ProviderView[]
  /** Goes with each of them. */
  hiddenInputs?: HtmlFragment | undefined
  words: (label: string) => string
}

/** A button for each provider, a form each: they go to different places. Nothing where there are none. */
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

/** Between a form and the buttons that do as well. */
export const orLine = (): HtmlFragment => html`<div class="or"><span>${texts.or}</span></div>
`
