import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type ContentResponse, page } from '../http/response.ts'
import type { Layout } from '../web/site/layout.ts'
import type { DevEvents } from './events.ts'
import { send, toErrorResponse, wantsPage } from './exchange.ts'
import type { OwnRequests } from './own-requests.ts'
import { outagePage } from './pages/problem-page.ts'
import type { AppProxy } from './proxy.ts'
import type { DevService } from './running-service.ts'

/** Takes every request that has arrived. */
export interface Dispatch {
  onRequest(incoming: IncomingMessage, outgoing: ServerResponse): void
  onUpgrade(incoming: IncomingMessage, socket: Socket, head: Buffer): void
}

interface DispatchDeps {
  own: OwnRequests
  baseUrl: string
  app: string | undefined
  /** Loaded with the first request for the application. */
  loadProxy: () => Promise<AppProxy>
  service: () => Promise<DevService>
  /** Answers `/auth/dev` and what is below it. */
  handleDev: (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>
  events: DevEvents
}

const OF_DEV = /^\/auth\/dev(?:[/?]|$)/
/** Clients of svc look for it at two more addresses of the site. */
const OF_SVC = /^\/(?:auth(?:[/?]|$)|\.well-known\/(?:oauth-authorization-server|openid-configuration)\/auth(?:\?|$))/
/** Browsers and password managers ask the site for these, and a proxy rewrites them. */
const REWRITTEN = /^(?=\/\.well-known\/(?:change-password|passkey-endpoints)(?:\?|$))/

/** Hands each request to svc, to the application, or to the routes of `svc dev` itself. */
export const createDispatch = (deps: DispatchDeps): Dispatch => {
  const { own, baseUrl, app, loadProxy, service, handleDev, events } = deps
  const { host: baseHost } = new URL(baseUrl)

  /** Cookies belong to one host: a browser that has opened another name of this one is sent there. */
  const isElsewhere = ({ method, headers }: IncomingMessage): boolean =>
    method === 'GET' && headers['sec-fetch-mode'] === 'navigate' && headers.host !== baseHost

  const passToApp = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    if (app === undefined) {
      const isStart = incoming.url === '/'
      if (isStart) incoming.url = '/auth/dev'
      return handleDev(incoming, outgoing)
    }
    const problem = await (await loadProxy()).pass(incoming, outgoing)
    if (problem === undefined) return
    if (outgoing.headersSent) outgoing.destroy()
    else send(outgoing, toOutage(incoming, app, problem, (await service()).layout))
  }

  const handle = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    try {
      own.requireHost(incoming)
      if (isElsewhere(incoming))
        return void outgoing.writeHead(307, { location: `${baseUrl}${incoming.url}`, 'content-length': 0 }).end()
      incoming.url = incoming.url?.replace(REWRITTEN, '/auth')
      const { url = '' } = incoming
      if (OF_DEV.test(url)) return await handleDev(incoming, outgoing)
      if (OF_SVC.test(url)) return void (await service()).server.emit('request', incoming, outgoing)
      await passToApp(incoming, outgoing)
    } catch (error) {
      send(outgoing, toErrorResponse(error, incoming, (await service()).layout))
    }
  }

  const report = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    const { method = '', url = '' } = incoming
    const startedMs = performance.now()
    if (isPart(incoming)) return
    outgoing.once('close', () => {
      const [path = ''] = url.split('?', 1)
      const ms = Math.round(performance.now() - startedMs)
      events.tell({ type: 'request', method, path, status: outgoing.headersSent ? outgoing.statusCode : 0, ms })
    })
  }

  return {
    onRequest(incoming, outgoing) {
      report(incoming, outgoing)
      void handle(incoming, outgoing)
    },

    /** svc has no WebSockets: they are those of the application. */
    onUpgrade(incoming, socket, head) {
      const { url = '' } = incoming
      if (app !== undefined && !OF_SVC.test(url) && isAllowed(() => own.requireHost(incoming)))
        void loadProxy().then((proxy) => proxy.upgrade(incoming, socket, head))
      else socket.end('HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: 0\r\n\r\n')
    },
  }
}

const isAllowed = (check: () => void): boolean => {
  try {
    check()
    return true
  } catch {
    return false
  }
}

const SHOWN = ['document', 'iframe', 'empty']

/**
 * A page in development may consist of hundreds of files, which a browser names as what they are. Deliveries of events
 * have lines of their own.
 */
const isPart = ({ method, url = '', headers }: IncomingMessage): boolean => {
  const { 'sec-fetch-dest': kind = 'empty' } = headers
  return !SHOWN.includes(kind) || /^\/auth\/dev\/(?:events|dev\.)/.test(url) || isDelivery(method, url)
}

const isDelivery = (method: string | undefined, url: string): boolean =>
  method === 'POST' && url === '/auth/dev/webhooks'

const toOutage = ({ headers }: IncomingMessage, app: string, { message }: Error, layout: Layout): ContentResponse => {
  const words = `The application does not answer at ${app} (${message}).`
  if (!wantsPage(headers)) return { status: 502, contentType: 'text/plain; charset=utf-8', body: words }
  return { ...page(502, outagePage(layout, words)), headers: ['refresh', '2'] }
}
