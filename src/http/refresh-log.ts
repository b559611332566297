import type { Log } from '../lib/log.ts'
import type { RefreshResult } from '../sessions/sessions.ts'
import type { Visit } from './visit.ts'

/** Writes down what an operator must know of a refresh: that a token came again which nobody honest has any more. */
export const createRefreshLog =
  (log: Log) =>
  ({ requestId, device }: Visit, result: RefreshResult): void => {
    if (result.outcome !== 'reused') return
    log.warn(
      { request_id: requestId, session_id: result.sessionId, user_id: result.userId, client: device.address },
      'refresh token reused: session revoked',
    )
  }
