import { AppError } from '../lib/errors.ts'
import type { Refusal } from './browser/form-problems.ts'
import type { RouteDeps } from './deps.ts'
import { statusOf } from './errors.ts'
import { prefersJson } from './prefers-json.ts'
import type { RequestContext } from './request-context.ts'
import { type HttpResponse, page } from './response.ts'
import type { Route } from './route.ts'

/**
 * Answers a form that was refused for its CSRF token alone, as after a login in another tab: shows it again
 * (`showAgain` in the table of routes) with what was typed and a new token. Its handler is not called. Throws the
 * refusal where the route has no such page, or cannot show it to this browser.
 */
export const createOutdatedForms = ({ findCurrentSession }: Pick<RouteDeps, 'findCurrentSession'>) => {
  const render = async (route: Route, context: RequestContext, refused: AppError): Promise<string> => {
    const refusal = refusalOf(context, refused)
    if (route.responseKind === 'html' && route.answersScripts && prefersJson(context.headers)) throw refused
    if (route.guard === 'none' && route.showAgain) return route.showAgain(context, refusal)
    if (route.guard !== 'session' || !route.showAgain) throw refused
    const session = await findCurrentSession(context)
    if (!session) throw refused
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

const refusalOf = ({ cookies, requestId }: RequestContext, { message }: AppError): Refusal => {
  const cookieMissing = !cookies.csrf && !cookies.repeated.includes('csrf')
  return { errors: {}, problem: { kind: 'outdated', cookieMissing, requestId, details: message } }
}
