import { authenticatedBy } from '../../sign-in/amr.ts'
import { AppError } from '../../lib/errors.ts'
import type { AccountFactors, CheckedCode } from '../../second-factor/second-factors.ts'
import type { AuthenticatedSession } from '../../sessions/sessions.ts'
import type { EventFacts } from '../../audit/account-log.ts'
import type { Services } from '../../http/services.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { HttpResponse } from '../../http/response.ts'
import { confirmPath, type StepUp, targetOf } from '../../http/step-up.ts'
import { startSession } from '../sign-in/start-session.ts'
import { enteredCode, placeOfSession } from '../sign-in/codes.ts'

interface Confirmation {
  session: AuthenticatedSession
  stepUp: StepUp
  facts: EventFacts
}

interface Entered {
  password: string
  /** This is undefined if the form has no such field. */
  code: string | undefined
}

const hasCodes = ({ codes, recoveryCodes }: AccountFactors): boolean => codes || recoveryCodes > 0

/**
 * Authenticates by the password, with a code or recovery code if there is one, and starts a session in place of the
 * session of the request. The code is checked after the password, so that a user who does not know the password learns
 * nothing about the code.
 */
export const confirmByPassword = async (
  deps: Pick<Services, 'cookieWriter' | 'knownBrowsers' | 'limits' | 'notify' | 'secondFactors' | 'sessions' | 'users'>,
  context: RequestContext,
  { session, stepUp, facts }: Confirmation,
): Promise<HttpResponse> => {
  const { userId, email } = session
  const entered = { password: context.form.get('password') ?? '', code: enteredCode(context.form) }
  const asksForCode = hasCodes(await deps.secondFactors.find(userId))
  requireFilled(entered, asksForCode && (stepUp.acr === 'mfa' || entered.code !== undefined))
  const result = await deps.users.authenticate(email, entered.password, context)
  if ('refusal' in result || result.userId !== userId) throw wrongPassword()
  const checked = asksForCode ? await checkCode(deps, context, session, entered.code) : undefined
  const grant = { ...result, ...authenticatedBy(result, checked, 'confirm') }
  // If the user has no factor, the page leads on to its setup.
  const returnTo = stepUp.acr === 'mfa' && !checked ? confirmPath(stepUp) : targetOf(stepUp)
  const response = await startSession(deps, context, { grant, returnTo, facts, also: checked?.apply })
  if (!response) throw wrongPassword()
  return response
}

const checkCode = async (
  deps: Pick<Services, 'knownBrowsers' | 'secondFactors'>,
  context: RequestContext,
  session: AuthenticatedSession,
  code: string | undefined,
): Promise<CheckedCode | undefined> => {
  if (!code) return undefined
  const place = await placeOfSession(deps, context, session)
  return deps.secondFactors.checkCode({ userId: session.userId, code, place }, context)
}

const requireFilled = ({ password, code = '' }: Entered, needsCode: boolean): void => {
  if (!needsCode || password === '' || code.trim() !== '') return
  throw new AppError('unprocessable', 'Enter the code.', { field: 'code', reason: 'code_missing' })
}

const wrongPassword = (): AppError =>
  new AppError('unauthorized', 'This is not your password.', { field: 'password', reason: 'password_wrong' })
