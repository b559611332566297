import { AppError } from '../lib/errors.ts'
import type { Refusal } from './form-problems.ts'
import type { RouteDeps } from './deps.ts'
import { statusOf } from './errors.ts'
import { returnAfterLogin } from './guards.ts'
import { prefersJson } from './negotiation.ts'
import type { RequestContext } from './request-context.ts'
import { type HttpResponse, page } from './response.ts'
import type { Route } from './route.ts'

/**
 * Answers a form that was refused for its CSRF token alone, as after a login in another tab: shows it again
 * (`showAgain` in the table of routes) with what was typed and a new token, or says that the user was logged out since
 * then. Its handler is not called. Throws the refusal where the route has no such page.
 */
export const createOutdatedForms = ({ findCurrentSession, frame }: Pick<RouteDeps, 'findCurrentSession' | 'frame'>) => {
  const render = async (route: Route, context: RequestContext, refused: AppError): Promise<string> => {
    const refusal = refusalOf(context, refused)
    if (route.responseKind === 'html' && route.answersScripts && prefersJson(context.headers)) throw refused
    if (route.guard === 'none' && route.showAgain) return route.showAgain(context, refusal)
    if (!isForSignedIn(route, context)) throw refused
    const session = await findCurrentSession(context)
    // Cookies that came more than once hide whether the user is signed in.
    if (!session && context.cookies.repeated.length === 0)
      return frame.wasLoggedOut({ returnTo: returnAfterLogin(route, context), requestId: context.requestId })
    if (!session || route.guard !== 'session' || !route.showAgain) throw refused
    return route.showAgain(context, refusal, session)
  }

  return async (route: Route, context: RequestContext, refused: AppError): Promise<HttpResponse> => {
    try {
      return { ...page(statusOf(refused.code), await render(route, context, refused)), refused }
    } catch (error) {
      // Something else is wrong with the form too.
      throw error instanceof AppError && statusOf(error.code) < 500 ? refused : error
    }
  }
}

/** Whether a form stands on a page for users who are signed in: that of a provider says so itself. */
const isForSignedIn = ({ guard }: Route, { form }: RequestContext): boolean =>
  guard === 'session' || ['link', 'confirm'].includes(form.get('intent') ?? '')

const refusalOf = ({ cookies, requestId }: RequestContext, { message }: AppError): Refusal => {
  const cookieMissing = !cookies.csrf && !cookies.repeated.includes('csrf')
  return { errors: {}, problem: { kind: 'outdated', cookieMissing, requestId, details: message } }
}
