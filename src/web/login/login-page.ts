import { perLanguage } from '../../languages/language.ts'
import { t } from '../../languages/texts.ts'
import { type HtmlFragment, html } from '../../lib/html.ts'
import { randomToken } from '../../lib/secrets.ts'
import { forgotBelow, forgotBeside, forgotLink } from '../site/forgot-link.ts'
import type { FieldProblem } from '../../http/form-view.ts'
import { withReturnTo } from '../../http/return-to.ts'
import {
  type FieldBeside,
  FORM_PROBLEM_ID,
  csrfInput,
  field,
  fieldBeside,
  lastUsedMark,
  notice,
  returnToInput,
} from '../site/form.ts'
import type { Layout } from '../site/layout.ts'
import { loginLimited, passwordButtonClass } from '../site/login-limited.ts'
import { passkeyButton } from '../site/passkey-button.ts'
import { type EntryView, entryHref, orLine, providerForms, wayOn } from '../site/providers.ts'

export interface LoginView extends EntryView {
  /** This tells whether there is a form with a password, and not the providers alone. */
  passwords: boolean
  errors: { email?: FieldProblem | undefined; password?: FieldProblem | undefined }
  notice?: 'deleted' | 'signed_out' | 'sign_in_ended' | 'check_mail' | undefined
  signupOpen: boolean
}

/** Users log in with the email, or with the email or the username. */
type LoginWith = 'email' | 'both'

type Focus = 'email' | 'password' | 'problem' | 'notice'

const NOTICES = {
  deleted: 'login.done.deleted',
  signed_out: 'login.done.logged_out',
  sign_in_ended: 'login.done.ended',
  check_mail: 'login.done.check_mail',
} as const

const noticeOf = ({ notice: done }: LoginView): HtmlFragment | undefined =>
  done && notice(t(NOTICES[done]), done === 'sign_in_ended' || done === 'check_mail' ? 'note' : 'done')

const focusOf = ({ errors, problem, notice, email }: LoginView): Focus => {
  if (errors.email) return 'email'
  if (errors.password) return 'password'
  if (problem && problem.kind !== 'credentials_wrong') return 'problem'
  if (notice) return 'notice'
  return email === '' ? 'email' : 'password'
}

interface Ways {
  passkeys: boolean
  loginWith: LoginWith
}

type Fields = Pick<LoginView, 'email' | 'errors' | 'problem'>

/** Makes the fields; the link to a forgotten password stands beside the label of the second. */
const fieldsOf = (view: Fields, focus: Focus, { passkeys, loginWith }: Ways): FieldBeside => {
  const describedBy = view.problem?.kind === 'credentials_wrong' ? FORM_PROBLEM_ID : undefined
  const email = field({
    name: 'email',
    // A browser refuses a username in a field of the type `email`.
    ...(loginWith === 'both'
      ? { label: t('field.email_or_username'), type: 'text', inputMode: 'email' }
      : { label: t('field.email'), type: 'email' }),
    autocomplete: passkeys ? 'username webauthn' : 'username',
    value: view.email,
    problem: view.errors.email,
    describedBy,
    focused: focus === 'email',
  })
  const password = fieldBeside({
    name: 'password',
    label: t('field.password'),
    type: 'password',
    autocomplete: 'current-password',
    problem: view.errors.password,
    describedBy,
    focused: focus === 'password',
  })
  return (beside) => html`${email}
${password(beside)}`
}

/** Makes the form of a service without passwords, where a code by mail is the first way. */
const mailForm = (view: LoginView, { passkeys }: Ways): HtmlFragment =>
  html`<form method="post" action="/auth/login/email" novalidate>
${csrfInput(view.csrfToken)}${returnToInput(view.returnTo)}
${field({
  name: 'email',
  label: t('field.email'),
  type: 'email',
  autocomplete: passkeys ? 'username webauthn' : 'username',
  value: view.email,
  focused: !view.notice,
})}
${mailButton(view, 'first')}
</form>
`

const wayToSignup = ({ returnTo, email }: Pick<LoginView, 'returnTo' | 'email'>): HtmlFragment =>
  html`${t('login.new_here')} <a href="${entryHref('/auth/signup', returnTo, email)}">${t('login.create_account')}</a>`

/** The passkey is the first way if there is neither a password nor mail. */
const passkeyWay = (
  { csrfToken, returnTo, passwords, providers, lastWay }: LoginView,
  byMail: boolean,
): HtmlFragment => {
  const isBelowForm = passwords || byMail
  return passkeyButton({
    kind: 'log-in',
    csrfToken,
    url: withReturnTo('/auth/passkeys/login', returnTo),
    isMain: !isBelowForm,
    isLastUsed: lastWay === 'passkey',
    hasOthers: isBelowForm || providers.length > 0,
    before: isBelowForm && providers.length === 0 && orLine(),
  })
}

/** The same form sends the address that was typed to another place. */
const mailButton = ({ lastWay }: LoginView, style: 'first' | 'second'): HtmlFragment =>
  html`<button class="svc-button ${style}" formaction="/auth/login/email">${t('email_sign_in.button')}${lastWay === 'email' && html` ${lastUsedMark()}`}</button>`

const isFirstVisit = ({ returnTo, email, errors, problem, notice, lastWay }: LoginView): boolean =>
  email === '' && !returnTo && !notice && !lastWay && !errors.email && !errors.password && !problem

/**
 * Renders the page of a first visit, the one that most people ask for, once, except for the token. The ways to log in
 * must be the same in each view.
 */
export const keepFirstVisit = (render: (view: LoginView) => string): ((view: LoginView) => string) => {
  const place = randomToken()
  const piecesOf = perLanguage(() => {
    let pieces: string[] | undefined
    return (view: LoginView): string[] => (pieces ??= render({ ...view, csrfToken: place }).split(place))
  })
  return (view: LoginView): string => {
    if (!isFirstVisit(view)) return render(view)
    return piecesOf(view).join(html`${view.csrfToken}`.toString())
  }
}

export const createLoginPage = (layout: Layout, loginWith: LoginWith = 'email') =>
  perLanguage(() => createPageOfLanguage(layout, loginWith))

const createPageOfLanguage = (layout: Layout, loginWith: LoginWith) => {
  const { passkeys, emailSignIn } = layout
  const ways = { passkeys, loginWith }
  const frame = layout.frame({ title: t('login.title'), passkeys })

  /** The button of a provider makes an account for those who have none. */
  const providersOf = (view: LoginView, place?: 'above' | 'alone'): HtmlFragment | undefined =>
    providerForms(view, place, view.signupOpen ? layout.agreement() : undefined)

  /** The line stands above the first of the ways below a form. */
  const belowForm = (view: LoginView): HtmlFragment =>
    passkeys
      ? html`${view.providers.length > 0 && orLine()}${passkeyWay(view, emailSignIn)}${providersOf(view, 'alone')}`
      : html`${providersOf(view)}`

  /** Makes what stands above and below a form. */
  const aroundForm = (view: LoginView): { above: HtmlFragment | undefined; below: HtmlFragment } =>
    layout.providersFirst
      ? { above: providersOf(view, 'above'), below: belowForm({ ...view, providers: [] }) }
      : { above: undefined, below: belowForm(view) }

  const byMail = (view: LoginView): HtmlFragment => {
    const { above, below } = aroundForm(view)
    return html`${above}${mailForm(view, ways)}${below}`
  }

  const byOtherWays = (view: LoginView): string =>
    frame.panel({
      below: emailSignIn && view.signupOpen ? wayToSignup(view) : undefined,
      body: html`${noticeOf(view)}
${emailSignIn ? byMail(view) : html`${passkeys && html`${passkeyWay(view, false)}${view.providers.length > 0 && orLine()}`}${providersOf(view, 'alone')}`}
${forgotLink(layout, view)}`,
    })

  /** The button of a limited login leads there already. */
  const forgotOf = (view: LoginView): HtmlFragment | undefined =>
    passwordButtonClass(layout, view.problem) === 'second' ? undefined : forgotBeside(layout, view)

  return (view: LoginView): string => {
    if (!view.passwords) return byOtherWays(view)
    const focus = focusOf(view)
    const fields = fieldsOf(view, focus, ways)
    const { above, below } = aroundForm(view)
    return frame.panel({
      wrong: Boolean(view.problem ?? view.errors.email ?? view.errors.password),
      problem: view.problem,
      focusesProblem: focus === 'problem',
      below: view.signupOpen ? wayToSignup(view) : undefined,
      body: html`${!view.problem && noticeOf(view)}${loginLimited(layout, view)}${wayOn(view)}
${above}<form method="post" action="/auth/login" novalidate>
${csrfInput(view.csrfToken)}${returnToInput(view.returnTo)}
${fields(forgotOf(view))}
<button class="svc-button ${passwordButtonClass(layout, view.problem)}">${t('login.title')}${view.lastWay === 'password' && html` ${lastUsedMark()}`}</button>
${emailSignIn && mailButton(view, 'second')}
</form>
${forgotBelow(layout, view)}
${below}`,
    })
  }
}
