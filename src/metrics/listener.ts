import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { AppError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { createServer, ignoreSocketErrors } from '../lib/node-http.ts'
import { readAbsoluteForm } from '../lib/url.ts'
import type { Registry } from 'prom-client'

interface MetricsListenerDeps {
  host: string
  port: number
  log: Log
  registry: Registry
}

export interface MetricsListener {
  /** Resolves when it listens. Throws `unavailable`, naming the setting, when it cannot. */
  start(): Promise<void>
  stop(): Promise<void>
}

const PATH = '/auth/metrics'

/** Serves the metrics on a port of their own, so that the public port, which everyone reaches, does not show them. */
export const createMetricsListener = ({ host, port, log, registry }: MetricsListenerDeps): MetricsListener => {
  const handle = async ({ method, url = '' }: IncomingMessage, response: ServerResponse): Promise<void> => {
    const send = (status: number, body: string, headers: Record<string, string> = {}): void => {
      const length = Buffer.byteLength(body)
      response.writeHead(status, { 'Content-Type': PLAIN, ...COMMON, 'Content-Length': length, ...headers }).end(body)
    }
    const { target = url } = readAbsoluteForm(url) ?? {}
    if (target.split('?', 1)[0] !== PATH) return send(404, `There is nothing here but ${PATH}.\n`)
    if (method !== 'GET' && method !== 'HEAD') return send(405, 'Allowed: GET, HEAD.\n', { Allow: 'GET, HEAD' })
    try {
      send(200, await registry.metrics(), { 'Content-Type': registry.contentType })
    } catch (error) {
      log.error({ err: error }, 'metrics cannot be read')
      send(500, 'The metrics cannot be read.\n')
    }
  }
  const server = createServer((request, response) => void handle(request, response))
  ignoreSocketErrors(server)

  return {
    async start(): Promise<void> {
      try {
        await once(server.listen({ host, port }), 'listening')
      } catch (error) {
        throw listenError(error, host, port)
      }
    },
    async stop(): Promise<void> {
      if (!server.listening) return
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

const PLAIN = 'text/plain; charset=utf-8'
const COMMON = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' }

const listenError = (error: unknown, host: string, port: number): AppError => {
  const { code } = error as NodeJS.ErrnoException
  const message =
    code === 'EADDRINUSE'
      ? `Port ${port} on ${host} is taken: set SVC_METRICS_PORT to another.`
      : `Cannot listen for metrics on ${host} port ${port}, SVC_METRICS_HOST and SVC_METRICS_PORT (${code}).`
  return new AppError('unavailable', message)
}
