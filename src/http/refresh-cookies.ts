import type { RefreshResult } from '../sessions/sessions.ts'
import type { CookieWriter } from './cookies.ts'
import type { Visit } from './visit.ts'

/**
 * Sets the cookies that follow from a refresh: those of the renewed session, or their end. None where the browser was
 * given others meanwhile: whatever is set now would take their place.
 */
export const setRefreshCookies = (writer: CookieWriter, visit: Visit, result: RefreshResult): void => {
  if ('tokens' in result) visit.setCookies(writer.session(result.tokens, visit.csrfToken))
  else if (result.outcome !== 'replaced') visit.setCookies(writer.clearedSession())
}
