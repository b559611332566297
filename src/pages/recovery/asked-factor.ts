import { type HtmlFragment, html } from '../../lib/html.ts'
import type { Layout } from '../layout.ts'
import { passkeyButton } from '../passkey-button.ts'
import { orLine } from '../provider-buttons.ts'
import type { FieldProblem } from '../views.ts'
import { texts } from '../texts.ts'
import { codeField } from '../second-factor/code-field.ts'
import { askedFactorTexts as words } from './asked-factor-texts.ts'
import type { AskedFactorView, LinkFormErrors } from './views.ts'

interface AskingForm {
  csrfToken: string
  factor?: AskedFactorView | undefined
  errors: LinkFormErrors
}

/** Whether the page needs the script of passkeys. */
export const usesPasskeys = (layout: Layout, { factor }: Pick<AskingForm, 'factor'>): boolean =>
  layout.passkeys && (factor?.passkeys ?? false)

const takesCode = ({ codes, recoveryCodes }: AskedFactorView): boolean => codes || recoveryCodes

/** Which field of the form is wrong, if one is. */
export const wrongFieldOf = ({ errors }: Pick<AskingForm, 'errors'>): FieldProblem | undefined =>
  errors.password ?? errors.code ?? errors.passkey_response

const askedCode = ({ codes, recoveryCodes }: AskedFactorView, { errors }: AskingForm): HtmlFragment =>
  codeField({
    label: codes ? words.code : words.recoveryCode,
    numeric: !recoveryCodes,
    problem: errors.code ?? errors.passkey_response,
    focused: !errors.password && Boolean(errors.code ?? errors.passkey_response),
    ...(codes && recoveryCodes && { hint: words.orRecoveryCode }),
  })

/** What is wrong with a passkey, where no field stands above its button. */
const passkeyProblem = ({ errors }: AskingForm): HtmlFragment | undefined => {
  const problem = errors.passkey_response ?? errors.code
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
    usesPasskeys(layout, form) &&
    passkeyButton({ kind: 'fill', csrfToken, hasOthers, isMain: !hasOthers, before: hasOthers && orLine() })
  return html`<p class="about">${words.about}</p>
${hasOthers ? askedCode(factor, form) : passkeyProblem(form)}
${hasOthers && buttons}
${passkey}
<p class="hint">${layout.support.text(words.lost(layout.appName))}</p>`
}
