import type { Server } from 'node:net'
import type { Log } from '../../lib/log.ts'
import type { RequestMetrics } from '../request-metrics.ts'

const WARN_AGAIN_AFTER_MS = 60_000

interface ConnectionLimitDeps {
  server: Server
  maxConnections: number
  log: Log
  requestMetrics?: RequestMetrics | undefined
}

/**
 * Limits the connections that are open at once. A connection beyond the limit is closed before anything is read from
 * it: a proxy can then send the request to another replica, and a client that opens many connections takes no memory.
 */
export const limitConnections = ({ server, maxConnections, log, requestMetrics }: ConnectionLimitDeps): void => {
  let warnedMs = Number.NEGATIVE_INFINITY
  server.maxConnections = maxConnections
  server.on('drop', () => {
    requestMetrics?.countRefusedConnection()
    if (performance.now() - warnedMs < WARN_AGAIN_AFTER_MS) return
    warnedMs = performance.now()
    log.warn({ setting: 'SVC_MAX_CONNECTIONS', limit: maxConnections }, 'too many connections: new ones are closed')
  })
}
