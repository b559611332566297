import type { Log } from '../lib/log.ts'
import type { RefreshResult } from '../sessions/sessions.ts'
import type { RequestContext } from './request-context.ts'
import type { RequestMetrics } from './request-metrics.ts'

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
