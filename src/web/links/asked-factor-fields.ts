import { t } from '../../languages/texts.ts'
import type { AskedFactorView } from '../sign-in/asked-factor.ts'
import { type HtmlFragment, html } from '../../lib/html.ts'
import { bold } from '../site/bold.ts'
import { type CodeErrors, type TakenCodes, codeEntry, codeProblemOf } from '../site/code-field.ts'
import type { FieldProblem } from '../../http/form-view.ts'
import { csrfInput, fieldProblemText } from '../site/form.ts'
import type { Layout } from '../site/layout.ts'
import type { IconName } from '../site/icon.ts'
import { passkeyButton } from '../site/passkey-button.ts'
import { type EntryLink, entryButtons, entryInputs, orLine, providerSubmits } from '../site/providers.ts'
import type { ProviderView } from '../../http/services.ts'

/** These are the errors in the form of a link. */
export type LinkFormErrors = CodeErrors & { password?: FieldProblem | undefined }

interface AskingForm {
  csrfToken: string
  factor?: AskedFactorView | undefined
  errors: LinkFormErrors
}

/** Tells whether the page needs the script of passkeys. */
export const usesPasskeys = (layout: Layout, { factor, providers }: Pick<EntryForm, 'factor' | 'providers'>): boolean =>
  layout.passkeys && (providers !== undefined || (factor?.passkeys ?? false))

const takesCode = ({ codes, recoveryCodes }: AskedFactorView): boolean => codes || recoveryCodes

/** Finds the sign of the page of a link: without a field, its one button leads elsewhere or is about the account. */
export const signOf = ({ factor }: Pick<AskingForm, 'factor'>, hasField: boolean): IconName | undefined =>
  hasField || (factor && takesCode(factor)) ? undefined : 'key'

/** Finds the field of the form that is wrong, if one is. */
export const wrongFieldOf = ({ errors }: Pick<AskingForm, 'errors'>): FieldProblem | undefined =>
  errors.password ?? codeProblemOf(errors)

const takenBy = ({ codes, recoveryCodes }: AskedFactorView): TakenCodes => {
  if (codes) return recoveryCodes ? 'both' : 'codes'
  return 'recovery_codes'
}

const askedCode = (factor: AskedFactorView, { errors }: AskingForm): HtmlFragment =>
  codeEntry({ takes: takenBy(factor), errors, focused: !errors.password && Boolean(codeProblemOf(errors)) })

/** Says what is wrong with a passkey, if no field stands above its button. */
const passkeyProblem = ({ errors }: AskingForm): HtmlFragment | undefined => {
  const problem = codeProblemOf(errors)
  return typeof problem === 'string'
    ? html`<p class="problem" role="alert" id="passkey-problem" tabindex="-1"${!errors.password && html` autofocus`}>${fieldProblemText(problem === 'code_missing' ? 'passkey_missing' : problem)}</p>`
    : undefined
}

/**
 * Makes the end of the form of a link: the second factor that it asks for, and its buttons. If there are passkeys and
 * nothing else, their button is the single one.
 */
export const formEnd = (layout: Layout, form: AskingForm, buttons: HtmlFragment | undefined): HtmlFragment => {
  const { factor, csrfToken } = form
  if (!factor) return html`${buttons}`
  const hasOthers = takesCode(factor)
  const passkey =
    layout.passkeys &&
    factor.passkeys &&
    passkeyButton({
      kind: 'fill',
      csrfToken,
      hasOthers,
      isMain: !hasOthers,
      before: hasOthers && orLine(),
      ...(!hasOthers && { label: t('link.factor.passkey') }),
    })
  return html`<p class="about">${t('link.factor.about')}</p>
${hasOthers ? askedCode(factor, form) : passkeyProblem(form)}
${hasOthers && buttons}
${passkey}
<p class="hint">${t.html('link.factor.lost', { support: layout.support.sentence() })}</p>`
}

/**
 * If users have no passwords and the account asks for a passkey, the link does nothing: the user logs in with it. Says
 * what to do then, in place of all that the link would do.
 */
export const passkeyAlone = (
  { factor, providers, email }: Pick<EntryForm, 'factor' | 'providers'> & { email: string },
  about: 'reset.by_passkey' | 'undo_email.by_passkey',
): HtmlFragment | undefined =>
  providers === undefined || !factor || takesCode(factor)
    ? undefined
    : html`<p>${t.html(about, { email: bold(email) })}</p>
<a class="svc-button first" href="/auth/login">${t('login.title')}</a>`

type EntryForm = AskingForm & { providers: readonly ProviderView[] | undefined }

/**
 * Makes the same for the page of a link if users have no passwords: one form has the buttons to add a passkey and of
 * the providers, and the fields that it asks for. Where users sign in by mail, they may go on without either.
 */
export const entryForm = (layout: Layout, form: EntryForm, entry: EntryLink) => {
  const { csrfToken, factor, providers = [] } = form
  const passkey = layout.passkeys && passkeyEntry(layout, form, entry)
  const start = html`<form method="post" action="${entry.purpose === 'undo' ? '/auth/email/undo' : '/auth/password/reset'}" novalidate>
${csrfInput(csrfToken)}${entryInputs(entry)}`
  const proceed = layout.emailSignIn && html`<button class="svc-button first">${t('common.continue')}</button>`
  const line = proceed && (passkey !== false || providers.length > 0) && orLine()
  if (!factor)
    return html`${
      proceed &&
      html`${start}
${proceed}
</form>
${line}`
    }${passkey}${entryButtons(form, entry)}`
  return html`${start}
<p class="about">${t('link.factor.about')}</p>
${askedCode(factor, form)}
${proceed}${line}${passkey}${providerSubmits(providers)}
<p class="hint">${t.html('link.factor.lost', { support: layout.support.sentence() })}</p>
</form>`
}

/** The button adds a new passkey, which logs the user in at once. */
const passkeyEntry = (
  { emailSignIn }: Layout,
  { csrfToken, providers = [] }: Pick<EntryForm, 'csrfToken' | 'providers'>,
  link: EntryLink,
): HtmlFragment =>
  html`${passkeyButton({
    kind: 'add',
    csrfToken,
    label: t('passkeys.add_and_log_in'),
    link,
    isMain: !emailSignIn,
    hasOthers: emailSignIn || providers.length > 0,
  })}${!emailSignIn && providers.length > 0 && orLine()}`
