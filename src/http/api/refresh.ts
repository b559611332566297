import { isAudience } from '../../lib/audience.ts'
import { AppError } from '../../lib/errors.ts'
import type { RouteDeps } from '../deps.ts'
import { setRefreshCookies } from '../refresh-cookies.ts'
import type { HttpResponse, RequestContext } from '../request-context.ts'

/** `POST /auth/api/v1/sessions/refresh` (specification section 4.1). */
export const createRefresh =
  ({ sessions, audiences, noteRefresh }: RouteDeps) =>
  async (context: RequestContext, refreshToken: string): Promise<HttpResponse> => {
    const audience = requireAudience(context, audiences)
    const result = await sessions.refresh(refreshToken, context.device, audience)
    noteRefresh(context, result)
    setRefreshCookies(context, result)
    if (!('tokens' in result)) throw new AppError('unauthorized', MESSAGES[result.outcome])
    return { status: 200, contentType: '', body: '' }
  }

const ENDED = 'The session has ended. Log in again.'

const MESSAGES = {
  unknown: ENDED,
  reused: ENDED,
  replaced: 'This browser has signed in again a moment ago. Go on with the cookies that it has now.',
}

const requireAudience = (context: RequestContext, allowed: string[]): string => {
  const audience = context.query.get('audience')
  if (!audience) throw refusal('The query parameter "audience" is missing.')
  if (!isAudience(audience)) {
    throw refusal('The query parameter "audience" must be 1 to 128 of the characters A-Z a-z 0-9 . _ : / -')
  }
  if (allowed.length > 0 && !allowed.includes(audience)) {
    throw refusal(`The audience "${audience}" is not one of this service's (SVC_AUDIENCES).`)
  }
  return audience
}

const refusal = (message: string): AppError => new AppError('invalid_request', message, { field: 'audience' })
