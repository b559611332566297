import { anyOfText } from '../../languages/formats.ts'
import { perLanguage } from '../../languages/language.ts'
import { t } from '../../languages/texts.ts'
import { type HtmlFragment, html } from '../../lib/html.ts'
import type { FieldProblem } from '../../http/form-view.ts'
import { chosenPassword, chosenUsername, csrfInput, field, returnToInput } from '../site/form.ts'
import type { Layout } from '../site/layout.ts'
import { type EntryView, entryHref, providerForms, wayOn } from '../site/providers.ts'
import { type NameView, nameField } from '../site/person-name.ts'

export interface SignupView extends EntryView {
  /** This is the text that was typed. It is undefined if svc makes the usernames, and asks for none. */
  username: string | undefined
  /** It is undefined if there are no names. */
  name?: NameView | undefined
  errors: {
    name?: FieldProblem | undefined
    email?: FieldProblem | undefined
    username?: FieldProblem | undefined
    password?: FieldProblem | undefined
  }
  /** An email must be of one of these domains; if there are none, any is accepted. */
  acceptedDomains: readonly string[]
  /** This tells whether there is a form with a password, and not the providers alone. */
  byPassword: boolean
  /** This tells whether a code by mail makes the account, which then has no password. */
  byMail?: boolean
  closed: boolean
}

type Name = 'email' | 'password' | 'name' | 'username'

const focusOf = ({ errors, problem }: SignupView): Name | 'problem' => {
  const wrong = (['email', 'password', 'name', 'username'] as const).find((name) => errors[name])
  return wrong ?? (problem ? 'problem' : 'email')
}

const usernameField = (value: string, errors: SignupView['errors'], focus: string): HtmlFragment => html`
${chosenUsername({
  value,
  hint: t('field.username.hint_optional'),
  optional: true,
  problem: errors.username,
  focused: focus === 'username',
})}`

type Fields = Pick<SignupView, 'email' | 'username' | 'name' | 'acceptedDomains' | 'errors' | 'returnTo'>

/** A user who has an account already goes on with one click. */
const wayOnIfTaken = ({ email, errors, returnTo }: Fields): HtmlFragment | undefined =>
  errors.email === 'email_taken'
    ? html`<a href="${entryHref('/auth/login', returnTo, email)}">${t('signup.log_in_instead')}</a>`
    : undefined

// Users log in with their email. It is therefore the "username" that a password manager must save, and is right before
// the password; svc's username is a nickname for it.
const emailField = (view: Fields, focused: boolean): HtmlFragment => {
  const { email, acceptedDomains, errors } = view
  const hint = acceptedDomains.length > 0 && t('signup.email_hint', { domains: anyOfText(acceptedDomains) })
  return field({
    name: 'email',
    label: t('field.email'),
    type: 'email',
    autocomplete: 'username',
    value: email,
    ...(hint && { hint }),
    maxLength: 254,
    problem: errors.email,
    remedy: wayOnIfTaken(view),
    focused,
  })
}

const fields = (view: Fields, focus: string, { passwordMinLength }: Layout): HtmlFragment => {
  const { username, name, errors } = view
  return html`${emailField(view, focus === 'email')}
${chosenPassword({
  label: t('field.password'),
  problem: errors.password,
  focused: focus === 'password',
  minLength: passwordMinLength,
})}${
  name &&
  html`
${nameField({ ...name, problem: errors.name }, focus === 'name')}`
}${username !== undefined && usernameField(username, errors, focus)}`
}

/** Tells whether the sentence stands above the buttons of providers, which come first. */
const isAgreedAbove = ({ providers }: SignupView, { providersFirst }: Layout): boolean =>
  providersFirst && providers.length > 0

/** The account is made once the code was typed, or the link opened. */
const mailForm = (
  view: SignupView,
  layout: Layout,
): HtmlFragment => html`<form method="post" action="/auth/login/email" novalidate>
${csrfInput(view.csrfToken)}${returnToInput(view.returnTo)}
${emailField(view, true)}
${!isAgreedAbove(view, layout) && layout.agreement()}<button class="svc-button first">${t('email_sign_in.button')}</button>
</form>
`

const around = (form: HtmlFragment, view: SignupView, layout: Layout): HtmlFragment =>
  layout.providersFirst
    ? html`${providerForms(view, 'above', layout.agreement())}${form}`
    : html`${form}${providerForms(view)}`

/** Tells whether it is the form of a service without special settings, in which nothing has been entered yet. */
const isUsual = ({ email, username, name, acceptedDomains, errors, problem }: SignupView): boolean =>
  email === '' &&
  username === '' &&
  name === undefined &&
  acceptedDomains.length === 0 &&
  !problem &&
  !Object.values(errors).some(Boolean)

/**
 * Creates the page with the form. Most visitors have entered nothing yet: their page is rendered once, but for the
 * token.
 */
const createOpenPage = (layout: Layout) => {
  const frame = layout.frame({ title: t('signup.title') })
  const empty: Fields = { email: '', username: '', acceptedDomains: [], errors: {}, returnTo: undefined }
  const usualFields = fields(empty, 'email', layout)

  return (view: SignupView): string => {
    const { problem, errors } = view
    const focus = focusOf(view)
    return frame.panel({
      wrong: Boolean(problem ?? errors.email ?? errors.username ?? errors.name ?? errors.password),
      problem,
      focusesProblem: focus === 'problem',
      below: wayToLogin(view),
      body: html`${wayOn(view)}
${around(
  html`<form method="post" action="/auth/signup" novalidate>
${csrfInput(view.csrfToken)}${returnToInput(view.returnTo)}
${isUsual(view) ? usualFields : fields(view, focus, layout)}
${!isAgreedAbove(view, layout) && layout.agreement()}<button class="svc-button first">${t('signup.button')}</button>
</form>
`,
  view,
  layout,
)}`,
    })
  }
}

const wayToLogin = ({ returnTo, email }: SignupView): HtmlFragment =>
  html`${t('signup.have_account')} <a href="${entryHref('/auth/login', returnTo, email)}">${t('login.title')}</a>`

/** Creates the signup page, with a form or the providers alone. If signup is closed, the page says so. */
export const createSignupPage = (layout: Layout) => {
  const openPage = perLanguage(() => createOpenPage(layout))
  return (view: SignupView): string => {
    if (view.closed)
      return layout.panel({
        title: t('signup.closed'),
        sign: 'info',
        below: wayToLogin(view),
        body: html`<p>${t.html('signup.closed_advice', { support: layout.support.sentence() })}</p>`,
      })
    if (view.byPassword) return openPage(view)
    const body = view.byMail
      ? around(mailForm(view, layout), view, layout)
      : html`<p>${t('signup.by_provider')}</p>
${providerForms(view, 'alone', layout.agreement())}`
    return layout.panel({ title: t('signup.title'), below: wayToLogin(view), body })
  }
}
