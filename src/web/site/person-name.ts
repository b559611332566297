import type { NamesMode } from '../../accounts/fields.ts'
import type { FieldProblem } from '../../http/form-view.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { AppError } from '../../lib/errors.ts'
import type { HtmlFragment } from '../../lib/html.ts'
import { t } from '../../languages/texts.ts'
import { field } from './form.ts'

/** This is the field for the name of a person, where there is one (`SVC_NAMES`). */
export interface NameView {
  /** This is the name of the account, or the text that was typed. */
  value: string
  isRequired: boolean
  problem?: FieldProblem | undefined
}

/** Makes the view of the field; undefined if there are no names. */
export const nameView = (
  names: NamesMode,
  value: string | null | undefined,
  problem?: FieldProblem,
): NameView | undefined =>
  names === 'off' ? undefined : { value: value ?? '', isRequired: names === 'required', problem }

/** Reads the field: null if it is empty, and undefined if it was not sent, or if there are no names. */
export const typedName = ({ form }: Pick<RequestContext, 'form'>, names: NamesMode): string | null | undefined => {
  const typed = names === 'off' ? undefined : form.get('name')
  return typed?.trim() === '' ? null : typed
}

/** Reads the field of a form that has no other; `invalid_request` if it was not sent. */
export const requireTypedName = (context: RequestContext, names: NamesMode): string | null => {
  const typed = typedName(context, names)
  if (typed !== undefined) return typed
  throw new AppError('invalid_request', 'Say which name: name. An empty one removes it.', { field: 'name' })
}

/** A name is counted in whole characters, and browsers count otherwise: the field has no `maxlength`. */
export const nameField = ({ value, isRequired, problem }: NameView, focused: boolean): HtmlFragment =>
  field({
    name: 'name',
    label: t('field.name'),
    type: 'text',
    autocomplete: 'name',
    isPersonName: true,
    value,
    optional: !isRequired,
    problem,
    focused,
  })
