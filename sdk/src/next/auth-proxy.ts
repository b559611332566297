import { NextResponse } from 'next/server.js'
import { readIssuer } from '../auth/settings.ts'
import { createGuard, type GuardOptions } from '../guard/guard.ts'
import { toResponse } from '../guard/refusal-response.ts'
import { isRouterRequest } from './router-request.ts'

/** What the proxy needs of a `NextRequest`. */
export interface ProxyRequest extends Request {
  nextUrl: { pathname: string }
}

/** Tells a page its own address, which Next.js does not. A forged one leads its sender to another page, no more. */
export const PATH_HEADER = 'x-svc-path'

// The routes of svc, which a rewrite may serve in development, and files of the build.
const isOpen = (pathname: string): boolean => /^\/(?:auth|_next)(?:\/|$)/.test(pathname)

// Next.js takes absolute addresses only. Version 16 makes those of the address that it was asked by relative again;
// version 15 knows that address only by its own host name, so that the public origin must be told behind a proxy.
const toAbsolute = (response: Response, base: string): Response => {
  const location = response.headers.get('location')
  if (location !== null) response.headers.set('location', new URL(location, base).href)
  return response
}

// The router takes it for "nothing here": a link that is followed loads its page as a browser does, and is led to the
// login page. A 401 would do the same, with a red line in the console for each link that comes into view.
const nothingForRouter = (): Response => new Response(null, { status: 204, headers: { 'cache-control': 'no-store' } })

/**
 * A function for `proxy.ts` (`middleware.ts` before Next.js 16). Pages of visitors who are not signed in lead to the
 * login page, other requests get 401, an outage is 503. It is a convenience and never the only check: pages, actions
 * and routes call `requireUser` themselves.
 */
export const authProxy = (options: GuardOptions = {}): ((request: ProxyRequest) => Promise<Response>) => {
  const guard = createGuard(options)
  return async (request) => {
    if (isOpen(request.nextUrl.pathname)) return NextResponse.next()
    const { refusal } = await guard.requireUser(request)
    if (refusal?.status === 401 && isRouterRequest(request.headers)) return nothingForRouter()
    if (refusal) return toAbsolute(toResponse(refusal), readIssuer(options.issuer) ?? request.url)
    const headers = new Headers(request.headers)
    const { pathname, search } = new URL(request.url)
    headers.set(PATH_HEADER, pathname + search)
    return NextResponse.next({ request: { headers } })
  }
}
