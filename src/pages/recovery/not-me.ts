import { html } from '../../lib/html.ts'
import { csrfInput, formProblem, tokenInput } from '../form.ts'
import type { Layout } from '../layout.ts'
import { formEnd, wrongFieldOf } from './asked-factor.ts'
import { notMeTexts } from './not-me-texts.ts'
import type { NotMeView } from './views.ts'

/** The page behind "This wasn't me". It names the account and what happened above the button. */
export const createNotMePage =
  (layout: Layout) =>
  (view: NotMeView): string => {
    const { csrfToken, token, email, purpose, provider, problem } = view
    const removes = notMeTexts.removes[purpose]
    return layout.panel({
      title: notMeTexts.title,
      wrong: Boolean(problem ?? wrongFieldOf(view)),
      body: html`${formProblem(problem, layout.support, !wrongFieldOf(view))}
<p>${notMeTexts.account} <b>${email}</b></p>
<p>${notMeTexts.happened[purpose](provider)}</p>
<p>${notMeTexts.about}</p>
<ul class="ends">
${removes && html`<li>${removes(provider)}</li>`}
<li>${notMeTexts.endsSessions}</li>
<li>${layout.passwords ? notMeTexts.asksPassword : notMeTexts.asksProvider}</li>
</ul>
<form method="post" action="/auth/account/not-me" novalidate>
${csrfInput(csrfToken)}${tokenInput(token)}
${formEnd(layout, view, html`<button class="first">${notMeTexts.button}</button>`)}
</form>
<p class="hint">${notMeTexts.otherwise}</p>`,
    })
  }
