import type { HtmlFragment } from '../../lib/html.ts'
import { type Field, field } from '../form.ts'
import { secondFactorTexts as words } from './texts.ts'

/** The field for a code. With `numeric`, phones show digits alone: not where a recovery code is good too. */
export const codeField = ({
  numeric,
  ...it
}: Pick<Field, 'problem' | 'focused' | 'describedBy'> & {
  label?: string
  hint?: string
  numeric: boolean
}): HtmlFragment =>
  field({
    name: 'code',
    label: words.code,
    type: 'text',
    autocomplete: 'one-time-code',
    maxLength: 40,
    ...(numeric && { inputMode: 'numeric' as const }),
    ...it,
  })
