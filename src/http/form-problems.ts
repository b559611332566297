import type { AppError } from '../lib/errors.ts'
import { type FieldProblem, type FormProblem, isFieldProblem, type LockedCodes } from './form-view.ts'
import { EMAIL_NOT_ASCII, DOMAIN_REFUSED } from '../accounts/fields.ts'
import { PASSWORD_TOO_SHORT } from '../accounts/passwords/password-rules.ts'
import type { RequestContext } from './request-context.ts'
import type { Refusal } from './route.ts'
import { limitedLogins } from './login-limits.ts'

const fieldErrors = (error: AppError): Record<string, FieldProblem> => {
  const errors: Record<string, FieldProblem> = {}
  for (const { field, reason, values } of [error, ...error.others]) {
    if (field && isFieldProblem(reason)) errors[field] = reason
    if (field && reason === DOMAIN_REFUSED) errors[field] = { acceptedDomains: values }
    if (field && reason === EMAIL_NOT_ASCII) errors[field] = { asciiForm: values[0] ?? '' }
    if (field && reason === PASSWORD_TOO_SHORT) errors[field] = { minLength: Number(values[0]) }
  }
  return errors
}

/** Wrong codes have one reason, and two fields. */
const inField = (errors: Refusal['errors'], { form }: Pick<RequestContext, 'form'>): Refusal['errors'] => {
  const { code, ...others } = errors
  if (!code || !form.get('recovery_code')?.trim()) return errors
  return { ...others, recovery_code: code === 'code_wrong' ? 'recovery_code_wrong' : code }
}

const formProblem = (error: AppError, requestId: string): FormProblem | undefined => {
  const { code, reason, values, retryAfterSeconds = 1 } = error
  if (reason === 'credentials_wrong') return { kind: 'credentials_wrong', loginWith: values[0] as 'email' | 'both' }
  if (reason === 'busy') return { kind: 'busy', retryAfterSeconds, requestId }
  if (reason === 'codes_locked') return { kind: 'codes_locked', where: values[0] as LockedCodes, requestId }
  if (reason === 'mail_codes_limited') return { kind: reason, retryAfterSeconds, requestId }
  const of = limitedLogins(error)
  if (of) return { kind: 'login_limited', of, retryAfterSeconds, requestId }
  return code === 'rate_limited' ? { kind: 'too_many_attempts', retryAfterSeconds, requestId } : undefined
}

/** Finds why a form was refused, as the form says it. It is undefined for an error that no user can correct. */
export const findRefusal = (error: AppError, context: RequestContext): Refusal | undefined => {
  const refusal = { errors: inField(fieldErrors(error), context), problem: formProblem(error, context.requestId) }
  return refusal.problem || Object.keys(refusal.errors).length > 0 ? refusal : undefined
}

/** Makes the refusal of a form whose CSRF token alone is not good. */
export const outdated = ({ cookies, requestId }: RequestContext, { message }: AppError): Refusal => {
  const cookieMissing = !cookies.csrf && !cookies.repeated.includes('csrf')
  return { errors: {}, problem: { kind: 'outdated', cookieMissing, requestId, details: message } }
}
