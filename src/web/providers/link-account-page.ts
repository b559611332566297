import { type HtmlFragment, html } from '../../lib/html.ts'
import type { FieldProblem, FormView } from '../../http/form-view.ts'
import { csrfInput, field, ownerInput } from '../site/form.ts'
import type { Layout } from '../site/layout.ts'
import { loginLimited, passwordButtonClass } from '../site/login-limited.ts'
import { entryHref, orLine, pendingInput, providerButtons, providerPath } from '../site/providers.ts'
import type { ProviderView } from '../../http/services.ts'
import { texts } from '../site/texts.ts'

/** A user signs in with a new provider, and the email belongs to an existing account. */
export interface LinkAccountView extends FormView {
  /** This is the new provider, which will be connected. */
  provider: ProviderView
  email: string
  /** The service has sealed it; each form sends it back. */
  pending: string
  hasPassword: boolean
  /** These providers are already connected to the account. */
  providers: readonly ProviderView[]
  /**
   * This tells whether the account's email was never proved, so that the owner of the email may reclaim the account.
   */
  canReclaim: boolean
  returnTo: string | undefined
  errors: { password?: FieldProblem | undefined }
}

const passwordForm = (view: LinkAccountView, layout: Layout): HtmlFragment =>
  html`<form method="post" action="${providerPath(view.provider.name, 'link')}" novalidate>
${csrfInput(view.csrfToken)}${pendingInput(view.pending)}
${ownerInput(view.email)}
${field({
  name: 'password',
  label: texts.passwordHere(layout.appName),
  type: 'password',
  autocomplete: 'current-password',
  problem: view.errors.password,
  // There is no autofocus: the user should first read the text above.
  focused: Boolean(view.errors.password),
})}
<button class="${passwordButtonClass(layout, view.problem)}">${texts.connect(view.provider.label)}</button>
</form>
`

const otherProviders = ({ csrfToken, pending, hasPassword, providers }: LinkAccountView): HtmlFragment | undefined => {
  const hiddenInputs = pendingInput(pending)
  const buttons = providerButtons({ csrfToken, providers, hiddenInputs, words: texts.continueWith })
  return buttons && html`${hasPassword && orLine()}${buttons}`
}

const reclaimForm = ({ csrfToken, pending, provider, hasPassword, providers }: LinkAccountView): HtmlFragment => {
  const ends = [texts.reclaimEndsSessions, texts.reclaimEndsConnections, texts.reclaimEndsRoles, texts.reclaimKeeps]
  const consequences = hasPassword ? [texts.reclaimEndsPassword, ...ends] : ends
  return html`<form method="post" action="${providerPath(provider.name, 'claim')}">
${csrfInput(csrfToken)}${pendingInput(pending)}
<div>
<p>${texts.reclaimAbout(provider.label)}</p>
<ul class="ends">
${consequences.map(
  (consequence) => html`<li>${consequence}</li>
`,
)}</ul>
</div>
<button class="${hasPassword || providers.length > 0 ? 'second' : 'first'}">${texts.reclaimButton}</button>
</form>`
}

// The section is collapsed if the user can prove ownership in another way: reclaiming ends all other access to the
// account.
const reclaimSection = (view: LinkAccountView): HtmlFragment =>
  view.hasPassword || view.providers.length > 0
    ? html`<details>
<summary class="quiet">${view.hasPassword ? texts.reclaimOpen : texts.reclaimOpenOther}</summary>
${reclaimForm(view)}
</details>`
    : reclaimForm(view)

/** The text is empty if the account can only be reclaimed, which needs no explanation. */
const howToConnect = ({ provider, hasPassword, providers }: LinkAccountView): string | undefined => {
  if (hasPassword) return texts.connectByProof(provider.label)
  if (providers.length === 0) return undefined
  const connected = providers.map(({ label }) => label)
  return texts.connectBy(provider.label, connected)
}

/**
 * Creates the page on which a user who signs in with a new provider proves that the account with their email is theirs.
 */
export const createLinkAccountPage =
  (layout: Layout) =>
  (view: LinkAccountView): string =>
    layout.panel({
      title: texts.connectToAccount(view.provider.label),
      sign: view.hasPassword || view.providers.length > 0 ? undefined : 'key',
      wrong: Boolean(view.problem ?? view.errors.password),
      problem: view.problem,
      focusesProblem: !view.errors.password,
      below: html`${texts.notYours} <a href="${entryHref('/auth/login', view.returnTo)}">${texts.logInOtherwise}</a>`,
      body: html`${loginLimited(layout, { ...view, returnTo: undefined })}
<p>${texts.accountExists} <b>${view.email}</b>. ${howToConnect(view)}</p>
${view.hasPassword && passwordForm(view, layout)}${otherProviders(view)}
${view.canReclaim && reclaimSection(view)}`,
    })
