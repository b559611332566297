import type { Log } from '../lib/log.ts'
import type { RefreshResult } from '../sessions/sessions.ts'
import type { Visit } from './request-context.ts'
import type { HttpMeter } from './request-metrics.ts'

interface Parts {
  log: Log
  meter?: HttpMeter | undefined
}

/**
 * Counts refreshes, and writes down what an operator must know of one: that a token came again which nobody honest has
 * any more.
 */
export const createRefreshLog =
  ({ log, meter }: Parts) =>
  ({ requestId, device }: Visit, result: RefreshResult): void => {
    meter?.countRefresh(result.outcome)
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
