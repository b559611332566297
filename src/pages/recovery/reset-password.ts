import { type HtmlFragment, html } from '../../lib/html.ts'
import { csrfInput, formProblem, ownerInput, tokenInput } from '../form.ts'
import { chosenPassword } from '../chosen-fields.ts'
import type { Layout } from '../layout.ts'
import { entryButtons } from '../provider-buttons.ts'
import { resetTextsOf } from './reset-texts.ts'
import type { ResetPasswordView } from './views.ts'

const passwordForm = ({ csrfToken, token, email, errors, problem }: ResetPasswordView, button: string): HtmlFragment =>
  html`<form method="post" action="/auth/password/reset" novalidate>
${csrfInput(csrfToken)}${tokenInput(token)}
${ownerInput(email)}
${chosenPassword({
  problem: errors.password,
  focused: !problem || Boolean(errors.password),
})}
<button class="first">${button}</button>
</form>`

/**
 * The page of a link that sets a new password, or connects a provider where there are no passwords. It names the account
 * above the buttons.
 */
export const createResetPasswordPage = (layout: Layout) => {
  const words = resetTextsOf(layout)
  return (view: ResetPasswordView): string => {
    const { email, otherEmail, providers, errors, problem } = view
    const hasPasswords = providers === undefined
    return layout.panel({
      title: words.reset,
      wrong: Boolean(problem ?? errors.password),
      scripted: hasPasswords,
      body: html`${formProblem(problem, layout.support, !errors.password)}
<p>${words.resetFor} <b>${email}</b>. ${words.resetAbout}</p>
${otherEmail !== undefined && html`<p>${words.resetLeaves} <b>${otherEmail}</b>.</p>`}
${hasPasswords ? passwordForm(view, words.resetButton) : entryButtons(view, { purpose: 'reset', token: view.token })}`,
    })
  }
}
