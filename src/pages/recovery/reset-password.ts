import { html } from '../../lib/html.ts'
import { csrfInput, field, formProblem, ownerInput, tokenInput } from '../form.ts'
import type { Layout } from '../layout.ts'
import { texts } from '../texts.ts'
import { resetTexts } from './reset-texts.ts'
import type { ResetPasswordView } from './views.ts'

/** The page of a link that sets a new password. It names the account above the button. */
export const createResetPasswordPage =
  (layout: Layout) =>
  ({ csrfToken, token, email, otherEmail, errors, problem }: ResetPasswordView): string =>
    layout.panel({
      title: resetTexts.reset,
      wrong: Boolean(problem ?? errors.password),
      scripted: true,
      body: html`${formProblem(problem, layout.support, !errors.password)}
<p>${resetTexts.resetFor} <b>${email}</b>. ${resetTexts.resetAbout}</p>
${otherEmail !== undefined && html`<p>${resetTexts.resetLeaves} <b>${otherEmail}</b>.</p>`}
<form method="post" action="/auth/password/reset" novalidate>
${csrfInput(csrfToken)}${tokenInput(token)}
${ownerInput(email)}
${field({
  name: 'password',
  label: texts.newPassword,
  type: 'password',
  autocomplete: 'new-password',
  hint: texts.newPasswordHint,
  minLength: 8,
  problem: errors.password,
  focused: !problem || Boolean(errors.password),
})}
<button class="first">${resetTexts.resetButton}</button>
</form>`,
    })
