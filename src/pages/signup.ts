import { type HtmlFragment, html } from '../lib/html.ts'
import { csrfInput, field, formProblem, returnToInput } from './form.ts'
import type { Layout } from './layout.ts'
import { entryHref, providerForms } from './sign-in-links.ts'
import { texts } from './texts.ts'
import type { SignupView } from './views.ts'

type Name = 'email' | 'password' | 'username'

const focusOf = ({ errors, problem }: SignupView): Name | 'problem' => {
  const wrong = (['email', 'password', 'username'] as const).find((name) => errors[name])
  return wrong ?? (problem ? 'problem' : 'email')
}

// Users log in with their email. It is therefore the "username" that a password manager must save, and is right before
// the password; svc's username is a nickname for it.
const fields = ({ email, username, errors }: SignupView, focus: string): HtmlFragment => html`${field({
  name: 'email',
  label: texts.email,
  type: 'email',
  autocomplete: 'username',
  value: email,
  maxLength: 254,
  problem: errors.email,
  focused: focus === 'email',
})}
${field({
  name: 'password',
  label: texts.password,
  type: 'password',
  autocomplete: 'new-password',
  hint: texts.newPasswordHint,
  minLength: 8,
  problem: errors.password,
  focused: focus === 'password',
})}
${field({
  name: 'username',
  label: texts.username,
  type: 'text',
  autocomplete: 'nickname',
  value: username,
  hint: texts.usernameHint,
  optional: true,
  maxLength: 30,
  problem: errors.username,
  focused: focus === 'username',
})}`

const openBody = (view: SignupView): HtmlFragment => {
  const focus = focusOf(view)
  return html`${formProblem(view.problem, focus === 'problem')}
<form method="post" action="/auth/signup" novalidate>
${csrfInput(view.csrfToken)}${returnToInput(view.returnTo)}
${fields(view, focus)}
<button class="first">${texts.signUpButton}</button>
</form>
${providerForms(view)}`
}

const closedBody = (appName: string): HtmlFragment => html`<p>${texts.signUpClosedAdvice(appName)}</p>`

/** The signup page, or the page that says that signup is closed. */
export const createSignupPage =
  (layout: Layout) =>
  (view: SignupView): string => {
    const { problem, errors, closed } = view
    return layout.panel({
      title: closed ? texts.signUpClosed : texts.signUp,
      wrong: !closed && Boolean(problem ?? errors.email ?? errors.username ?? errors.password),
      scripted: !closed,
      below: html`${texts.alreadyHere} <a href="${entryHref('/auth/login', view.returnTo)}">${texts.logIn}</a>`,
      body: closed ? closedBody(layout.appName) : openBody(view),
    })
  }
