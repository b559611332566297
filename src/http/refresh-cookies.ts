import type { RefreshResult } from '../sessions/sessions.ts'
import type { RequestContext } from './request-context.ts'

/**
 * Sets the cookies that follow from a refresh: those of the renewed session, or their end. None where the browser was
 * given others meanwhile: whatever is set now would take their place.
 */
export const setRefreshCookies = (context: RequestContext, result: RefreshResult): void => {
  if ('tokens' in result) context.renewSessionCookies(result.tokens)
  else if (result.outcome !== 'replaced') context.clearSessionCookies()
}
