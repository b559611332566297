import { headers } from 'next/headers.js'
import { redirect } from 'next/navigation.js'
import { createGuard } from '../guard/guard.ts'
import { toResponse } from '../guard/refusal-response.ts'
import { loginUrlTo } from '../request/login-url.ts'
import { isNavigation } from '../request/page.ts'
import { SvcUnavailableError } from '../svc-unavailable-error.ts'
import type { User } from '../user.ts'
import { PATH_HEADER } from './auth-proxy.ts'
import { findAuth, type GetUserOptions } from './get-user.ts'
import { isRendering } from './rendering.ts'

export interface RequireUserOptions extends GetUserOptions {
  /** Where the login page leads back to: by default the page itself where `authProxy` runs, and `/` elsewhere. */
  returnTo?: string | undefined
}

/** A route handler that gets the user as well. */
export type UserRouteHandler<Asked extends Request, Context> = (
  request: Asked,
  user: User,
  context: Context,
) => Response | Promise<Response>

/** A route handler of Next.js. */
export type RouteHandler<Asked extends Request, Context> = (request: Asked, context: Context) => Promise<Response>

// By this mark Next.js answers an error with 401. Its own `unauthorized()` throws the same, and needs a setting.
const unauthorized = (): Error =>
  Object.assign(new Error('Nobody is signed in.'), { digest: 'NEXT_HTTP_ERROR_FALLBACK;401' })

// Next.js tells no method; what is sent has a type, and a script that sends an action has a header of its own.
const isSent = (received: Headers): boolean => received.has('next-action') || received.has('content-type')

// Next.js prints what a page throws.
const askOrTell = async (received: Headers, options: RequireUserOptions): Promise<User | null> => {
  try {
    return await findAuth(options).getUser(received)
  } catch (error) {
    if (error instanceof SvcUnavailableError) options.onUnavailable?.(error)
    throw error
  }
}

const requireCurrentUser = async (options: RequireUserOptions): Promise<User> => {
  const isPage = isRendering()
  const received = await headers()
  const user = await askOrTell(received, options)
  if (user) return user
  // A `<Link>` fetches a page as any script would, and Next.js tells a page nothing of it.
  if (isSent(received) || !(isPage || isNavigation(received))) throw unauthorized()
  return redirect(loginUrlTo(options.returnTo ?? received.get(PATH_HEADER) ?? '/'))
}

const wrap =
  <Asked extends Request, Context>(
    handler: UserRouteHandler<Asked, Context>,
    options: RequireUserOptions,
  ): RouteHandler<Asked, Context> =>
  async (request, context) => {
    const { user, refusal } = await createGuard({ ...options, auth: findAuth(options) }).requireUser(request)
    return refusal ? toResponse(refusal) : handler(request, user, context)
  }

/**
 * The signed-in user, in a page, an action or a route. Without one, a page leads to the login page and anything else
 * gets 401. Throws `SvcUnavailableError` when svc cannot say.
 */
export function requireUser(options?: RequireUserOptions): Promise<User>
/** A route handler for signed-in users, which answers others itself: login page or 401 in JSON, and 503 in an outage. */
export function requireUser<Asked extends Request = Request, Context = unknown>(
  handler: UserRouteHandler<Asked, Context>,
  options?: RequireUserOptions,
): RouteHandler<Asked, Context>
export function requireUser(
  first: RequireUserOptions | UserRouteHandler<Request, unknown> = {},
  options: RequireUserOptions = {},
): Promise<User> | RouteHandler<Request, unknown> {
  return typeof first === 'function' ? wrap(first, options) : requireCurrentUser(first)
}
