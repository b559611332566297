import { perLanguage } from '../../languages/language.ts'
import { t } from '../../languages/texts.ts'
import type { AskedFactorView } from '../sign-in/asked-factor.ts'
import { type HtmlFragment, html } from '../../lib/html.ts'
import { bold } from '../site/bold.ts'
import type { FieldProblem, FormView } from '../../http/form-view.ts'
import { leavesLine, withApplications } from '../site/consequences.ts'
import { chosenPassword, csrfInput, field, ownerInput, returnToInput, tokenInput } from '../site/form.ts'
import type { Layout } from '../site/layout.ts'
import { entryHref } from '../site/providers.ts'
import type { ProviderView } from '../../http/services.ts'
import {
  type LinkFormErrors,
  entryForm,
  formEnd,
  passkeyAlone,
  signOf,
  usesPasskeys,
  wrongFieldOf,
} from './asked-factor-fields.ts'

export interface ForgotPasswordView extends FormView {
  returnTo: string | undefined
  /** This was typed, or carried from the login page. */
  email: string
  errors: { email?: FieldProblem | undefined }
}

/** If users have no passwords, a link leads back into the account. */
const askTitle = ({ passwords }: Layout): string => t(passwords ? 'reset.ask_title' : 'login.forgot_passwordless')

/** Creates the page on which a user asks for a link to a new password. */
export const createForgotPasswordPage =
  (layout: Layout) =>
  ({ csrfToken, returnTo, email, errors, problem }: ForgotPasswordView): string =>
    layout.panel({
      title: askTitle(layout),
      wrong: Boolean(problem ?? errors.email),
      problem,
      focusesProblem: !errors.email,
      below: html`<a href="${entryHref('/auth/login', returnTo, email)}">${t('common.back_to_login')}</a>`,
      body: html`<p>${t('reset.ask')}</p>
<form method="post" action="/auth/password/forgot" novalidate>
${csrfInput(csrfToken)}${returnToInput(returnTo)}
${field({
  name: 'email',
  label: t('field.email'),
  type: 'email',
  autocomplete: 'username',
  value: email,
  maxLength: 254,
  problem: errors.email,
  focused: !problem || Boolean(errors.email),
})}
<button class="svc-button first">${t('check_mail.send_link')}</button>
</form>`,
    })

/** This page follows. It is the same whether or not there is an account. */
export const createLinkSentPage = (layout: Layout): (() => string) =>
  perLanguage(() => {
    const page = layout.panel({
      title: t('check_mail.title'),
      sign: 'mail',
      below: html`<a href="/auth/login">${t('common.back_to_login')}</a>`,
      body: html`<p>${t(layout.passwords ? 'reset.sent' : 'reset.sent_passwordless')}</p>
<p class="about">${t.html('reset.nothing', { support: layout.support.sentence() })}</p>
<a class="svc-button second" href="/auth/password/forgot">${t('reset.try_again')}</a>`,
    })
    return () => page
  })

/** This replaces the page while no mail is sent: it says whom to ask. */
export const createForgotWithoutMailPage = (layout: Layout): (() => string) => {
  const key = layout.passwords ? 'reset.without_mail' : 'reset.without_mail_or_passwords'
  return () =>
    layout.panel({
      title: askTitle(layout),
      sign: 'info',
      body: html`<p>${t.html(key, { support: layout.support.sentence() })}</p>
<a class="svc-button first" href="/auth/login">${t('common.back_to_login')}</a>`,
    })
}

export interface ResetPasswordView extends FormView {
  token: string
  /** This is the address of the account. */
  email: string
  /** This is the address of another account that is signed in in this browser. */
  otherEmail: string | undefined
  /** One of these is connected to the account, if the service accepts no passwords. */
  providers: readonly ProviderView[] | undefined
  factor?: AskedFactorView | undefined
  errors: LinkFormErrors
}

const passwordForm = (layout: Layout, view: ResetPasswordView): HtmlFragment => {
  const { csrfToken, token, email, errors, problem } = view
  return html`<form method="post" action="/auth/password/reset" novalidate>
${csrfInput(csrfToken)}${tokenInput(token)}
${ownerInput(email)}
${chosenPassword({
  problem: errors.password,
  focused: Boolean(errors.password) || !(problem ?? wrongFieldOf(view)),
  minLength: layout.passwordMinLength,
})}
${formEnd(layout, view, html`<button class="svc-button first">${t('common.save_and_log_in')}</button>`)}
</form>`
}

/**
 * Creates the page of a link that sets a new password, or connects a provider if there are no passwords. It names the
 * account above the buttons.
 */
export const createResetPasswordPage = (layout: Layout) => {
  const [title, about] = layout.passwords
    ? (['reset.title', 'reset.about'] as const)
    : (['reset.title_passwordless', 'reset.about_passwordless'] as const)
  return (view: ResetPasswordView): string => {
    const { email, otherEmail, providers, problem } = view
    const hasPasswords = providers === undefined
    return layout.panel({
      title: t(title),
      sign: signOf(view, hasPasswords),
      wrong: Boolean(problem ?? wrongFieldOf(view)),
      problem,
      focusesProblem: !wrongFieldOf(view),
      passkeys: usesPasskeys(layout, view),
      body:
        passkeyAlone(view, 'reset.by_passkey') ??
        html`<p>${withApplications(layout, t.html(about, { email: bold(email) }))}</p>
${leavesLine(otherEmail)}
${hasPasswords ? passwordForm(layout, view) : entryForm(layout, view, { purpose: 'reset', token: view.token })}`,
    })
  }
}
