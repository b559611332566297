import type { TakenCodes } from '../site/code-field.ts'
import type { AccountFactors, CodePlace } from '../../second-factor/second-factors.ts'
import type { Fields } from '../../http/body/form.ts'
import type { AuthenticatedSession } from '../../sessions/sessions.ts'
import type { Services } from '../../http/services.ts'
import type { RequestContext } from '../../http/request-context.ts'

/** Reads the code of a form from either of its fields; a recovery code is good in both. */
export const enteredCode = ({ get }: Pick<Fields, 'get'>): string | undefined =>
  get('recovery_code')?.trim() || get('code')?.trim()

/** Tells which codes an account has. */
export const takenCodes = ({ codes, recoveryCodes }: AccountFactors): TakenCodes | undefined => {
  if (codes) return recoveryCodes > 0 ? 'both' : 'codes'
  return recoveryCodes > 0 ? 'recovery_codes' : undefined
}

/**
 * Names the place where a user enters a code to confirm a session. The browser in which the session began counts wrong
 * codes: a user who logs in again, or confirms with a password alone, gets no further tries.
 */
export const placeOfSession = async (
  { knownBrowsers }: Pick<Services, 'knownBrowsers'>,
  { network }: Pick<RequestContext, 'network'>,
  { userId, deviceHash }: Pick<AuthenticatedSession, 'userId' | 'deviceHash'>,
): Promise<CodePlace> => {
  const known = await knownBrowsers.findByHash(userId, deviceHash)
  return { kind: 'reauthentication', sessionId: `${userId}/${known?.countedAs ?? deviceHash}`, network }
}
