import type { RefreshResult } from '../sessions/sessions.ts'
import type { RecordRefresh } from './refresh-log.ts'
import type { RequestContext } from './request-context.ts'

/** Counts and logs a refresh, and sets its cookies. */
export type FinishRefresh = (context: RequestContext, result: RefreshResult) => void

export const createFinishRefresh =
  (recordRefresh: RecordRefresh): FinishRefresh =>
  (context, result) => {
    recordRefresh(context, result)
    setRefreshCookies(context, result)
  }

/**
 * Sets the cookies of the renewed session, or clears those of a session that has ended. Sets none where the browser has
 * signed in again in the meantime: they would overwrite the cookies of the newer session.
 */
const setRefreshCookies = (context: RequestContext, result: RefreshResult): void => {
  if ('tokens' in result) context.renewSessionCookies(result.tokens)
  else if (result.outcome !== 'replaced') context.clearSessionCookies()
}
