import { t } from '../../languages/texts.ts'
import type { AskedFactorView } from '../sign-in/asked-factor.ts'
import { type HtmlFragment, html } from '../../lib/html.ts'
import { bold } from '../site/bold.ts'
import type { FieldProblem, FormView } from '../../http/form-view.ts'
import { accessEnds, consequences, leavesLine } from '../site/consequences.ts'
import { chosenPassword, csrfInput, field, ownerInput, tokenInput } from '../site/form.ts'
import type { Layout } from '../site/layout.ts'
import { loginLimited } from '../site/login-limited.ts'
import { entryHref } from '../site/providers.ts'
import type { ProviderView } from '../../http/services.ts'
import { momentOf } from '../site/time-text.ts'
import {
  type LinkFormErrors,
  entryForm,
  formEnd,
  passkeyAlone,
  signOf,
  usesPasskeys,
  wrongFieldOf,
} from './asked-factor-fields.ts'

const confirmForm = (view: NewEmailView): HtmlFragment => {
  const { csrfToken, token, email, missing, errors } = view
  const password = field({
    name: 'password',
    label: t('field.password'),
    type: 'password',
    autocomplete: 'current-password',
    problem: errors.password,
    focused: Boolean(errors.password),
  })
  return html`<form method="post" action="/auth/email/verify" novalidate>
${csrfInput(csrfToken)}${tokenInput(token)}
${missing === 'password' && html`${ownerInput(email)}${password}`}
<button class="svc-button first">${t('new_email.button')}</button>
</form>`
}

const toLogin = (email: string): HtmlFragment =>
  html`<div class="steps">
<a class="svc-button first" href="${entryHref('/auth/login', undefined, email)}">${t('login.title')}</a>
</div>`

/** Creates the page of a link that confirms a new address. Anybody may have asked for it, so it names the account. */
export const createNewEmailPage =
  (layout: Layout) =>
  (view: NewEmailView): string => {
    const { email, newEmail, missing, problem, errors } = view
    return layout.panel({
      title: t('new_email.title'),
      sign: missing === 'password' ? undefined : 'mail',
      wrong: Boolean(problem ?? errors.password),
      problem,
      focusesProblem: !errors.password,
      body: html`${loginLimited(layout, view)}
<p>${t.html('new_email.about', { email: bold(email), new_email: bold(newEmail) })}</p>
<p>${t('new_email.not_yours')}</p>
${missing && html`<p>${t(`new_email.by_${missing}`)}</p>`}
${missing === 'login' ? toLogin(email) : confirmForm(view)}`,
    })
  }

/** This page is shown if another account has taken the address by now. */
export const createNewEmailTakenPage =
  (layout: Layout) =>
  ({ email, newEmail }: Pick<NewEmailView, 'email' | 'newEmail'>): string =>
    layout.panel({
      title: t('new_email.taken_title'),
      sign: 'info',
      body: html`<p>${t.html('new_email.taken', { email: bold(email), new_email: bold(newEmail) })}</p>
<div class="steps">
<a class="svc-button first" href="/auth/account">${t('common.to_account')}</a>
</div>`,
    })

/** This page comes after that. It signs nobody in: anybody who reads that mail may open the link. */
export const createNewEmailConfirmedPage =
  (layout: Layout) =>
  (newEmail: string): string =>
    layout.panel({
      title: t('new_email.done_title'),
      sign: 'check',
      body: html`<p>${t.html(layout.passwords ? 'new_email.done' : 'new_email.done_passwordless', { email: bold(newEmail) })}</p>
<div class="steps">
<a class="svc-button first" href="/auth/account">${t('common.to_account')}</a>
</div>`,
    })

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
${formEnd(layout, view, html`<button class="svc-button first">${t('undo_email.button')}</button>`)}
</form>`
}

/**
 * Creates the page of a link that undoes a change of address. It names the address that the account has afterwards, and
 * asks for a new password or, if there are no passwords, for a provider.
 */
export const createUndoEmailPage =
  (layout: Layout) =>
  (view: UndoEmailView): string => {
    const { token, email, newEmail, otherEmail, problem, providers } = view
    return layout.panel({
      title: t('undo_email.title'),
      sign: signOf(view, providers === undefined),
      wrong: Boolean(problem ?? wrongFieldOf(view)),
      problem,
      focusesProblem: !wrongFieldOf(view),
      passkeys: usesPasskeys(layout, view),
      body:
        passkeyAlone(view, 'undo_email.by_passkey') ??
        html`<p>${t.html('undo_email.about', { email: bold(email), new_email: bold(newEmail) })}</p>
${consequences([
  ...accessEnds(layout),
  t('undo_email.ends_added'),
  t(providers === undefined ? 'link.ends_password' : 'undo_email.ends_choose'),
])}
${leavesLine(otherEmail)}
${providers === undefined ? passwordForm(layout, view) : entryForm(layout, view, { purpose: 'undo', token })}`,
    })
  }

/** This page takes its place while the account is disabled. */
export const createUndoWaitsPage =
  (layout: Layout) =>
  ({ email, expiresAtMs }: UndoWaitsView): string =>
    layout.panel({
      title: t('undo_email.waits_title'),
      sign: 'clock',
      body: html`<p>${t.html('undo_email.waits', { email: bold(email), time: momentOf(expiresAtMs) })}</p>
<p>${t.html('undo_email.waits_support', { support: layout.support.sentence() })}</p>`,
    })

export interface NewEmailView extends FormView {
  token: string
  /** This is the address of the account. */
  email: string
  newEmail: string
  /** A press in this browser, which did not ask for the link, needs this: a login if the account has no password. */
  missing: 'password' | 'login' | undefined
  errors: { password?: FieldProblem | undefined }
}

/** This is a link that undoes a change of address, while the account is disabled. */
export interface UndoWaitsView {
  /** The account has this address afterwards. */
  email: string
  expiresAtMs: number
}

export interface UndoEmailView extends FormView {
  token: string
  /** The account has this address afterwards. */
  email: string
  /** This is the address that was asked for. */
  newEmail: string
  /** This is the address of another account that is signed in in this browser. */
  otherEmail: string | undefined
  /** One of these is connected to the account, if the service accepts no passwords. */
  providers: readonly ProviderView[] | undefined
  factor?: AskedFactorView | undefined
  errors: LinkFormErrors
}
