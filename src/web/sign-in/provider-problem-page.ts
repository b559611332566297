import { afterWaitText, anyOfText } from '../../languages/formats.ts'
import { type TextKey, t } from '../../languages/texts.ts'
import { type HtmlFragment, html } from '../../lib/html.ts'
import { bold, sentences } from '../site/bold.ts'
import type { SignInProblem } from '../../oauth/errors.ts'
import { forgotLink } from '../site/forgot-link.ts'
import { csrfInput, returnToInput } from '../site/form.ts'
import type { Layout } from '../site/layout.ts'
import {
  type EntryLink,
  type ProviderIntent,
  acrInput,
  entryHref,
  entryInputs,
  intentInput,
  pendingInput,
  providerPath,
} from '../site/providers.ts'
import type { ProviderView } from '../../http/services.ts'

export interface ProviderProblemView {
  csrfToken: string
  returnTo: string | undefined
  provider: ProviderView | undefined
  problem: SignInProblem
  /** It is kept for the next try. */
  intent?: ProviderIntent | undefined
  /** It is kept for the next try, and says how strong the confirmation must be. */
  acr?: string | undefined
  /** It is set if there are other ways to confirm. */
  confirmUrl?: string | undefined
  /** It is kept for the next try: the link that the user has followed. */
  entry?: EntryLink | undefined
  /**
   * It is kept for the next try: the pending account link, if another provider was to prove ownership of the account.
   */
  pending?: string | undefined
  signedIn: boolean
  /** This tells whether a visitor can create an account with a password instead. */
  canSignUp: boolean
  requestId: string
  /** The provider sent this email. */
  email?: string | undefined
  /** These would be accepted: the domains of the emails, or the email of the link. */
  accepted: readonly string[]
  retryAfterSeconds?: number | undefined
}

/**
 * The type is the first action that the page offers: try again, create an account, log in by mail, or go to the login or
 * account page; it also says whether trying again is offered as the second.
 */
type Step = 'retry' | 'signup' | 'mail' | 'entry' | 'entry_before_retry'

const FIRST_STEPS: Record<SignInProblem, Step> = {
  cancelled: 'retry',
  refused: 'retry',
  expired: 'retry',
  other_browser: 'retry',
  used: 'retry',
  unreadable: 'retry',
  unreachable: 'retry',
  unverifiable: 'retry',
  email_missing: 'signup',
  email_unverified: 'signup',
  domain_not_allowed: 'retry',
  email_domain_not_accepted: 'retry',
  email_reserved: 'entry',
  signup_closed: 'entry',
  disabled: 'entry',
  linked_elsewhere: 'entry_before_retry',
  other_email: 'retry',
  other_account: 'retry',
  logged_out: 'entry',
  last_way: 'entry',
  no_proof: 'entry',
}

const over = ({ provider, intent }: ProviderProblemView): string | undefined => {
  if (intent === 'confirm') return t('reauthentication.title')
  if (!provider) return undefined
  return t(intent === 'link' ? 'account.provider.connect' : 'provider.log_in_with', { provider: provider.label })
}

const retry = (
  { csrfToken, returnTo, intent, acr, entry, pending, provider }: ProviderProblemView,
  style: 'first' | 'second',
): HtmlFragment | undefined =>
  provider &&
  html`<form method="post" action="${providerPath(provider.name)}">
${csrfInput(csrfToken)}${returnToInput(returnTo)}${intentInput(intent)}${acrInput(acr)}${entry && entryInputs(entry)}${pending !== undefined && pendingInput(pending)}
<button class="svc-button ${style}">${t('provider.try_again', { provider: provider.label })}</button>
</form>`

const signup = ({ returnTo, email, signedIn }: ProviderProblemView): HtmlFragment | undefined =>
  signedIn
    ? undefined
    : html`<a class="svc-button first" href="${entryHref('/auth/signup', returnTo, email)}">${t('login.create_account')}</a>`

/** The link leads back to the page with the other ways to sign in. */
const entry = (
  { returnTo, email, signedIn, intent, confirmUrl }: ProviderProblemView,
  isFirst: boolean,
): HtmlFragment => {
  const style = isFirst ? 'first' : 'second'
  if (!signedIn)
    return html`<a class="svc-button ${style}" href="${entryHref('/auth/login', returnTo, email)}">${t(isFirst ? 'login.title' : 'link_account.other_way')}</a>`
  return intent === 'confirm'
    ? html`<a class="svc-button ${style}" href="${confirmUrl ?? '/auth/account/confirm'}">${t('reauthentication.other_way')}</a>`
    : html`<a class="svc-button ${style}" href="/auth/account">${t('common.back_to_account')}</a>`
}

const byMail = ({ returnTo, email }: ProviderProblemView): HtmlFragment =>
  html`<a class="svc-button first" href="${entryHref('/auth/login/email', returnTo, email)}">${t('email_sign_in.button')}</a>`

/** A code by mail proves an account that nothing here can prove. */
const isProvedByMail = ({ emailSignIn }: Layout, { problem, signedIn }: ProviderProblemView): boolean =>
  emailSignIn && problem === 'no_proof' && !signedIn

/** If no account with a password can be created, the user can only go back and correct the email there. */
const stepOf = (layout: Layout, view: ProviderProblemView): Step => {
  if (isProvedByMail(layout, view)) return 'mail'
  const step = FIRST_STEPS[view.problem]
  return step === 'signup' && !view.canSignUp ? 'retry' : step
}

const FIRST_BUTTONS: Partial<Record<Step, (view: ProviderProblemView) => HtmlFragment | undefined>> = {
  retry: (view) => retry(view, 'first'),
  signup,
  mail: byMail,
}

const steps = (layout: Layout, view: ProviderProblemView): HtmlFragment => {
  const step = stepOf(layout, view)
  const first = FIRST_BUTTONS[step]?.(view)
  return html`<div class="steps">
${first}
${entry(view, !first)}
${step === 'entry_before_retry' && retry(view, 'second')}
</div>`
}

/** Where no code does, a link by mail proves such an account. */
const wayBack = (layout: Layout, view: ProviderProblemView): HtmlFragment | undefined => {
  const { problem, email = '', returnTo } = view
  const isOffered = problem === 'no_proof' && layout.mailIsOn && !isProvedByMail(layout, view)
  return isOffered ? forgotLink(layout, { email, returnTo }) : undefined
}

/** The user may have several accounts at the provider, and sees by the address which of them it was. */
const addressLine = ({ email, provider }: ProviderProblemView): HtmlFragment | undefined =>
  email === undefined || provider === undefined
    ? undefined
    : html`<p>${t.html('provider.address', { provider: provider.label, email: bold(email) })}</p>
`

/** The texts of these problems name no provider. */
const WITHOUT_PROVIDER: readonly SignInProblem[] = ['disabled', 'email_reserved', 'last_way', 'logged_out', 'no_proof']

const unnamed = (problem: SignInProblem): SignInProblem => (WITHOUT_PROVIDER.includes(problem) ? problem : 'unreadable')

/** Says the reason and the remedy. A visitor may do without the email of the provider, and sign up with a password. */
const whyKeyOf = (layout: Layout, view: ProviderProblemView): TextKey => {
  const { problem, canSignUp } = view
  if (isProvedByMail(layout, view)) return 'provider.no_proof.why_mail'
  return canSignUp && (problem === 'email_missing' || problem === 'email_unverified')
    ? `provider.${problem}.why_sign_up`
    : `provider.${problem}.why`
}

const whyOf = (layout: Layout, view: ProviderProblemView): HtmlFragment =>
  t.html(whyKeyOf(layout, view), {
    provider: view.provider?.label,
    app: layout.appName,
    email: bold(view.accepted.join()),
    domains: anyOfText(view.accepted),
    support: layout.support.sentence(),
  })

/**
 * Creates the page of a sign-in with a provider that ended without a session. It says what happened, why, and what to
 * do next.
 */
export const createProviderProblemPage =
  (layout: Layout) =>
  (view: ProviderProblemView): string => {
    const { retryAfterSeconds } = view
    const provider = view.provider?.label
    const problem = provider === undefined ? unnamed(view.problem) : view.problem
    const why = whyOf(layout, { ...view, problem })
    return layout.panel({
      title: t(`provider.${problem}.title`, { provider }),
      sign: problem === 'expired' ? 'clock' : 'warning',
      over: over(view),
      requestId: view.requestId,
      body: html`${addressLine(view)}<p>${retryAfterSeconds === undefined ? why : sentences(why, t('form.try_again', { when: afterWaitText(retryAfterSeconds) }))}</p>
${steps(layout, view)}${wayBack(layout, view)}`,
    })
  }
