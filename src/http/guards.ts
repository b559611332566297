import { type Awaitable, after } from '../lib/awaitable.ts'
import { AppError } from '../lib/errors.ts'
import type { RouteDeps } from './deps.ts'
import type { RequestContext } from './request-context.ts'
import { type HttpResponse, redirect } from './response.ts'
import { withReturnTo } from './return-to.ts'
import type { KeylessRoute, Route } from './route.ts'
import { ACCOUNT_PATH } from './step-up.ts'
import type { IncomingRequest } from './transport/incoming-request.ts'

/** Decides by the guard of a route whether its handler is called. */
export const createGuards = ({ sessions, findCurrentSession, cookieTable }: RouteDeps) => ({
  /** Comes before all other checks: without a refresh token the response is 401, whatever else is wrong. */
  requireRefreshCookie(route: Route, { cookies }: IncomingRequest): void {
    if (route.guard !== 'refresh_token' || cookies.bringsRefresh) return
    throw unauthorized(`The cookie ${cookieTable.refresh.name} is missing. Log in.`)
  },

  /** Calls the handler, or refuses the request (`unauthorized`), or redirects it to the login page. */
  handle(route: KeylessRoute, context: IncomingRequest): Awaitable<HttpResponse> {
    if (route.guard === 'none') return route.handle(context)
    if (route.guard === 'refresh_token') {
      if (!context.cookies.refresh) throw unauthorized(unusable(context))
      return route.handle(context, context.cookies.refresh)
    }
    if (route.guard === 'access_token') {
      const { access } = context.cookies
      return after(access && sessions.authenticate(access), (session) => {
        if (!session) {
          const error = unauthorized(access ? 'The access token is not good. Log in.' : 'You are not logged in.')
          if (route.refuse) return route.refuse(context, error)
          throw error
        }
        context.session = session
        return route.handle(context, session)
      })
    }
    return after(findCurrentSession(context), (session) => {
      if (!session) return redirect(withReturnTo('/auth/login', returnAfterLogin(route, context)))
      return route.handle(context, session)
    })
  },
})

/** Where a user goes who must log in before a request. */
export const returnAfterLogin = (route: Route, context: RequestContext): string =>
  route.returnAfterLogin?.(context) ?? ACCOUNT_PATH

const unusable = ({ cookies }: IncomingRequest): string =>
  cookies.repeated.length > 0
    ? 'A cookie of the service came more than once. Log in.'
    : 'The cookies for refresh and CSRF token are not of one session. Log in.'

const unauthorized = (message: string): AppError => new AppError('unauthorized', message)
