import type { AppError } from '../../lib/errors.ts'
import type { AuthenticatedSession } from '../../sessions/sessions.ts'
import type { Services } from '../../http/services.ts'
import { toErrorJson } from '../../http/errors.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type HttpResponse, json, page, redirect } from '../../http/response.ts'
import { withReturnTo } from '../../http/return-to.ts'
import { isForwarded, isPassedOn, isShownToPeople, readOriginalRequest } from './original-request.ts'
import { userHeadersOf } from './user-headers.ts'

/**
 * `/auth/check` and `/auth/check/forward` tell whether the sender of another request is signed in, and as which user.
 */
export const createCheck = (deps: Pick<Services, 'baseUrl' | 'frame' | 'homeUrl'>) => {
  const asksForRemote = createRemoteQuestion()

  return {
    handle: (context: RequestContext, session: AuthenticatedSession): HttpResponse => {
      const remote = !isForwarded(context) && asksForRemote(context)
      return { status: 200, contentType: '', body: '', headers: userHeadersOf(session, remote) }
    },

    /** The sender is not signed in: a page leads to the login page and back, and a form was not sent. */
    refuse(context: RequestContext, error: AppError): HttpResponse {
      const { isPage, returnTo } = readOriginalRequest(context, deps)
      const login = withReturnTo(`${deps.baseUrl}/auth/login`, returnTo)
      if (isPage && isPassedOn(context)) return redirect(login)
      if (isShownToPeople(context)) {
        const { requestId } = context
        return { ...page(401, deps.frame.notSent({ returnTo, requestId })), refused: error }
      }
      const answer = json(401, toErrorJson(error, context.requestId))
      return { ...answer, headers: isPage ? ['x-svc-login', login] : [], refused: error }
    },
  }
}

/** A proxy sends the same address each time: to read its query each time would be a fifth of the cost of a check. */
const createRemoteQuestion = () => {
  let latestTarget = ''
  let isAsked = false
  return (context: RequestContext): boolean => {
    if (context.target !== latestTarget) {
      isAsked = context.query.get('headers') === 'remote'
      latestTarget = context.target
    }
    return isAsked
  }
}
