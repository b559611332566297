import type { RefreshResult } from '../sessions/sessions.ts'
import type { Log } from '../lib/log.ts'
import type { RequestContext } from './request-context.ts'
import type { RequestMetrics } from './request-metrics.ts'

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

interface RefreshLogDeps {
  log: Log
  requestMetrics?: RequestMetrics | undefined
}

/** Counts a refresh, and logs one that shows the theft of a refresh token. */
export type RecordRefresh = (context: RequestContext, result: RefreshResult) => void

export const createRefreshLog =
  ({ log, requestMetrics }: RefreshLogDeps): RecordRefresh =>
  ({ requestId, device }, result) => {
    requestMetrics?.countRefresh(result.outcome)
    if (result.outcome !== 'reused') return
    log.warn(
      {
        event: 'refresh_token_reuse',
        request_id: requestId,
        session_id: result.sessionId,
        user_id: result.userId,
        client: device.address,
      },
      'refresh token reused: session revoked',
    )
  }
