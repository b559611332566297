import type { AskedFactorView } from '../sign-in/asked-factor.ts'
import { type HtmlFragment, html } from '../../lib/html.ts'
import { resetTextsOf } from '../site/forgot-link.ts'
import type { FieldProblem, FormView } from '../../http/form-view.ts'
import { chosenPassword, csrfInput, field, ownerInput, returnToInput, tokenInput } from '../site/form.ts'
import type { Layout } from '../site/layout.ts'
import { entryHref } from '../site/providers.ts'
import type { ProviderView } from '../../http/services.ts'
import { texts } from '../site/texts.ts'
import { type LinkFormErrors, entryForm, formEnd, signOf, usesPasskeys, wrongFieldOf } from './asked-factor-fields.ts'

export interface ForgotPasswordView extends FormView {
  returnTo: string | undefined
  /** This was typed, or carried from the login page. */
  email: string
  errors: { email?: FieldProblem | undefined }
}

/** Creates the page on which a user asks for a link to a new password. */
export const createForgotPasswordPage = (layout: Layout) => {
  const words = resetTextsOf(layout)
  return ({ csrfToken, returnTo, email, errors, problem }: ForgotPasswordView): string =>
    layout.panel({
      title: words.forgot,
      wrong: Boolean(problem ?? errors.email),
      problem,
      focusesProblem: !errors.email,
      below: html`<a href="${entryHref('/auth/login', returnTo, email)}">${words.backToLogin}</a>`,
      body: html`<p>${words.forgotAbout}</p>
<form method="post" action="/auth/password/forgot" novalidate>
${csrfInput(csrfToken)}${returnToInput(returnTo)}
${field({
  name: 'email',
  label: texts.email,
  type: 'email',
  autocomplete: 'username',
  value: email,
  maxLength: 254,
  problem: errors.email,
  focused: !problem || Boolean(errors.email),
})}
<button class="first">${words.forgotButton}</button>
</form>`,
    })
}

/** This page follows. It is the same whether or not there is an account. */
export const createLinkSentPage = (layout: Layout): (() => string) => {
  const words = resetTextsOf(layout)
  const page = layout.panel({
    title: words.sent,
    sign: 'mail',
    below: html`<a href="/auth/login">${words.backToLogin}</a>`,
    body: html`<p>${words.sentAbout}</p>
<p class="about">${layout.support.text(words.sentAdvice(layout.appName))}</p>
<a class="second" href="/auth/password/forgot">${words.tryAgain}</a>`,
  })
  return () => page
}

/** This replaces the page while no mail is sent: it says whom to ask. */
export const createForgotWithoutMailPage = (layout: Layout): (() => string) => {
  const words = resetTextsOf(layout)
  const page = layout.panel({
    title: words.forgot,
    sign: 'info',
    body: html`<p>${layout.support.text(words.withoutMail(layout.appName))}</p>
<a class="first" href="/auth/login">${words.backToLogin}</a>`,
  })
  return () => page
}

export interface ResetPasswordView extends FormView {
  token: string
  /** This is the address of the account. */
  email: string
  /** This is the address of another account that is signed in in this browser. */
  otherEmail: string | undefined
  /** One of these is connected to the account, if the service accepts no passwords. */
  providers: readonly ProviderView[] | undefined
  factor?: AskedFactorView | undefined
  errors: LinkFormErrors
}

const passwordForm = (layout: Layout, view: ResetPasswordView, button: string): HtmlFragment => {
  const { csrfToken, token, email, errors, problem } = view
  return html`<form method="post" action="/auth/password/reset" novalidate>
${csrfInput(csrfToken)}${tokenInput(token)}
${ownerInput(email)}
${chosenPassword({
  problem: errors.password,
  focused: Boolean(errors.password) || !(problem ?? wrongFieldOf(view)),
  minLength: layout.passwordMinLength,
})}
${formEnd(layout, view, html`<button class="first">${button}</button>`)}
</form>`
}

/**
 * Creates the page of a link that sets a new password, or connects a provider if there are no passwords. It names the
 * account above the buttons.
 */
export const createResetPasswordPage = (layout: Layout) => {
  const words = resetTextsOf(layout)
  return (view: ResetPasswordView): string => {
    const { email, otherEmail, providers, problem } = view
    const hasPasswords = providers === undefined
    return layout.panel({
      title: words.reset,
      sign: signOf(view, hasPasswords),
      wrong: Boolean(problem ?? wrongFieldOf(view)),
      problem,
      focusesProblem: !wrongFieldOf(view),
      passkeys: usesPasskeys(layout, view),
      body: html`<p>${words.resetFor} <b>${email}</b>. ${words.resetAbout}</p>
${otherEmail !== undefined && html`<p>${words.resetLeaves} <b>${otherEmail}</b>.</p>`}
${hasPasswords ? passwordForm(layout, view, words.resetButton) : entryForm(layout, view, { purpose: 'reset', token: view.token })}`,
    })
  }
}
