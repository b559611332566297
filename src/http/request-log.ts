import type { AppError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { RequestMetrics } from './request-metrics.ts'
import type { Destination } from './route.ts'
import type { IncomingRequest } from './transport/incoming-request.ts'

interface RequestLogDeps {
  log: Log
  requestMetrics?: RequestMetrics | undefined
}

/**
 * The log uses this status, as nginx does, when the client closed the connection before the response. It is never sent.
 */
export const SENDER_GONE = 499

/** Logs a request with the status of its response, and counts it. */
type LogRequest = (to: Destination, context: IncomingRequest, status: number, error?: AppError, facts?: object) => void

export const createRequestLog = ({ log, requestMetrics }: RequestLogDeps): LogRequest => {
  const isDebugging = log.isLevelEnabled('debug')

  return (to, context, status, error, more) => {
    const isRoutine = to.frequent === true && status < 400
    const isLogged = isDebugging || !isRoutine
    if (!isLogged && !requestMetrics) return
    const durationMs = performance.now() - context.startedMs
    requestMetrics?.observeRequest(context.method, to.path, status, durationMs / 1000)
    if (!isLogged) return
    const facts = {
      request_id: context.requestId,
      method: context.method,
      route: to.path,
      status,
      duration_ms: Math.round(durationMs * 100) / 100,
      client: context.device.address,
      user_id: context.session?.userId,
      api_key_id: context.apiKey?.id,
      ...(error && { code: error.code, problem: error.message }),
      ...more,
      ...(error && needsExplanation(error) && { err: error.cause ?? error }),
    }
    log[isFault(status, error) ? 'error' : isRoutine ? 'debug' : 'info'](facts, 'request')
  }
}

/** Tells whether an operator must see it. A service that is not ready because it stops is no fault. */
const isFault = (status: number, error: AppError | undefined): boolean =>
  error?.code === 'internal_error' || (status >= 500 && error?.reason !== 'stopping')

/** An `unavailable` that has no cause was logged already by the code that noticed it. */
const needsExplanation = ({ code, cause }: AppError): boolean =>
  code === 'internal_error' || (code === 'unavailable' && cause !== undefined)
