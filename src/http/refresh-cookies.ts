import type { RefreshResult } from '../sessions/sessions.ts'
import type { RequestContext } from './request-context.ts'

/**
 * Sets the cookies of the renewed session, or clears those of a session that has ended. Sets none where the browser has
 * signed in again in the meantime: they would overwrite the cookies of the newer session.
 */
export const setRefreshCookies = (context: RequestContext, result: RefreshResult): void => {
  if ('tokens' in result) context.renewSessionCookies(result.tokens)
  else if (result.outcome !== 'replaced') context.clearSessionCookies()
}
