import { type HtmlFragment, html } from '../lib/html.ts'
import { csrfInput, returnToInput } from './form.ts'
import { texts } from './texts.ts'
import type { LoginView, ProviderView } from './views.ts'

/** A link between login and signup that forgets nothing about where to go afterwards. */
export const entryHref = (path: '/auth/login' | '/auth/signup', returnTo: string | undefined): string =>
  returnTo === undefined ? path : `${path}?return_to=${encodeURIComponent(returnTo.toWellFormed())}`

const providerForm = ({ name, label, iconUrl }: ProviderView, hiddenInputs: HtmlFragment): HtmlFragment =>
  html`<form method="post" action="/auth/oauth/${encodeURIComponent(name.toWellFormed())}">${hiddenInputs}
<button class="second">${iconUrl && html`<img src="${iconUrl}" alt="" width="20" height="20">`}${texts.continueWith(label)}</button>
</form>
`

/** Ways in by somebody else's account, below the form; nothing where there are none. */
export const providerForms = (view: Pick<LoginView, 'providers' | 'csrfToken' | 'returnTo'>) => {
  if (view.providers.length === 0) return undefined
  const hiddenInputs = html`${csrfInput(view.csrfToken)}${returnToInput(view.returnTo)}`
  return html`<div class="or"><span>${texts.or}</span></div>
<div class="providers">
${view.providers.map((provider) => providerForm(provider, hiddenInputs))}</div>`
}
