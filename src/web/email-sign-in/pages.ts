import { t } from '../../languages/texts.ts'
import { type HtmlFragment, html } from '../../lib/html.ts'
import { bold } from '../site/bold.ts'
import type { FieldProblem, FormView } from '../../http/form-view.ts'
import { leavesLine, reclaimConsequences } from '../site/consequences.ts'
import { codeField } from '../site/code-field.ts'
import { csrfInput, field, returnToInput, tokenInput } from '../site/form.ts'
import type { Layout } from '../site/layout.ts'
import { type NameView, nameField } from '../site/person-name.ts'
import { accountLinks, acrInput, entryHref, intentInput } from '../site/providers.ts'

const ASK = '/auth/login/email'
const CODE = '/auth/login/email/code'

const backToLogin = (returnTo: string | undefined, email?: string): HtmlFragment =>
  html`<a href="${entryHref('/auth/login', returnTo, email)}">${t('common.back_to_login')}</a>`

export interface AskForCodeView extends FormView {
  returnTo: string | undefined
  /** This was typed, or carried from the login page. */
  email: string
  errors: { email?: FieldProblem | undefined }
}

/** Creates the page on which a user asks for a code. */
export const createAskForCodePage =
  (layout: Layout) =>
  ({ csrfToken, returnTo, email, errors, problem }: AskForCodeView): string =>
    layout.panel({
      title: t('email_sign_in.ask_title'),
      wrong: Boolean(problem ?? errors.email),
      problem,
      focusesProblem: !errors.email,
      below: backToLogin(returnTo, email),
      body: html`<p>${t('email_sign_in.ask')}</p>
<form method="post" action="${ASK}" novalidate>
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
<button class="svc-button first">${t('email_sign_in.send')}</button>
</form>`,
    })

export interface TypeCodeView extends FormView {
  /** This is the text that was typed; it is shown, and sent back with the code. */
  email: string
  returnTo: string | undefined
  /** This tells whether the code makes an account, if the address has none. */
  signupOpen: boolean
  /** The user of a session signs in again, for this. */
  confirms?: { acr: string | undefined } | undefined
  /** This tells whether the message was asked for just now: then the page offers another one after half a minute. */
  isNew: boolean
  /** It is the text that was typed, if it was right and something else is missing. */
  code?: string | undefined
  /** An account that is made needs a name. */
  name?: NameView | undefined
  errors: { code?: FieldProblem | undefined; name?: FieldProblem | undefined }
}

const fieldsOf = ({ errors, problem, code, name }: TypeCodeView): HtmlFragment =>
  html`${codeField({
    hint: t('email_sign_in.code_hint'),
    problem: errors.code,
    focused: !problem && !errors.name,
    ...(code !== undefined && { value: code }),
  })}${
    name &&
    html`
${nameField({ ...name, problem: errors.name }, Boolean(errors.name))}`
  }`

const hiddenInputs = ({ csrfToken, email, returnTo, confirms }: TypeCodeView): HtmlFragment =>
  html`${csrfInput(csrfToken)}<input type="hidden" name="email" value="${email}">${returnToInput(returnTo)}${confirms && html`${intentInput('confirm')}${acrInput(confirms.acr)}`}`

/**
 * Creates the page on which a user types the code. It is the same whether or not the address has an account, and one
 * was sent.
 */
export const createTypeCodePage =
  (layout: Layout) =>
  (view: TypeCodeView): string => {
    const { email, returnTo, confirms, signupOpen, isNew, errors, problem } = view
    const hidden = hiddenInputs(view)
    const text = t.html(confirms ? 'email_sign_in.sent_confirm' : 'email_sign_in.sent', { email: bold(email) })
    return layout.panel({
      title: t('check_mail.title'),
      wrong: Boolean(problem ?? errors.code ?? errors.name),
      problem,
      focusesProblem: true,
      below: confirms
        ? accountLinks()
        : html`<a href="${entryHref(ASK, returnTo)}">${t('email_sign_in.other_address')}</a> · ${backToLogin(returnTo, email)}`,
      body: html`<p role="status">${text}</p>
<form method="post" action="${CODE}" novalidate>
${hidden}
${fieldsOf(view)}
${!confirms && signupOpen && layout.agreement()}<button class="svc-button first">${t(confirms ? 'common.confirm' : 'login.title')}</button>
</form>
<p class="about">${t.html(confirms ? 'check_mail.nothing' : 'email_sign_in.link_too', { support: layout.support.sentence() })}</p>
<form class="${isNew && 'later'}" method="post" action="${ASK}">
${hidden}
<button class="svc-button second">${t('email_sign_in.send_another')}</button>
</form>`,
    })
  }

export interface SignInLinkView extends FormView {
  token: string
  /** This is the address of the account, or of the one that is made. */
  email: string
  /** `own`: it has asked for the link. `other`: another one has. `operator`: no browser has. */
  browser: 'own' | 'other' | 'operator'
  /** The address has no account yet. */
  makesAccount: boolean
  /** Nobody has proved the address before, and what others have set up goes. */
  reclaims: boolean
  /** This is the address of another account that is signed in in this browser. */
  otherEmail: string | undefined
  /** An account that is entered for the first time has a field for it. */
  name?: NameView | undefined
  errors: { name?: FieldProblem | undefined }
}

const aboutLink = ({ email, browser, makesAccount }: SignInLinkView, { appName: app }: Layout): HtmlFragment => {
  const who = { email: bold(email), app }
  if (makesAccount) return t.html('email_sign_in.link.new', who)
  return t.html(`email_sign_in.link.${browser}`, who)
}

/** Creates the page of a link that signs in. Opening it signs nobody in: mail scanners do so, and strangers send links. */
export const createSignInLinkPage =
  (layout: Layout) =>
  (view: SignInLinkView): string => {
    const { csrfToken, token, browser, makesAccount, otherEmail, reclaims, name, errors, problem } = view
    return layout.panel({
      title: t(makesAccount ? 'signup.title' : browser === 'own' ? 'login.title' : 'email_sign_in.link.title'),
      sign: name ? undefined : 'mail',
      wrong: Boolean(problem ?? errors.name),
      problem,
      focusesProblem: !errors.name,
      below: html`${t('email_sign_in.not_yours')}`,
      body: html`<p>${aboutLink(view, layout)}</p>
${leavesLine(otherEmail)}
${
  reclaims &&
  html`<div>
<p>${t('email_sign_in.reclaims')}</p>
${reclaimConsequences(layout)}
</div>`
}
<form method="post" action="/auth/login/email/link" novalidate>
${csrfInput(csrfToken)}${tokenInput(token)}
${
  name &&
  html`${nameField({ ...name, problem: errors.name }, Boolean(errors.name))}
`
}${makesAccount && layout.agreement()}<button class="svc-button first">${t(makesAccount ? 'signup.button' : 'login.title')}</button>
</form>`,
    })
  }

/** Creates the page of an account with a passkey, in a browser that it does not know: a code or a link is not enough. */
export const createPasskeyNeededPage =
  (layout: Layout) =>
  ({ email }: { email: string }): string =>
    layout.panel({
      title: t('email_sign_in.passkey_title'),
      sign: 'key',
      body: html`<p>${t.html('email_sign_in.passkey', { email: bold(email) })}</p>
<a class="svc-button first" href="${entryHref('/auth/login', undefined, email)}">${t('login.title')}</a>
<p class="about">${t.html('email_sign_in.passkey_lost', { support: layout.support.sentence() })}</p>`,
    })
