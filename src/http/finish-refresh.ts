import type { Log } from '../lib/log.ts'
import type { AuthenticatedSession, RefreshResult, Sessions } from '../sessions/sessions.ts'
import { createRecognition, type RecognitionDeps } from './recognise-browser.ts'
import type { RequestContext } from './request-context.ts'
import type { RequestMetrics } from './request-metrics.ts'

/** Counts a refresh, logs one that shows the theft of a refresh token, and sets the cookies. */
export type FinishRefresh = (context: RequestContext, result: RefreshResult) => Promise<void>

interface FinishRefreshDeps extends RecognitionDeps {
  sessions: Sessions
  log: Log
  requestMetrics?: RequestMetrics | undefined
}

type Reused = Pick<Exclude<RefreshResult, { tokens: unknown }>, 'sessionId' | 'userId'>

export const createFinishRefresh = (deps: FinishRefreshDeps): FinishRefresh => {
  const { sessions, log, requestMetrics } = deps

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

  const warnOfTheft = ({ requestId, device }: RequestContext, { sessionId, userId }: Reused): void => {
    const facts = { request_id: requestId, session_id: sessionId, user_id: userId, client: device.address }
    log.warn({ event: 'refresh_token_reuse', ...facts }, 'refresh token reused: session revoked')
  }

  return async (context, result) => {
    requestMetrics?.countRefresh(result.outcome)
    if (result.outcome === 'reused') warnOfTheft(context, result)
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
