import type { Log } from '../lib/log.ts'
import type { AuthenticatedSession, RefreshResult, Sessions } from '../sessions/sessions.ts'
import { createRecognition, type RecognitionDeps } from './recognise-browser.ts'
import type { RequestContext } from './request-context.ts'
import type { RequestMetrics } from './request-metrics.ts'

/** Counts and logs a refresh, and sets its cookies. */
export type FinishRefresh = (context: RequestContext, result: RefreshResult) => Promise<void>

interface FinishRefreshDeps extends RecognitionDeps {
  sessions: Sessions
  log: Log
  recordRefresh: RecordRefresh
}

export const createFinishRefresh = (deps: FinishRefreshDeps): FinishRefresh => {
  const { sessions, log, recordRefresh } = deps

  /** After an upgrade, the account gets to know each browser that still has a session. */
  const recogniseBrowser = async (context: RequestContext, session: AuthenticatedSession): Promise<void> => {
    const { recognise, setCookie } = createRecognition(deps, context, { userId: session.userId, browser: 'silent' })
    try {
      await sessions.recogniseBrowser(session, recognise)
      setCookie()
    } catch (error) {
      // The session is renewed already: the next refresh tries again.
      log.warn({ err: error, session_id: session.sessionId }, 'browser not recognised')
    }
  }

  return async (context, result) => {
    recordRefresh(context, result)
    setRefreshCookies(context, result)
    if ('tokens' in result && result.session.deviceHash === undefined) await recogniseBrowser(context, result.session)
  }
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
