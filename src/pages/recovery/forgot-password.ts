import { html } from '../../lib/html.ts'
import { csrfInput, field, formProblem, returnToInput } from '../form.ts'
import type { Layout } from '../layout.ts'
import { entryHref } from '../sign-in-links.ts'
import { texts } from '../texts.ts'
import { resetTextsOf } from './reset-texts.ts'
import type { ForgotPasswordView } from './views.ts'

/** The page on which a user asks for a link to a new password. */
export const createForgotPasswordPage = (layout: Layout) => {
  const words = resetTextsOf(layout)
  return ({ csrfToken, returnTo, email, errors, problem }: ForgotPasswordView): string =>
    layout.panel({
      title: words.forgot,
      wrong: Boolean(problem ?? errors.email),
      below: html`<a href="${entryHref('/auth/login', returnTo, email)}">${words.backToLogin}</a>`,
      body: html`${formProblem(problem, layout.support, !errors.email)}
<p>${words.forgotAbout}</p>
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

/** What follows, the same whether or not there is an account. */
export const createLinkSentPage = (layout: Layout): (() => string) => {
  const words = resetTextsOf(layout)
  const page = layout.panel({
    title: words.sent,
    below: html`<a href="/auth/login">${words.backToLogin}</a>`,
    body: html`<p>${words.sentAbout}</p>
<p class="about">${layout.support.text(words.sentAdvice(layout.appName))}</p>
<a class="second" href="/auth/password/forgot">${words.tryAgain}</a>`,
  })
  return () => page
}

/** The same page while no mail is sent: whom to ask. */
export const createForgotWithoutMailPage = (layout: Layout): (() => string) => {
  const words = resetTextsOf(layout)
  const page = layout.panel({
    title: words.forgot,
    body: html`<p>${layout.support.text(words.withoutMail(layout.appName))}</p>
<a class="first" href="/auth/login">${words.backToLogin}</a>`,
  })
  return () => page
}
