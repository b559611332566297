import { type HtmlFragment, html } from '../../lib/html.ts'
import { csrfInput, field, formProblem, ownerInput, tokenInput } from '../form.ts'
import type { Layout } from '../layout.ts'
import { loginLimited } from '../login-limited.ts'
import { entryHref } from '../sign-in-links.ts'
import { texts } from '../texts.ts'
import { emailTexts } from './email-texts.ts'
import type { NewEmailView } from './email-views.ts'

const confirmForm = (view: NewEmailView): HtmlFragment => {
  const { csrfToken, token, email, missing, errors } = view
  const password = field({
    name: 'password',
    label: texts.password,
    type: 'password',
    autocomplete: 'current-password',
    problem: errors.password,
    focused: Boolean(errors.password),
  })
  return html`<form method="post" action="/auth/email/verify" novalidate>
${csrfInput(csrfToken)}${tokenInput(token)}
${missing === 'password' && html`${ownerInput(email)}${password}`}
<button class="first">${emailTexts.confirmButton}</button>
</form>`
}

const toLogin = (email: string): HtmlFragment =>
  html`<div class="steps">
<a class="first" href="${entryHref('/auth/login', undefined, email)}">${texts.logIn}</a>
</div>`

/** The page of a link that confirms a new address. Anybody may have asked for it, so it names the account. */
export const createNewEmailPage =
  (layout: Layout) =>
  (view: NewEmailView): string => {
    const { email, newEmail, missing, problem, errors } = view
    return layout.panel({
      title: emailTexts.confirm,
      wrong: Boolean(problem ?? errors.password),
      scripted: missing === 'password',
      body: html`${formProblem(problem, layout.support, !errors.password)}${loginLimited(layout, view)}
<p>${emailTexts.confirmFor} <b>${email}</b> ${emailTexts.confirmChanges} <b>${newEmail}</b>.</p>
<p>${emailTexts.confirmNotYours}</p>
${missing && html`<p>${missing === 'password' ? emailTexts.confirmByPassword : emailTexts.confirmByLogin}</p>`}
${missing === 'login' ? toLogin(email) : confirmForm(view)}`,
    })
  }

/** The page of a link to an address that another account has by now. */
export const createNewEmailTakenPage =
  (layout: Layout) =>
  ({ email, newEmail }: Pick<NewEmailView, 'email' | 'newEmail'>): string =>
    layout.panel({
      title: emailTexts.taken,
      body: html`<p>${emailTexts.takenAbout} <b>${newEmail}</b>.</p>
<p>${emailTexts.takenLeaves} <b>${email}</b>.</p>
<div class="steps">
<a class="first" href="/auth/account">${emailTexts.toAccount}</a>
</div>`,
    })

/** The page after that. It signs nobody in: who opens the link may be anybody who reads that mail. */
export const createNewEmailConfirmedPage =
  (layout: Layout) =>
  (newEmail: string): string =>
    layout.panel({
      title: emailTexts.confirmed,
      body: html`<p>${layout.passwords ? emailTexts.confirmedIs : emailTexts.confirmedWithoutPassword} <b>${newEmail}</b>.</p>
<div class="steps">
<a class="first" href="/auth/account">${emailTexts.toAccount}</a>
</div>`,
    })
