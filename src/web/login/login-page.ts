import { type HtmlFragment, html } from '../../lib/html.ts'
import { forgotLink } from '../site/forgot-link.ts'
import type { FieldProblem } from '../../http/form-view.ts'
import { FORM_PROBLEM_ID, csrfInput, field, formProblem, notice, returnToInput } from '../site/form.ts'
import type { Layout } from '../site/layout.ts'
import { limitNote, loginLimited, passwordButtonClass } from '../site/login-limited.ts'
import { passkeyButton } from '../site/passkey-button.ts'
import { type EntryView, entryHref, orLine, providerForms, wayOn } from '../site/providers.ts'
import { texts } from '../site/texts.ts'

export interface LoginView extends EntryView {
  /** This tells whether there is a form with a password, and not the providers alone. */
  passwords: boolean
  errors: { email?: FieldProblem | undefined; password?: FieldProblem | undefined }
  notice?: 'deleted' | 'signed_out' | 'sign_in_ended' | 'check_mail' | undefined
  signupOpen: boolean
}

type Focus = 'email' | 'password' | 'problem' | 'notice'

const NOTICES = {
  deleted: texts.noticeDeleted,
  signed_out: texts.noticeSignedOut,
  sign_in_ended: texts.noticeSignInEnded,
  check_mail: texts.noticeCheckMail,
}

const noticeOf = ({ notice: done }: LoginView): HtmlFragment | undefined =>
  done && notice(NOTICES[done], done === 'sign_in_ended' || done === 'check_mail' ? 'note' : 'done')

const focusOf = ({ errors, problem, notice, email }: LoginView): Focus => {
  if (errors.email) return 'email'
  if (errors.password) return 'password'
  if (problem && problem.kind !== 'credentials_wrong') return 'problem'
  if (notice) return 'notice'
  return email === '' ? 'email' : 'password'
}

const fields = (
  view: Pick<LoginView, 'email' | 'errors' | 'problem'>,
  focus: Focus,
  passkeys: boolean,
): HtmlFragment => {
  const describedBy = view.problem?.kind === 'credentials_wrong' ? FORM_PROBLEM_ID : undefined
  return html`${field({
    name: 'email',
    label: texts.email,
    type: 'email',
    autocomplete: passkeys ? 'username webauthn' : 'username',
    value: view.email,
    problem: view.errors.email,
    describedBy,
    focused: focus === 'email',
  })}
${field({
  name: 'password',
  label: texts.password,
  type: 'password',
  autocomplete: 'current-password',
  problem: view.errors.password,
  describedBy,
  focused: focus === 'password',
})}`
}

const wayToSignup = ({ returnTo, email }: Pick<LoginView, 'returnTo' | 'email'>): HtmlFragment =>
  html`${texts.newHere} <a href="${entryHref('/auth/signup', returnTo, email)}">${texts.createAccount}</a>`

/** The passkey is the first way if there is no password. */
const passkeyWay = ({ csrfToken, returnTo, passwords, providers }: LoginView): HtmlFragment =>
  passkeyButton({
    kind: 'log-in',
    csrfToken,
    url: `/auth/passkeys/login${returnTo === undefined ? '' : `?return_to=${encodeURIComponent(returnTo.toWellFormed())}`}`,
    isMain: !passwords,
    hasOthers: passwords || providers.length > 0,
    before: passwords && providers.length === 0 && orLine(),
  })

const isEmpty = ({ email, errors, problem }: LoginView): boolean =>
  email === '' && !errors.email && !errors.password && !problem

/** Tells whether the links to other pages are those of a first visit. */
const carriesNothing = ({ returnTo, email }: LoginView): boolean => returnTo === undefined && email === ''

/**
 * Creates the login page. Most visitors have entered nothing yet: their page is rendered once, except for the token.
 */
export const createLoginPage = (layout: Layout) => {
  const { passkeys } = layout
  const frame = layout.frame({ title: texts.logIn, scripted: true, passkeys })
  const emptyFields = fields({ email: '', errors: {} }, 'email', passkeys)
  const wayToSignupAlone = wayToSignup({ returnTo: undefined, email: '' })
  const forgotAlone = forgotLink(layout, { email: '' })
  const withoutPassword = layout.frame({ title: texts.logIn, passkeys })
  const byOtherWays = (view: LoginView): string =>
    withoutPassword.panel({
      body: html`${noticeOf(view)}
${passkeys && html`${passkeyWay(view)}${view.providers.length > 0 && orLine()}`}${providerForms(view, false)}
${forgotLink(layout, view)}`,
    })

  /** The button of a limited login leads there already. */
  const forgotOf = (view: LoginView): HtmlFragment | undefined => {
    if (passwordButtonClass(layout, view.problem) === 'second') return undefined
    return carriesNothing(view) ? forgotAlone : forgotLink(layout, view)
  }

  const belowOf = (view: LoginView): HtmlFragment | undefined => {
    if (!view.signupOpen) return undefined
    return carriesNothing(view) ? wayToSignupAlone : wayToSignup(view)
  }

  return (view: LoginView): string => {
    if (!view.passwords) return byOtherWays(view)
    const focus = focusOf(view)
    return frame.panel({
      wrong: Boolean(view.problem ?? view.errors.email ?? view.errors.password),
      below: belowOf(view),
      body: html`${formProblem(view.problem, layout.support, focus === 'problem') ?? noticeOf(view)}${loginLimited(layout, view)}${wayOn(view)}
<form method="post" action="/auth/login" novalidate>
${csrfInput(view.csrfToken)}${returnToInput(view.returnTo)}
${focus === 'email' && isEmpty(view) ? emptyFields : fields(view, focus, passkeys)}
<button class="${passwordButtonClass(layout, view.problem)}">${texts.logIn}</button>
</form>
${forgotOf(view)}
${passkeys ? html`${view.providers.length > 0 && orLine()}${passkeyWay(view)}${providerForms(view, false)}` : providerForms(view)}${limitNote(layout, view.problem)}`,
    })
  }
}
