import { type HtmlFragment, html } from '../../lib/html.ts'
import { chosenPassword } from '../chosen-fields.ts'
import { csrfInput, formProblem, ownerInput, tokenInput } from '../form.ts'
import type { Layout } from '../layout.ts'
import { formEnd, usesPasskeys, wrongFieldOf } from './asked-factor.ts'
import { notMeTexts } from './not-me-texts.ts'
import type { NotMeView } from './views.ts'

const nextStep = ({ passwords }: Layout, { setsPassword }: NotMeView): string => {
  if (setsPassword) return notMeTexts.setsPassword
  return passwords ? notMeTexts.asksPassword : notMeTexts.asksProvider
}

const passwordField = ({ passwordMinLength }: Layout, { email, errors }: NotMeView): HtmlFragment =>
  html`${ownerInput(email)}
${chosenPassword({ problem: errors.password, focused: Boolean(errors.password), minLength: passwordMinLength })}`

/** The page behind "This wasn't me". It names the account and what happened above the button. */
export const createNotMePage =
  (layout: Layout) =>
  (view: NotMeView): string => {
    const { csrfToken, token, email, purpose, provider, setsPassword, otherEmail, problem } = view
    const removes = notMeTexts.removes[purpose]
    const button = setsPassword ? notMeTexts.buttonWithPassword : notMeTexts.button
    return layout.panel({
      title: notMeTexts.title,
      wrong: Boolean(problem ?? wrongFieldOf(view)),
      scripted: setsPassword,
      passkeys: usesPasskeys(layout, { ...view, providers: undefined }),
      body: html`${formProblem(problem, layout.support, !wrongFieldOf(view))}
<p>${notMeTexts.account} <b>${email}</b></p>
<p>${notMeTexts.happened[purpose](provider)}</p>
<p>${notMeTexts.about}</p>
<ul class="ends">
${removes && html`<li>${removes(provider)}</li>`}
<li>${notMeTexts.endsSessions}</li>
<li>${nextStep(layout, view)}</li>
</ul>
${otherEmail !== undefined && html`<p>${notMeTexts.leaves} <b>${otherEmail}</b>.</p>`}
<form method="post" action="/auth/account/not-me" novalidate>
${csrfInput(csrfToken)}${tokenInput(token)}
${setsPassword && passwordField(layout, view)}
${formEnd(layout, view, html`<button class="first">${button}</button>`)}
</form>
<p class="hint">${notMeTexts.otherwise}</p>`,
    })
  }
