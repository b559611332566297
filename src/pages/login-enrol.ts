import { html } from '../lib/html.ts'
import { csrfInput, formProblem, ownerInput, returnToInput } from './form.ts'
import type { Layout } from './layout.ts'
import { enrolTexts as words } from './login-code-texts.ts'
import { passkeyButton } from './passkey-button.ts'
import { setUpSteps } from './second-factor/set-up-steps.ts'
import type { SetUpView } from './second-factor/views.ts'
import { entryHref } from './sign-in-links.ts'
import type { FormView } from './views.ts'

/** What a user sets up before they go on. */
export interface LoginEnrolView extends FormView {
  email: string
  returnTo: string | undefined
  setUp: SetUpView
}

const ACTION = '/auth/login/enrol'

/** The page that has a user set up a second factor, or a passkey, before the login goes on. */
export const createLoginEnrolPage =
  (layout: Layout) =>
  (view: LoginEnrolView): string => {
    const { csrfToken, returnTo, email, setUp, problem } = view
    const hiddenInputs = html`${csrfInput(csrfToken)}${returnToInput(returnTo)}${ownerInput(email)}`
    return layout.panel({
      title: words.title,
      wrong: Boolean(problem ?? setUp.error),
      passkeys: layout.passkeys,
      below: html`<a href="${entryHref('/auth/login', returnTo)}">${words.other}</a>`,
      body: html`${formProblem(problem, layout.support, !setUp.error)}
<p>${words.about(layout.appName)} ${words.loggingInAs} <b>${email}</b>.</p>
<details>
<summary class="quiet">${words.helpTitle}</summary>
<p class="about">${layout.support.text(words.help(layout.appName))}</p>
</details>
${
  layout.passkeys &&
  html`<h2>${words.byPasskey}</h2>
<p class="about">${words.byPasskeyAbout}</p>
${passkeyButton({ kind: 'add', csrfToken, hasOthers: true })}`
}
<h2>${words.byApp}</h2>
${setUpSteps(setUp, { action: ACTION, hiddenInputs })}`,
    })
  }
