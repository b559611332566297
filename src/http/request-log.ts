import type { AppError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { RequestMetrics } from './request-metrics.ts'
import type { Destination } from './route.ts'
import type { IncomingRequest } from './transport/incoming-request.ts'

interface RequestLogDeps {
  log: Log
  requestMetrics?: RequestMetrics | undefined
}

/** What nginx writes in its log where the client has closed the connection. It is never sent. */
export const SENDER_GONE = 499

/** Writes the line of each request, and has it counted. */
export const createRequestLog = ({ log, requestMetrics }: RequestLogDeps) => {
  const isDebugging = log.isLevelEnabled('debug')

  return (to: Destination, context: IncomingRequest, status: number, error?: AppError, more?: object): void => {
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
      ...(error && { code: error.code, problem: error.message }),
      ...more,
      ...(error && needsExplanation(error) && { err: error.cause ?? error }),
    }
    log[isFault(status, error) ? 'error' : isRoutine ? 'debug' : 'info'](facts, 'request')
  }
}

/** What an operator must see. That a service is not ready while it stops is as planned. */
const isFault = (status: number, error: AppError | undefined): boolean =>
  error?.code === 'internal_error' || (status >= 500 && error?.reason !== 'stopping')

/** What is away without more to be said has been told of where it was found out. */
const needsExplanation = ({ code, cause }: AppError): boolean =>
  code === 'internal_error' || (code === 'unavailable' && cause !== undefined)
