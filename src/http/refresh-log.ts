import type { Log } from '../lib/log.ts'
import type { RefreshResult } from '../sessions/sessions.ts'
import type { RequestContext } from './request-context.ts'
import type { RequestMetrics } from './request-metrics.ts'

interface RefreshLogDeps {
  log: Log
  requestMetrics?: RequestMetrics | undefined
}

/**
 * Counts refreshes, and writes down what an operator must know of one: that a token came again which nobody honest has
 * any more.
 */
export const createRefreshLog =
  ({ log, requestMetrics }: RefreshLogDeps) =>
  ({ requestId, device }: RequestContext, result: RefreshResult): void => {
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
