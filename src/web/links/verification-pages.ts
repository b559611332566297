import { t } from '../../languages/texts.ts'
import { type HtmlFragment, html } from '../../lib/html.ts'
import { bold } from '../site/bold.ts'
import type { FieldProblem, FormView } from '../../http/form-view.ts'
import { leavesLine, reclaimConsequences } from '../site/consequences.ts'
import { chosenPassword, chosenUsername, csrfInput, field, ownerInput, tokenInput } from '../site/form.ts'
import type { Layout } from '../site/layout.ts'
import { loginLimited, passwordButtonClass } from '../site/login-limited.ts'
import { entryHref } from '../site/providers.ts'
import { type NameView, nameField } from '../site/person-name.ts'

/** This page says that an earlier confirmation has done everything. */
export const createEmailConfirmedPage =
  (layout: Layout) =>
  ({ email }: { email: string }): string =>
    layout.panel({
      title: t('verify.done_title'),
      sign: 'check',
      body: html`<p>${t.html('verify.done', { email: bold(email) })}</p>
<div class="steps">
<a class="svc-button first" href="/auth/account">${t('common.to_account')}</a>
<a class="svc-button second" href="${layout.homeUrl}">${t('common.home', { app: layout.appName })}</a>
</div>`,
    })

/** This page says that the address of a signup got an account before the link was followed. */
export const createEmailTakenPage =
  (layout: Layout) =>
  ({ email }: { email: string }): string =>
    layout.panel({
      title: t('verify.taken_title'),
      sign: 'info',
      body: html`<p>${t.html('verify.taken', { email: bold(email) })}</p>
<div class="steps">
<a class="svc-button first" href="${entryHref('/auth/login', undefined, email)}">${t('login.title')}</a>
<a class="svc-button second" href="${entryHref('/auth/password/forgot', undefined, email)}">${t('login.forgot')}</a>
</div>`,
    })

const hiddenInputs = ({ csrfToken, token }: ConfirmEmailView): HtmlFragment =>
  html`${csrfInput(csrfToken)}${tokenInput(token)}`

/** A press is enough in the browser that asked for the link. */
export const createConfirmEmailPage =
  (layout: Layout) =>
  (view: ConfirmEmailView): string =>
    layout.panel({
      title: t('verify.title'),
      sign: 'mail',
      body: html`<p>${t.html('verify.about', { email: bold(view.email) })}</p>
${leavesLine(view.otherEmail)}
<form method="post" action="/auth/email/verify">
${hiddenInputs(view)}
<button class="svc-button first">${t('verify.button')}</button>
</form>`,
    })

const passwordForm = (view: ProveAccountView, layout: Layout): HtmlFragment =>
  html`<form method="post" action="/auth/email/verify" novalidate>
${hiddenInputs(view)}
${ownerInput(view.email)}
${field({
  name: 'password',
  label: t('field.password'),
  type: 'password',
  autocomplete: 'current-password',
  problem: view.errors.password,
  focused: Boolean(view.errors.password),
})}
<button class="svc-button ${passwordButtonClass(layout, view.problem)}">${t('verify.prove_button')}</button>
</form>`

const newPasswordField = (
  name: 'password' | 'new_password',
  problem: FieldProblem | undefined,
  { passwordMinLength }: Layout,
): HtmlFragment =>
  chosenPassword({
    name,
    problem,
    focused: Boolean(problem),
    minLength: passwordMinLength,
  })

const reclaimForm = (view: ProveAccountView, layout: Layout): HtmlFragment =>
  html`<form method="post" action="/auth/email/verify" novalidate>
${hiddenInputs(view)}
${
  view.hasPassword &&
  html`<p>${t.html('reclaim.about_verify', { email: bold(view.email) })}</p>
`
}${ownerInput(view.email)}
${newPasswordField('new_password', view.errors.new_password, layout)}
<div>
<p>${t('reclaim.ends')}</p>
${reclaimConsequences(layout)}
</div>
<button class="svc-button ${view.hasPassword ? 'second' : 'first'}">${t('reclaim.button')}</button>
</form>`

const reclaimSection = (view: ProveAccountView, layout: Layout): HtmlFragment =>
  view.hasPassword
    ? html`<details${view.errors.new_password && html` open`}>
<summary class="quiet">${t('reclaim.open')}</summary>
${reclaimForm(view, layout)}
</details>`
    : reclaimForm(view, layout)

const waysToProve = (view: ProveAccountView, layout: Layout): HtmlFragment => html`${leavesLine(view.otherEmail)}
${view.hasPassword && passwordForm(view, layout)}
${reclaimSection(view, layout)}`

const toLogin = ({ email }: ProveAccountView): HtmlFragment =>
  html`<a class="svc-button first" href="${entryHref('/auth/login', undefined, email)}">${t('login.title')}</a>`

const howToProve = ({ passwords, hasPassword, email }: ProveAccountView): HtmlFragment => {
  const way = hasPassword ? 'password' : 'reclaim'
  return t.html(`verify.by_${passwords ? way : 'login'}`, { email: bold(email) })
}

/**
 * In another browser a press is not enough: an attacker may have made the account, and a press would make their
 * password good.
 */
export const createProveAccountPage =
  (layout: Layout) =>
  (view: ProveAccountView): string =>
    layout.panel({
      title: t('verify.title'),
      sign: view.passwords ? undefined : 'mail',
      wrong: Boolean(view.problem ?? view.errors.password ?? view.errors.new_password),
      problem: view.problem,
      focusesProblem: !view.errors.password && !view.errors.new_password,
      below: view.passwords
        ? html`<a href="${entryHref('/auth/login', undefined, view.email)}">${t('common.back_to_login')}</a>`
        : undefined,
      body: html`${loginLimited(layout, view)}
<p>${howToProve(view)}</p>
${view.passwords ? waysToProve(view, layout) : toLogin(view)}`,
    })

/** This page is the last step of a signup. */
export const createConfirmSignupPage =
  (layout: Layout) =>
  (view: ConfirmSignupView): string =>
    layout.panel({
      title: t('finish_signup.title'),
      sign: view.choosesPassword || view.username !== undefined || view.name !== undefined ? undefined : 'mail',
      wrong: Boolean(view.problem ?? view.errors.password ?? view.errors.name ?? view.errors.username),
      problem: view.problem,
      focusesProblem: !view.errors.password && !view.errors.name && !view.errors.username,
      body: html`<p>${t.html(view.choosesPassword ? 'finish_signup.about_choose' : 'finish_signup.about', { email: bold(view.email) })}</p>
${leavesLine(view.otherEmail)}
<form method="post" action="/auth/email/verify" novalidate>
${hiddenInputs(view)}
${ownerInput(view.email)}
${view.choosesPassword && newPasswordField('password', view.errors.password, layout)}
${view.name && nameField({ ...view.name, problem: view.errors.name }, Boolean(view.errors.name) && !view.errors.password)}
${view.username !== undefined && usernameField(view.username, view)}
${layout.agreement()}<button class="svc-button first">${t('signup.button')}</button>
</form>`,
    })

const usernameField = (value: string, { errors }: ConfirmSignupView): HtmlFragment =>
  chosenUsername({
    value,
    hint: t('field.username.hint_optional'),
    optional: true,
    problem: errors.username,
    focused: Boolean(errors.username) && !errors.password && !errors.name,
  })

interface LinkView {
  csrfToken: string
  token: string
  email: string
  /** This is the address of another account that is signed in in this browser. */
  otherEmail: string | undefined
}

/** This is the link of an account, in the browser that asked for it. */
export type ConfirmEmailView = LinkView

/** This is the same link in another browser, in which a press must not be enough. */
export interface ProveAccountView extends LinkView, FormView {
  /** This tells whether passwords are accepted; otherwise the user logs in first. */
  passwords: boolean
  /** This tells whether the account has a password. */
  hasPassword: boolean
  errors: { password?: FieldProblem | undefined; new_password?: FieldProblem | undefined }
}

export interface ConfirmSignupView extends LinkView, FormView {
  /** This tells whether the browser is not the one of the signup: then the user chooses a password. */
  choosesPassword: boolean
  /** This is the content of the field; it is undefined if there is no field. */
  username: string | undefined
  name?: NameView | undefined
  errors: { [Name in 'password' | 'username' | 'name']?: FieldProblem | undefined }
}
