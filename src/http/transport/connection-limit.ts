import type { Server } from 'node:net'
import type { Log } from '../../lib/log.ts'
import type { RequestMetrics } from '../request-metrics.ts'

const TELL_AGAIN_AFTER_MS = 60_000

interface ConnectionLimitDeps {
  server: Server
  maxConnections: number
  log: Log
  requestMetrics?: RequestMetrics | undefined
}

/**
 * Bounds the connections that are open at once. One that comes past the limit is closed before anything is read of it:
 * a proxy may then send the request to another replica, and no memory goes to a client that opens many.
 */
export const limitConnections = ({ server, maxConnections, log, requestMetrics }: ConnectionLimitDeps): void => {
  let toldMs = Number.NEGATIVE_INFINITY
  server.maxConnections = maxConnections
  server.on('drop', () => {
    requestMetrics?.countRefusedConnection()
    if (performance.now() - toldMs < TELL_AGAIN_AFTER_MS) return
    toldMs = performance.now()
    log.warn({ setting: 'SVC_MAX_CONNECTIONS', limit: maxConnections }, 'too many connections: new ones are closed')
  })
}
