import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Awaitable } from '../lib/awaitable.ts'
import type { HttpResponse } from '../http/response.ts'
import { readParameters } from '../http/route-lookup.ts'
import { AppError } from '../lib/errors.ts'
import type { Layout } from '../web/site/layout.ts'
import { type DevRequest, readJsonBytes, send, toErrorResponse } from './exchange.ts'

export interface DevRoute {
  method: 'GET' | 'POST'
  /** `{name}` stands for one segment. */
  path: `/auth/dev${string}`
  handle: (request: DevRequest) => Awaitable<HttpResponse>
}

interface RouteDeps {
  routes: readonly DevRoute[]
  /** Throws `forbidden` for a request of a page of another origin. */
  requireOwn: (incoming: IncomingMessage) => void
  layout: () => Promise<Layout>
}

/** Answers the requests for `/auth/dev` and what is below it. */
export const createRouter =
  ({ routes, requireOwn, layout }: RouteDeps) =>
  async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    try {
      requireOwn(incoming)
      const url = new URL(incoming.url ?? '', 'http://localhost')
      const { handle, parameters } = findRoute(routes, incoming.method ?? '', url.pathname)
      const body = await readJsonBytes(incoming)
      const { headers } = incoming
      send(outgoing, await handle({ headers, device: deviceOf(incoming), query: url.searchParams, parameters, body }))
    } catch (error) {
      if (outgoing.headersSent) outgoing.destroy()
      else send(outgoing, toErrorResponse(error, incoming, await layout()))
    }
  }

const findRoute = (routes: readonly DevRoute[], method: string, path: string) => {
  const found = routes.flatMap((route) => {
    const parameters = readParameters(route.path, path)
    return parameters ? [{ ...route, parameters }] : []
  })
  const asked = method === 'HEAD' ? 'GET' : method
  const route = found.find((each) => each.method === asked)
  if (route) return route
  if (found.length === 0) throw new AppError('not_found', `There is no ${path} here. Begin at /auth/dev.`)
  throw new AppError('method_not_allowed', `${path} takes ${found.map((each) => each.method).join(' and ')}.`)
}

const deviceOf = ({ headers, socket }: IncomingMessage): DevRequest['device'] => ({
  userAgent: headers['user-agent'] ?? '',
  address: socket.remoteAddress ?? '',
})
