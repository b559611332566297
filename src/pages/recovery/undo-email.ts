import { type HtmlFragment, html } from '../../lib/html.ts'
import { csrfInput, formProblem, ownerInput, tokenInput } from '../form.ts'
import { chosenPassword } from '../chosen-fields.ts'
import type { Layout } from '../layout.ts'
import { momentOf } from '../time-text.ts'
import { entryForm, formEnd, usesPasskeys, wrongFieldOf } from './asked-factor.ts'
import { emailTexts } from './email-texts.ts'
import type { UndoEmailView, UndoWaitsView } from './email-views.ts'

const passwordForm = (layout: Layout, view: UndoEmailView): HtmlFragment => {
  const { csrfToken, token, email, errors } = view
  return html`<form method="post" action="/auth/email/undo" novalidate>
${csrfInput(csrfToken)}${tokenInput(token)}
${ownerInput(email)}
${chosenPassword({
  problem: errors.password,
  focused: Boolean(errors.password),
  minLength: layout.passwordMinLength,
})}
${formEnd(layout, view, html`<button class="first">${emailTexts.undoButton}</button>`)}
</form>`
}

const endsOf = ({ providers }: UndoEmailView): readonly string[] =>
  providers === undefined ? emailTexts.undoEnds : [...emailTexts.undoEnds.slice(0, -1), emailTexts.undoConnects]

/**
 * The page of a link that undoes a change of address. It names the address that the account has afterwards, and asks for
 * a new password or, where there are no passwords, for a provider.
 */
export const createUndoEmailPage =
  (layout: Layout) =>
  (view: UndoEmailView): string => {
    const { token, email, newEmail, otherEmail, problem, providers } = view
    return layout.panel({
      title: emailTexts.undo,
      wrong: Boolean(problem ?? wrongFieldOf(view)),
      scripted: providers === undefined,
      passkeys: usesPasskeys(layout, view),
      body: html`${formProblem(problem, layout.support, !wrongFieldOf(view))}
<p>${emailTexts.undoFor} <b>${email}</b>. ${emailTexts.undoOf} <b>${newEmail}</b>:</p>
<ul class="ends">
${endsOf(view).map(
  (line) => html`<li>${line}</li>
`,
)}</ul>
${otherEmail !== undefined && html`<p>${emailTexts.undoLeaves} <b>${otherEmail}</b>.</p>`}
${providers === undefined ? passwordForm(layout, view) : entryForm(layout, view, { purpose: 'undo', token })}`,
    })
  }

/** The page in its place while the account is disabled. */
export const createUndoWaitsPage =
  (layout: Layout) =>
  ({ email, expiresAtMs }: UndoWaitsView): string =>
    layout.panel({
      title: emailTexts.undoWaits,
      scripted: true,
      body: html`<p>${emailTexts.undoWaitsFor} <b>${email}</b></p>
<p>${emailTexts.undoWaitsUntil} ${momentOf(expiresAtMs)}.</p>
<p>${layout.support.text(emailTexts.undoWaitsAdvice(layout.appName))}</p>`,
    })
