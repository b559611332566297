import { type HtmlFragment, html } from '../../lib/html.ts'
import { csrfInput, field, formProblem, ownerInput, tokenInput } from '../form.ts'
import { chosenPassword, chosenUsername } from '../chosen-fields.ts'
import type { Layout } from '../layout.ts'
import { limitNote, loginLimited, passwordButtonClass } from '../login-limited.ts'
import { entryHref } from '../sign-in-links.ts'
import { texts } from '../texts.ts'
import { verificationTexts as own } from './verification-texts.ts'
import type { FieldProblem } from '../views.ts'
import type { ConfirmEmailView, ConfirmSignupView, ProveAccountView } from './verification-views.ts'

const hiddenInputs = ({ csrfToken, token }: ConfirmEmailView): HtmlFragment =>
  html`${csrfInput(csrfToken)}${tokenInput(token)}`

const leaves = ({ otherEmail }: ConfirmEmailView): HtmlFragment | undefined =>
  otherEmail === undefined ? undefined : html`<p>${own.leaves} <b>${otherEmail}</b>.</p>`

/** In the browser that asked for the link: a press is enough. */
export const createConfirmEmailPage =
  (layout: Layout) =>
  (view: ConfirmEmailView): string =>
    layout.panel({
      title: own.confirm,
      body: html`<p>${own.confirmAbout} <b>${view.email}</b></p>
${leaves(view)}
<form method="post" action="/auth/email/verify">
${hiddenInputs(view)}
<button class="first">${own.confirmButton}</button>
</form>`,
    })

const passwordForm = (view: ProveAccountView, layout: Layout): HtmlFragment =>
  html`<form method="post" action="/auth/email/verify" novalidate>
${hiddenInputs(view)}
${ownerInput(view.email)}
${field({
  name: 'password',
  label: texts.password,
  type: 'password',
  autocomplete: 'current-password',
  problem: view.errors.password,
  focused: Boolean(view.errors.password),
})}
<button class="${passwordButtonClass(layout, view.problem)}">${own.proveButton}</button>
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
<div>
<p>${own.reclaimAbout}</p>
<ul class="ends">
${own.reclaimEnds.map(
  (consequence) => html`<li>${consequence}</li>
`,
)}</ul>
</div>
${ownerInput(view.email)}
${newPasswordField('new_password', view.errors.new_password, layout)}
<button class="second">${own.reclaimButton}</button>
</form>`

const reclaimSection = (view: ProveAccountView, layout: Layout): HtmlFragment =>
  view.hasPassword
    ? html`<details${view.errors.new_password && html` open`}>
<summary class="quiet">${own.reclaimOpen}</summary>
${reclaimForm(view, layout)}
</details>`
    : reclaimForm(view, layout)

const howToProve = ({ passwords, hasPassword }: ProveAccountView): string => {
  if (!passwords) return own.proveBySession
  return hasPassword ? own.proveByPassword : own.proveByReclaim
}

/** In another browser: an attacker may have made the account, and a press would make their password good. */
export const createProveAccountPage =
  (layout: Layout) =>
  (view: ProveAccountView): string =>
    layout.panel({
      title: own.confirm,
      wrong: Boolean(view.problem ?? view.errors.password ?? view.errors.new_password),
      scripted: view.passwords,
      below: html`<a href="${entryHref('/auth/login', undefined, view.email)}">${own.backToLogin}</a>`,
      body: html`${formProblem(view.problem, layout.support, !view.errors.password && !view.errors.new_password)}${loginLimited(layout, view)}
<p>${own.proveAbout} <b>${view.email}</b>, ${howToProve(view)}</p>
${leaves(view)}
${view.passwords && view.hasPassword && passwordForm(view, layout)}
${view.passwords && reclaimSection(view, layout)}${limitNote(layout, view.problem)}`,
    })

/** The last step of a signup. */
export const createConfirmSignupPage =
  (layout: Layout) =>
  (view: ConfirmSignupView): string =>
    layout.panel({
      title: own.finish,
      wrong: Boolean(view.problem ?? view.errors.password ?? view.errors.username),
      scripted: view.choosesPassword,
      body: html`${formProblem(view.problem, layout.support, !view.errors.password && !view.errors.username)}
<p>${own.finishAbout} <b>${view.email}</b>.${view.choosesPassword && html` ${own.finishChoose}`}</p>
${leaves(view)}
<form method="post" action="/auth/email/verify" novalidate>
${hiddenInputs(view)}
${ownerInput(view.email)}
${view.choosesPassword && newPasswordField('password', view.errors.password, layout)}
${view.username !== undefined && usernameField(view.username, view)}
<button class="first">${own.finishButton}</button>
</form>`,
    })

const usernameField = (value: string, { errors }: ConfirmSignupView): HtmlFragment =>
  chosenUsername({
    value,
    hint: texts.usernameHint,
    optional: true,
    problem: errors.username,
    focused: Boolean(errors.username) && !errors.password,
  })
