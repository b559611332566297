import { type HtmlFragment, html } from '../../lib/html.ts'
import { csrfInput, formProblem, ownerInput, tokenInput } from '../form.ts'
import { chosenPassword } from '../chosen-fields.ts'
import type { Layout } from '../layout.ts'
import { entryForm, formEnd, usesPasskeys, wrongFieldOf } from './asked-factor.ts'
import { resetTextsOf } from './reset-texts.ts'
import type { ResetPasswordView } from './views.ts'

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
 * The page of a link that sets a new password, or connects a provider where there are no passwords. It names the account
 * above the buttons.
 */
export const createResetPasswordPage = (layout: Layout) => {
  const words = resetTextsOf(layout)
  return (view: ResetPasswordView): string => {
    const { email, otherEmail, providers, problem } = view
    const hasPasswords = providers === undefined
    return layout.panel({
      title: words.reset,
      wrong: Boolean(problem ?? wrongFieldOf(view)),
      scripted: hasPasswords,
      passkeys: usesPasskeys(layout, view),
      body: html`${formProblem(problem, layout.support, !wrongFieldOf(view))}
<p>${words.resetFor} <b>${email}</b>. ${words.resetAbout}</p>
${otherEmail !== undefined && html`<p>${words.resetLeaves} <b>${otherEmail}</b>.</p>`}
${hasPasswords ? passwordForm(layout, view, words.resetButton) : entryForm(layout, view, { purpose: 'reset', token: view.token })}`,
    })
  }
}
