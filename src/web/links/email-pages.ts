import type { AskedFactorView } from '../sign-in/asked-factor.ts'
import { type HtmlFragment, html } from '../../lib/html.ts'
import type { FieldProblem, FormView } from '../../http/form-view.ts'
import { chosenPassword, csrfInput, field, ownerInput, tokenInput } from '../site/form.ts'
import type { Layout } from '../site/layout.ts'
import { loginLimited } from '../site/login-limited.ts'
import { entryHref } from '../site/providers.ts'
import type { ProviderView } from '../../http/services.ts'
import { texts } from '../site/texts.ts'
import { momentOf } from '../site/time-text.ts'
import { type LinkFormErrors, entryForm, formEnd, signOf, usesPasskeys, wrongFieldOf } from './asked-factor-fields.ts'

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

/** Creates the page of a link that confirms a new address. Anybody may have asked for it, so it names the account. */
export const createNewEmailPage =
  (layout: Layout) =>
  (view: NewEmailView): string => {
    const { email, newEmail, missing, problem, errors } = view
    return layout.panel({
      title: emailTexts.confirm,
      sign: missing === 'password' ? undefined : 'mail',
      wrong: Boolean(problem ?? errors.password),
      problem,
      focusesProblem: !errors.password,
      body: html`${loginLimited(layout, view)}
<p>${emailTexts.confirmFor} <b>${email}</b> ${emailTexts.confirmChanges} <b>${newEmail}</b>.</p>
<p>${emailTexts.confirmNotYours}</p>
${missing && html`<p>${missing === 'password' ? emailTexts.confirmByPassword : emailTexts.confirmByLogin}</p>`}
${missing === 'login' ? toLogin(email) : confirmForm(view)}`,
    })
  }

/** This page is shown if another account has taken the address by now. */
export const createNewEmailTakenPage =
  (layout: Layout) =>
  ({ email, newEmail }: Pick<NewEmailView, 'email' | 'newEmail'>): string =>
    layout.panel({
      title: emailTexts.taken,
      sign: 'info',
      body: html`<p>${emailTexts.takenAbout} <b>${newEmail}</b>.</p>
<p>${emailTexts.takenLeaves} <b>${email}</b>.</p>
<div class="steps">
<a class="first" href="/auth/account">${emailTexts.toAccount}</a>
</div>`,
    })

/** This page comes after that. It signs nobody in: anybody who reads that mail may open the link. */
export const createNewEmailConfirmedPage =
  (layout: Layout) =>
  (newEmail: string): string =>
    layout.panel({
      title: emailTexts.confirmed,
      sign: 'check',
      body: html`<p>${layout.passwords ? emailTexts.confirmedIs : emailTexts.confirmedWithoutPassword} <b>${newEmail}</b>.</p>
<div class="steps">
<a class="first" href="/auth/account">${emailTexts.toAccount}</a>
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
${formEnd(layout, view, html`<button class="first">${emailTexts.undoButton}</button>`)}
</form>`
}

const endsOf = ({ providers }: UndoEmailView): readonly string[] =>
  providers === undefined ? emailTexts.undoEnds : [...emailTexts.undoEnds.slice(0, -1), emailTexts.undoConnects]

/**
 * Creates the page of a link that undoes a change of address. It names the address that the account has afterwards, and
 * asks for a new password or, if there are no passwords, for a provider.
 */
export const createUndoEmailPage =
  (layout: Layout) =>
  (view: UndoEmailView): string => {
    const { token, email, newEmail, otherEmail, problem, providers } = view
    return layout.panel({
      title: emailTexts.undo,
      sign: signOf(view, providers === undefined),
      wrong: Boolean(problem ?? wrongFieldOf(view)),
      problem,
      focusesProblem: !wrongFieldOf(view),
      passkeys: usesPasskeys(layout, view),
      body: html`<p>${emailTexts.undoFor} <b>${email}</b>. ${emailTexts.undoOf} <b>${newEmail}</b>:</p>
<ul class="ends">
${endsOf(view).map(
  (line) => html`<li>${line}</li>
`,
)}</ul>
${otherEmail !== undefined && html`<p>${emailTexts.undoLeaves} <b>${otherEmail}</b>.</p>`}
${providers === undefined ? passwordForm(layout, view) : entryForm(layout, view, { purpose: 'undo', token })}`,
    })
  }

/** This page takes its place while the account is disabled. */
export const createUndoWaitsPage =
  (layout: Layout) =>
  ({ email, expiresAtMs }: UndoWaitsView): string =>
    layout.panel({
      title: emailTexts.undoWaits,
      sign: 'clock',
      body: html`<p>${emailTexts.undoWaitsFor} <b>${email}</b></p>
<p>${emailTexts.undoWaitsUntil} ${momentOf(expiresAtMs)}.</p>
<p>${layout.support.text(emailTexts.undoWaitsAdvice(layout.appName))}</p>`,
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

const emailTexts = {
  confirm: 'Confirm your new email address',
  confirmFor: 'The account',
  confirmChanges: 'changes its email address to',
  confirmNotYours: 'If this account is not yours, close this page: nothing changes then.',
  confirmButton: 'Use the new address',
  /** This is shown in another browser than the one that asked for the change. */
  confirmByPassword:
    'You have opened the link in another browser than the one that asked for it. To confirm, enter the password of this account.',
  confirmByLogin:
    'You have opened the link in another browser than the one that asked for it. To confirm, log in to this account here, and open the link again.',

  confirmed: 'Your email address was changed',
  confirmedIs: 'From now on you log in with',
  confirmedWithoutPassword: 'Your account has the address',
  toAccount: 'Go to your account',

  taken: 'This address is taken',
  takenAbout: 'Another account has this address by now:',
  takenLeaves: 'Nothing was changed. Your account still has',

  undo: 'Keep your email address',
  undoFor: 'This is for the account whose address is, or was,',
  undoOf: 'It undoes the change to',
  undoEnds: [
    'The account has your address again.',
    'Every device that is logged in is logged out.',
    'Whatever was connected to the account since the change was asked for is disconnected.',
    'Your new password replaces the old one, which someone else may know.',
  ],
  /** This replaces the last text if users have no passwords. */
  undoConnects: 'What you choose here gets you in from now on.',
  undoLeaves: 'You are logged in here with another account, which this logs out:',
  undoButton: 'Undo the change and log in',

  undoWaits: 'This account is disabled',
  undoWaitsFor: 'So nothing can be changed now, and nothing was. This is about the account whose address is, or was,',
  undoWaitsUntil: 'Once the account is enabled again, the link in your message works, until',
  undoWaitsAdvice: (appName: string): string => `To have it enabled, ask whoever runs ${appName}.`,
} as const
