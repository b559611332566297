import { AppError } from '../../lib/errors.ts'
import { type FieldProblem, type FormProblem, isFieldProblem } from '../../pages/pages.ts'
import { statusOf } from '../errors.ts'
import { type Answer, page } from '../visit.ts'

/** A refused form, to be shown again with what is wrong. */
export interface Refusal {
  field: string | undefined
  fieldProblem: FieldProblem | undefined
  formProblem: FormProblem | undefined
}

/** The problem of one field, to be spread into a view's errors. */
export const errorsOf = ({ field, fieldProblem }: Refusal): Record<string, FieldProblem> =>
  field && fieldProblem ? { [field]: fieldProblem } : {}

const toRefusal = (error: AppError): Refusal | undefined => {
  const { field, reason, retryAfterSeconds = 1 } = error
  if (isFieldProblem(reason)) return { field, fieldProblem: reason, formProblem: undefined }
  const none = { field: undefined, fieldProblem: undefined }
  if (reason === 'credentials_wrong') return { ...none, formProblem: { kind: 'credentials_wrong' } }
  if (reason === 'busy') return { ...none, formProblem: { kind: 'busy', retryAfterSeconds } }
  if (error.code === 'rate_limited') return { ...none, formProblem: { kind: 'too_many_attempts', retryAfterSeconds } }
  return undefined
}

/** Does what a form asks for; a refusal that a person can mend shows the form again, with the refusal's status. */
export const orShowAgain = async (
  action: () => Promise<Answer>,
  showAgain: (refusal: Refusal) => string | Promise<string>,
): Promise<Answer> => {
  try {
    return await action()
  } catch (error) {
    const refusal = error instanceof AppError ? toRefusal(error) : undefined
    if (!refusal || !(error instanceof AppError)) throw error
    return page(statusOf(error.code), await showAgain(refusal), error.retryAfterSeconds)
  }
}
