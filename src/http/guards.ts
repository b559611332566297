import { AppError } from '../lib/errors.ts'
import type { RouteParts } from './deps.ts'
import { type Answer, redirect } from './request-context.ts'
import type { Route } from './route.ts'
import type { RequestVisit } from './transport/incoming-request.ts'

/** Lets through who may come, as the route's row says, and asks the route for its answer. */
export const createGuards = ({ sessions, recognize, cookieTable }: RouteParts) => ({
  /** What is refused before anything else is looked at. */
  precheck(route: Route, visit: RequestVisit): void {
    if (route.guard !== 'refresh_token' || visit.cookies.bringsRefresh) return
    throw unauthorized(`The cookie ${cookieTable.refresh.name} is missing. Log in.`)
  },

  async answer(route: Route, visit: RequestVisit): Promise<Answer> {
    if (route.guard === 'none') return route.answer(visit)
    if (route.guard === 'refresh_token') {
      if (!visit.cookies.refresh) throw unauthorized(unusable(visit))
      return route.answer(visit, visit.cookies.refresh)
    }
    if (route.guard === 'access_token') {
      const { access } = visit.cookies
      const signedIn = access ? await sessions.authenticate(access) : undefined
      if (!signedIn) throw unauthorized(access ? 'The access token is not good. Log in.' : 'You are not logged in.')
      visit.signedIn = signedIn
      return route.answer(visit, signedIn)
    }
    const signedIn = await recognize(visit)
    if (!signedIn) return redirect('/auth/login?return_to=%2Fauth%2Faccount')
    return route.answer(visit, signedIn)
  },
})

const unusable = ({ cookies }: RequestVisit): string =>
  cookies.repeated.length > 0
    ? 'A cookie of the service came more than once. Log in.'
    : 'The cookies for refresh and CSRF token are not of one session. Log in.'

const unauthorized = (message: string): AppError => new AppError('unauthorized', message)
