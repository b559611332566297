import { AppError } from '../../lib/errors.ts'
import { type FieldProblem, type FormProblem, isFieldProblem } from '../../pages/pages.ts'
import { statusOf } from '../errors.ts'
import { type HttpResponse, page, type RequestContext } from '../request-context.ts'

/** A refused form, to be shown again with what is wrong. */
export interface Refusal {
  /** By the name of the field. */
  errors: Record<string, FieldProblem>
  problem: FormProblem | undefined
}

const fieldErrors = (error: AppError): Record<string, FieldProblem> => {
  const errors: Record<string, FieldProblem> = {}
  for (const { field, reason } of [error, ...error.others]) {
    if (field && isFieldProblem(reason)) errors[field] = reason
  }
  return errors
}

const formProblem = ({ code, reason, retryAfterSeconds = 1 }: AppError, requestId: string): FormProblem | undefined => {
  if (reason === 'credentials_wrong') return { kind: 'credentials_wrong' }
  if (reason === 'busy') return { kind: 'busy', retryAfterSeconds, requestId }
  return code === 'rate_limited' ? { kind: 'too_many_attempts', retryAfterSeconds, requestId } : undefined
}

/** Does what a form asks for; a refusal that a person can mend shows the form again, with the refusal's status. */
export const orShowAgain = async (
  { requestId }: RequestContext,
  action: () => Promise<HttpResponse>,
  showAgain: (refusal: Refusal) => string | Promise<string>,
): Promise<HttpResponse> => {
  try {
    return await action()
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const refusal = { errors: fieldErrors(error), problem: formProblem(error, requestId) }
    if (!refusal.problem && Object.keys(refusal.errors).length === 0) throw error
    return page(statusOf(error.code), await showAgain(refusal), error.retryAfterSeconds)
  }
}
