import { t } from '../../languages/texts.ts'
import { type HtmlFragment, html } from '../../lib/html.ts'
import { bold } from '../site/bold.ts'
import type { FieldProblem, FormView } from '../../http/form-view.ts'
import { reclaimConsequences } from '../site/consequences.ts'
import { csrfInput, field, ownerInput } from '../site/form.ts'
import type { Layout } from '../site/layout.ts'
import { loginLimited, passwordButtonClass } from '../site/login-limited.ts'
import { continueWith, entryHref, orLine, pendingInput, providerButtons, providerPath } from '../site/providers.ts'
import type { ProviderView } from '../../http/services.ts'

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
  label: t('link_account.password', { app: layout.appName }),
  type: 'password',
  autocomplete: 'current-password',
  problem: view.errors.password,
  // There is no autofocus: the user should first read the text above.
  focused: Boolean(view.errors.password),
})}
<button class="svc-button ${passwordButtonClass(layout, view.problem)}">${t('account.provider.connect', { provider: view.provider.label })}</button>
</form>
`

const otherProviders = ({ csrfToken, pending, hasPassword, providers }: LinkAccountView): HtmlFragment | undefined => {
  const hiddenInputs = pendingInput(pending)
  const buttons = providerButtons({ csrfToken, providers, hiddenInputs, words: continueWith })
  return buttons && html`${hasPassword && orLine()}${buttons}`
}

const reclaimForm = (
  { csrfToken, pending, provider, email, hasPassword, providers }: LinkAccountView,
  layout: Layout,
): HtmlFragment =>
  html`<form method="post" action="${providerPath(provider.name, 'claim')}">
${csrfInput(csrfToken)}${pendingInput(pending)}
<div>
<p>${t.html('reclaim.about_provider', { provider: provider.label, email: bold(email) })}</p>
${reclaimConsequences(layout)}
</div>
<button class="svc-button ${hasPassword || providers.length > 0 ? 'second' : 'first'}">${t('reclaim.button')}</button>
</form>`

// The section is collapsed if the user can prove ownership in another way: reclaiming ends all other access to the
// account.
const reclaimSection = (view: LinkAccountView, layout: Layout): HtmlFragment =>
  view.hasPassword || view.providers.length > 0
    ? html`<details>
<summary class="quiet">${t(view.hasPassword ? 'reclaim.open' : 'reclaim.open_provider')}</summary>
${reclaimForm(view, layout)}
</details>`
    : reclaimForm(view, layout)

const howToConnect = ({ provider, hasPassword, providers, ...view }: LinkAccountView): HtmlFragment => {
  const email = bold(view.email)
  const [connected, another] = providers
  if (hasPassword) return t.html('link_account.by_proof', { email, provider: provider.label })
  // If the account can only be reclaimed, that has an explanation of its own.
  if (!connected) return t.html('link_account.exists', { email })
  return another
    ? t.html('link_account.by_providers', { email, provider: provider.label })
    : t.html('link_account.by_provider', { email, provider: provider.label, connected: connected.label })
}

/** A code by mail signs in, and connects nothing here. A user who may reclaim the account needs none. */
const byMail = ({ email, returnTo, provider }: LinkAccountView): HtmlFragment => {
  const logIn = html`<a href="${entryHref('/auth/login/email', returnTo, email)}">${t('email_sign_in.ask_title')}</a>`
  return html`<p class="about">${t.html('link_account.by_mail', { log_in: logIn, provider: provider.label })}</p>`
}

/**
 * Creates the page on which a user who signs in with a new provider proves that the account with their email is theirs.
 */
export const createLinkAccountPage =
  (layout: Layout) =>
  (view: LinkAccountView): string =>
    layout.panel({
      title: t('link_account.title', { provider: view.provider.label }),
      sign: view.hasPassword || view.providers.length > 0 ? undefined : 'key',
      wrong: Boolean(view.problem ?? view.errors.password),
      problem: view.problem,
      focusesProblem: !view.errors.password,
      below: html`${t('link_account.not_yours')} <a href="${entryHref('/auth/login', view.returnTo)}">${t('link_account.other_way')}</a>`,
      body: html`${loginLimited(layout, { ...view, returnTo: undefined })}
<p>${howToConnect(view)}</p>
${view.hasPassword && passwordForm(view, layout)}${otherProviders(view)}
${view.canReclaim ? reclaimSection(view, layout) : layout.emailSignIn && byMail(view)}`,
    })
