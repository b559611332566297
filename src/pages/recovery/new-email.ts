import { html } from '../../lib/html.ts'
import { csrfInput, tokenInput } from '../form.ts'
import type { Layout } from '../layout.ts'
import { emailTexts } from './email-texts.ts'
import type { NewEmailView } from './email-views.ts'

/** The page of a link that confirms a new address. Anybody may have asked for it, so it names the account. */
export const createNewEmailPage =
  (layout: Layout) =>
  ({ csrfToken, token, email, newEmail }: NewEmailView): string =>
    layout.panel({
      title: emailTexts.confirm,
      body: html`<p>${emailTexts.confirmFor} <b>${email}</b> ${emailTexts.confirmChanges} <b>${newEmail}</b>.</p>
<p>${emailTexts.confirmNotYours}</p>
<form method="post" action="/auth/email/verify">
${csrfInput(csrfToken)}${tokenInput(token)}
<button class="first">${emailTexts.confirmButton}</button>
</form>`,
    })

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
