import type { Log } from '../lib/log.ts'
import type { RefreshResult } from '../sessions/sessions.ts'
import type { RequestContext } from './request-context.ts'
import type { RequestMetrics } from './request-metrics.ts'

/** Counts a refresh, logs one that shows the theft of a refresh token, and sets the cookies. */
export type FinishRefresh = (context: RequestContext, result: RefreshResult) => void

interface FinishRefreshDeps {
  log: Log
  requestMetrics?: RequestMetrics | undefined
}

type Reused = Pick<Exclude<RefreshResult, { tokens: unknown }>, 'sessionId' | 'userId'>

export const createFinishRefresh = ({ log, requestMetrics }: FinishRefreshDeps): FinishRefresh => {
  const warnOfTheft = ({ requestId, device }: RequestContext, { sessionId, userId }: Reused): void => {
    const facts = { request_id: requestId, session_id: sessionId, user_id: userId, client: device.address }
    log.warn({ event: 'refresh_token_reuse', ...facts }, 'refresh token reused: session revoked')
  }

  return (context, result) => {
    requestMetrics?.countRefresh(result.outcome)
    if (result.outcome === 'reused') warnOfTheft(context, result)
    setRefreshCookies(context, result)
  }
}

/**
 * Sets the cookies of the renewed session, or clears those of a session that has ended. It sets none if the browser has
 * signed in again in the meantime: they would overwrite the cookies of the newer session.
 */
const setRefreshCookies = (context: RequestContext, result: RefreshResult): void => {
  if ('tokens' in result) context.renewSessionCookies(result.tokens)
  else if (result.outcome !== 'replaced') context.clearSessionCookies()
}
