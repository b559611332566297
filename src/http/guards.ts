import { AppError } from '../lib/errors.ts'
import type { RouteDeps } from './deps.ts'
import { type HttpResponse, redirect } from './request-context.ts'
import type { Route } from './route.ts'
import type { IncomingRequest } from './transport/incoming-request.ts'

/** Lets through who may come, as the route's row says, and asks the route for its answer. */
export const createGuards = ({ sessions, findCurrentSession, cookieTable }: RouteDeps) => ({
  /** What is refused before anything else is looked at. */
  precheck(route: Route, context: IncomingRequest): void {
    if (route.guard !== 'refresh_token' || context.cookies.bringsRefresh) return
    throw unauthorized(`The cookie ${cookieTable.refresh.name} is missing. Log in.`)
  },

  async answer(route: Route, context: IncomingRequest): Promise<HttpResponse> {
    if (route.guard === 'none') return route.answer(context)
    if (route.guard === 'refresh_token') {
      if (!context.cookies.refresh) throw unauthorized(unusable(context))
      return route.answer(context, context.cookies.refresh)
    }
    if (route.guard === 'access_token') {
      const { access } = context.cookies
      const signedIn = access ? await sessions.authenticate(access) : undefined
      if (!signedIn) throw unauthorized(access ? 'The access token is not good. Log in.' : 'You are not logged in.')
      context.signedIn = signedIn
      return route.answer(context, signedIn)
    }
    const signedIn = await findCurrentSession(context)
    if (!signedIn) return redirect('/auth/login?return_to=%2Fauth%2Faccount')
    return route.answer(context, signedIn)
  },
})

const unusable = ({ cookies }: IncomingRequest): string =>
  cookies.repeated.length > 0
    ? 'A cookie of the service came more than once. Log in.'
    : 'The cookies for refresh and CSRF token are not of one session. Log in.'

const unauthorized = (message: string): AppError => new AppError('unauthorized', message)
