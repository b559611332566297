import { type Awaitable, after } from '../lib/awaitable.ts'
import { AppError } from '../lib/errors.ts'
import type { Services } from './services.ts'
import { type HttpResponse, redirect } from './response.ts'
import { withReturnTo } from './return-to.ts'
import type { FormRunner } from './form-runner.ts'
import { type KeylessRoute, type PageRoute, type Route, returnAfterLogin } from './route.ts'
import type { IncomingRequest } from './transport/incoming-request.ts'

interface GuardDeps extends Pick<Services, 'sessions' | 'findCurrentSession' | 'cookieTable'> {
  loadForms: () => Promise<FormRunner>
}

/** Decides by the guard of a route whether its handler is called. */
export const createGuards = ({ sessions, findCurrentSession, cookieTable, loadForms }: GuardDeps) => {
  const open = <Credential extends unknown[]>(
    route: PageRoute<Credential> & Pick<Route, 'guard'>,
    context: IncomingRequest,
    ...credential: Credential
  ): Awaitable<HttpResponse> => {
    if (route.method === 'GET') return after(route.module(), ({ show }) => show(context, ...credential))
    return after(route.module(), async (form) => (await loadForms()).run(route, context, form, ...credential))
  }

  return {
    /**
     * This comes before all other checks: if there is no refresh token, the response is 401, whatever else is wrong.
     */
    requireRefreshCookie(route: Route, { cookies }: IncomingRequest): void {
      if (route.guard !== 'refresh_token' || cookies.bringsRefresh) return
      throw unauthorized(`The cookie ${cookieTable.refresh.name} is missing. Log in.`)
    },

    /** Calls the handler, or refuses the request (`unauthorized`), or redirects it to the login page. */
    handle(route: KeylessRoute, context: IncomingRequest): Awaitable<HttpResponse> {
      if (route.guard === 'none')
        return route.responseKind === 'html'
          ? open(route, context)
          : after(route.module(), ({ handle }) => handle(context))
      if (route.guard === 'refresh_token') {
        const { refresh } = context.cookies
        if (!refresh) throw unauthorized(unusable(context))
        return after(route.module(), ({ handle }) => handle(context, refresh))
      }
      if (route.guard === 'access_token') {
        const { access } = context.cookies
        return after(access && sessions.authenticate(access), (session) => {
          if (session) {
            context.session = session
            return after(route.module(), ({ handle }) => handle(context, session))
          }
          const error = unauthorized(access ? 'The access token is not good. Log in.' : 'You are not logged in.')
          if (route.responseKind !== 'check') throw error
          return after(route.module(), ({ refuse }) => refuse(context, error))
        })
      }
      return after(findCurrentSession(context), (session) =>
        session
          ? open(route, context, session)
          : redirect(withReturnTo('/auth/login', returnAfterLogin(route, context))),
      )
    },
  }
}

const unusable = ({ cookies }: IncomingRequest): string =>
  cookies.repeated.length > 0
    ? 'A cookie of the service came more than once. Log in.'
    : 'The cookies for refresh and CSRF token are not of one session. Log in.'

const unauthorized = (message: string): AppError => new AppError('unauthorized', message)
