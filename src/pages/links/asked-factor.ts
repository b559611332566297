import { type HtmlFragment, html } from '../../lib/html.ts'
import { type CodeErrors, type TakenCodes, codeEntry, codeProblemOf } from '../site/code-field.ts'
import type { FieldProblem } from '../site/form-view.ts'
import { csrfInput } from '../site/form.ts'
import type { Layout } from '../site/layout.ts'
import { passkeyButton } from '../site/passkey-button.ts'
import { passkeyTexts } from '../site/passkey-texts.ts'
import {
  type EntryLink,
  type ProviderView,
  entryButtons,
  entryInputs,
  orLine,
  providerIcon,
  providerPath,
} from '../site/providers.ts'
import { texts } from '../site/texts.ts'

/** The second factor that the page of a link asks for. */
export interface AskedFactorView {
  /** Of an authenticator app. */
  codes: boolean
  recoveryCodes: boolean
  passkeys: boolean
}

/** What the form of a link got wrong. */
export type LinkFormErrors = CodeErrors & { password?: FieldProblem | undefined }

interface AskingForm {
  csrfToken: string
  factor?: AskedFactorView | undefined
  errors: LinkFormErrors
}

/** Whether the page needs the script of passkeys. */
export const usesPasskeys = (layout: Layout, { factor, providers }: Pick<EntryForm, 'factor' | 'providers'>): boolean =>
  layout.passkeys && (providers !== undefined || (factor?.passkeys ?? false))

const takesCode = ({ codes, recoveryCodes }: AskedFactorView): boolean => codes || recoveryCodes

/** Which field of the form is wrong, if one is. */
export const wrongFieldOf = ({ errors }: Pick<AskingForm, 'errors'>): FieldProblem | undefined =>
  errors.password ?? codeProblemOf(errors)

const takenBy = ({ codes, recoveryCodes }: AskedFactorView): TakenCodes => {
  if (codes) return recoveryCodes ? 'both' : 'codes'
  return 'recovery_codes'
}

const askedCode = (factor: AskedFactorView, { errors }: AskingForm): HtmlFragment =>
  codeEntry({ takes: takenBy(factor), errors, focused: !errors.password && Boolean(codeProblemOf(errors)) })

/** What is wrong with a passkey, where no field stands above its button. */
const passkeyProblem = ({ errors }: AskingForm): HtmlFragment | undefined => {
  const problem = codeProblemOf(errors)
  return typeof problem === 'string'
    ? html`<p class="problem" role="alert" id="passkey-problem" tabindex="-1"${!errors.password && html` autofocus`}>${texts.fieldProblems[problem]}</p>`
    : undefined
}

/**
 * The end of the form of a link: the second factor that it asks for, and its buttons. Where passkeys are all that there
 * is, their button is the only one.
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
      ...(!hasOthers && { label: askedFactorTexts.saveByPasskey }),
    })
  return html`<p class="about">${askedFactorTexts.about}</p>
${hasOthers ? askedCode(factor, form) : passkeyProblem(form)}
${hasOthers && buttons}
${passkey}
<p class="hint">${layout.support.text(askedFactorTexts.lost(layout.appName))}</p>`
}

type EntryForm = AskingForm & { providers: readonly ProviderView[] | undefined }

/**
 * The same on the page of a link where users have no passwords: the buttons to add a passkey and of the providers, with
 * what is asked for in the same form.
 */
export const entryForm = (layout: Layout, form: EntryForm, entry: EntryLink) => {
  const { csrfToken, factor, providers = [] } = form
  const passkey = layout.passkeys && passkeyEntry(form, entry, providers.length > 0)
  if (!factor) return html`${passkey}${entryButtons(form, entry)}`
  if (!takesCode(factor)) {
    return html`<p>${askedFactorTexts.passkeyAlone}</p>
<a class="first" href="/auth/login">${texts.logIn}</a>`
  }
  return html`<form method="post" action="${entry.purpose === 'undo' ? '/auth/email/undo' : '/auth/password/reset'}" novalidate>
${csrfInput(csrfToken)}${entryInputs(entry)}
<p class="about">${askedFactorTexts.about}</p>
${askedCode(factor, form)}
${passkey}${
  providers.length > 0 &&
  html`<div class="providers">
${providers.map(providerSubmit)}</div>`
}
<p class="hint">${layout.support.text(askedFactorTexts.lost(layout.appName))}</p>
</form>`
}

/** A new passkey, with which the user logs in at once. */
const passkeyEntry = (
  { csrfToken }: Pick<AskingForm, 'csrfToken'>,
  link: EntryLink,
  hasOthers: boolean,
): HtmlFragment =>
  html`${passkeyButton({
    kind: 'add',
    csrfToken,
    label: passkeyTexts.addAndLogIn,
    link,
    isMain: true,
    hasOthers,
  })}${hasOthers && orLine()}`

const providerSubmit = ({ name, label, iconUrl }: ProviderView): HtmlFragment =>
  html`<button class="second" formaction="${providerPath(name)}">${providerIcon(label, iconUrl)}${texts.continueWith(label)}</button>
`

/** The texts where the page of a link asks for a second factor. */
const askedFactorTexts = {
  about: 'Your mail alone does not get into this account, so we ask for more:',
  saveByPasskey: 'Use a passkey, and save',
  /** Where users have no passwords, and the account has no recovery codes. */
  passkeyAlone: 'Your account has a passkey: log in with it. Then choose on your account page what else gets you in.',
  lost: (appName: string): string => `Lost all of that? Ask whoever runs ${appName}.`,
} as const
