import { type HtmlFragment, html } from '../../lib/html.ts'
import type { FieldProblem } from '../../http/form-view.ts'
import { t } from '../../languages/texts.ts'
import { type Field, field } from './form.ts'

/** An account has codes of an app, recovery codes, or both. */
export type TakenCodes = 'both' | 'codes' | 'recovery_codes'

export interface CodeErrors {
  code?: FieldProblem | undefined
  recovery_code?: FieldProblem | undefined
  passkey_response?: FieldProblem | undefined
}

type CodeField = Pick<Field, 'problem' | 'focused' | 'hint' | 'value'>

/** The field takes a code of the app. Phones show digits alone for it. */
export const codeField = (it: CodeField): HtmlFragment =>
  field({
    name: 'code',
    label: t('field.code'),
    type: 'text',
    autocomplete: 'one-time-code',
    inputMode: 'numeric',
    maxLength: 40,
    ...it,
  })

const recoveryCodeField = (it: CodeField): HtmlFragment =>
  field({
    name: 'recovery_code',
    label: t('field.recovery_code'),
    type: 'text',
    autocomplete: 'off',
    hint: t('field.recovery_code.hint'),
    maxLength: 40,
    ...it,
  })

/** Finds what is wrong with the input, in any of the fields. */
export const codeProblemOf = ({ code, recovery_code, passkey_response }: CodeErrors): FieldProblem | undefined =>
  recovery_code ?? code ?? passkey_response

interface CodeEntry {
  takes: TakenCodes
  errors: CodeErrors
  focused: boolean
  /** This is the text that was typed. */
  value?: string | undefined
}

/** A user enters a code or, in its place, a recovery code: letters need another keyboard, and so another field. */
export const codeEntry = ({ takes, errors, focused, value }: CodeEntry): HtmlFragment => {
  const problem = codeProblemOf(errors)
  const typed = value === undefined ? {} : { value }
  if (takes === 'recovery_codes') return recoveryCodeField({ problem, focused, ...typed })
  const isRecovery = takes === 'both' && errors.recovery_code !== undefined
  const code = codeField({
    hint: t('field.code.hint'),
    problem: isRecovery ? undefined : problem,
    focused: focused && !isRecovery,
    ...typed,
  })
  return takes === 'codes'
    ? code
    : html`${code}
<details${isRecovery && html` open`}>
<summary class="link"><span>${t('field.recovery_code.use')}</span><span>${t('field.code.use')}</span></summary>
${recoveryCodeField({ problem: isRecovery ? problem : undefined, focused: focused && isRecovery })}
</details>`
}
