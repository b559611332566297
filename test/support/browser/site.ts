import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { buffer, text } from 'node:stream/consumers'
import { afterwards } from '../cleanup.ts'
import type { TurnedClock } from '../clock/turned-clock.ts'
import type { Environment } from '../service/command.ts'
import { type Service, startService } from '../service/service.ts'

/** A request that the application has received. */
export type Received = {
  method: string
  path: string
  /** The status of `GET /auth/api/v1/user` with the cookies of the request. */
  userStatus: number
  /** Name and value in order; of a file its name and its text. */
  fields: [string, string][]
  /** Below /api/ in place of the fields. */
  body?: string
}

/** What the application answers at a path. */
type Page = { body: string; headers?: Record<string, string>; isFile?: boolean }

const HEAD = '<!doctype html><html lang="en"><title>Application</title>'

/** An application and svc on one origin, behind a proxy that counts renewals. */
export type Site = {
  url: string
  service: Service
  pages: Map<string, Page>
  /** Requests with a body, in order. */
  received: Received[]
  /** The statuses of renewals that reached svc, in order; 0 for one that the proxy did not pass on. */
  renewals: number[]
  /** What the proxy does with a renewal: it waits for this first, and hangs up where it rejects. */
  gate: () => Promise<unknown>
}

const OPEN = () => Promise.resolve()

const fieldsOf = async (incoming: IncomingMessage): Promise<[string, string][]> => {
  const type = incoming.headers['content-type'] ?? ''
  const form = await new Response(await buffer(incoming), { headers: { 'content-type': type } }).formData()
  const fields = [...form].map(async ([name, value]): Promise<[string, string]> => {
    return [name, typeof value === 'string' ? value : `${value.name}: ${await value.text()}`]
  })
  return Promise.all(fields)
}

/**
 * Starts both; they end with the file. Everything outside /auth is a page of `pages`, or an answer that says so; below
 * /api/ the application answers 401 to those who are not signed in.
 */
export const startSite = async ({ env, clock }: { env?: Environment; clock?: TurnedClock } = {}): Promise<Site> => {
  const server = createServer((incoming, outgoing) => {
    const isAuth = /^\/auth(?:[/?]|$)/.test(incoming.url ?? '')
    void (isAuth ? pass(incoming, outgoing) : answer(incoming, outgoing))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  afterwards(undefined, () => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the site has no port')
  const url = `http://localhost:${address.port}`
  const service = await startService({ env: { SVC_BASE_URL: url, ...env }, ...(clock && { clock }) })
  const site: Site = { url, service, pages: new Map(), received: [], renewals: [], gate: OPEN }

  const pass = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const { method, url: path = '', headers } = incoming
    const isRenewal = path.startsWith('/auth/api/v1/sessions/refresh')
    if (isRenewal) {
      try {
        await site.gate()
      } catch {
        site.renewals.push(0)
        incoming.destroy()
        return
      }
    }
    const passed = request({ host: '127.0.0.1', port: service.port, method, path, headers }, (answered) => {
      const { statusCode = 0 } = answered
      if (isRenewal) site.renewals.push(statusCode)
      outgoing.writeHead(statusCode, answered.rawHeaders)
      answered.pipe(outgoing)
    })
    passed.on('error', () => outgoing.destroy())
    incoming.pipe(passed)
  }

  const userStatusOf = async ({ headers: { cookie = '' } }: IncomingMessage): Promise<number> =>
    (await fetch(`http://127.0.0.1:${service.port}/auth/api/v1/user`, { headers: { cookie } })).status

  const answer = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const { method = '', url: path = '' } = incoming
    if (path.startsWith('/api/')) {
      const body = await text(incoming)
      const userStatus = await userStatusOf(incoming)
      site.received.push({ method, path, userStatus, fields: [], body })
      outgoing.writeHead(userStatus).end(body)
      return
    }
    const fields = method === 'POST' ? await fieldsOf(incoming) : []
    const userStatus = await userStatusOf(incoming)
    if (method === 'POST') site.received.push({ method, path, userStatus, fields })
    const page = (method === 'POST' ? undefined : site.pages.get(path)) ?? { body: `<p id="answer">${method} ${path}` }
    const headers = { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache', ...page.headers }
    outgoing.writeHead(200, headers).end(page.isFile ? page.body : HEAD + page.body)
  }
  return site
}
