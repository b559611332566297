import { findResource, isAudience } from '../../lib/audience.ts'
import { AppError } from '../../lib/errors.ts'
import { CSRF_FIELD } from '../../http/csrf.ts'
import type { Services } from '../../http/services.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { HttpResponse } from '../../http/response.ts'
import type { Documentation } from '../../http/route.ts'
import { failure, UNAVAILABLE } from '../schemas.ts'

/** Answers `POST /auth/api/v1/sessions/refresh` (CONTRACT.md 3.2). */
export const createRefreshSession = ({
  sessions,
  audiences,
  clientResources,
  finishRefresh,
  cookieTable,
}: Pick<Services, 'audiences' | 'clientResources' | 'cookieTable' | 'finishRefresh' | 'sessions'>) => ({
  documentation: documentationOf(cookieTable.csrf.name),

  async handle(context: RequestContext, refreshToken: string): Promise<HttpResponse> {
    const audience = requireAudience(context, audiences)
    if (findResource(clientResources, audience) !== undefined) throw ofClients(audience)
    const result = await sessions.refresh(refreshToken, context, audience)
    finishRefresh(context, result)
    if (!('tokens' in result)) throw new AppError('unauthorized', MESSAGES[result.outcome])
    return { status: 200, contentType: '', body: '' }
  },
})

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

/** The token of a cookie must never pass for one of a client. */
const ofClients = (audience: string): AppError =>
  refusal(`The audience "${audience}" is for tokens of clients alone (SVC_CLIENT_RESOURCES).`)

const refusal = (message: string): AppError => new AppError('invalid_request', message, { field: 'audience' })

const CSRF_TOKEN = { type: 'string', pattern: '^[A-Za-z0-9_-]{43}$' }

const documentationOf = (csrfCookie: string): Documentation => ({
  operationId: 'refreshSession',
  summary: 'Renews the session and sets new session cookies',
  tag: 'Sessions',
  parameters: [
    {
      name: 'audience',
      in: 'query',
      required: true,
      description: 'The audience of the new access token',
      schema: { type: 'string', pattern: '^[A-Za-z0-9._:/-]{1,128}$' },
    },
    {
      name: CSRF_FIELD,
      in: 'header',
      required: true,
      description: 'The value of the CSRF cookie',
      schema: CSRF_TOKEN,
    },
    {
      name: csrfCookie,
      in: 'cookie',
      required: true,
      description: 'The CSRF token; every page under /auth sets it, and scripts can read it',
      schema: CSRF_TOKEN,
    },
  ],
  responses: {
    200: { description: 'Renewed; the body is empty', headers: ['Set-Cookie'] },
    400: failure('`invalid_request`: the audience is missing or not accepted'),
    401: failure(
      '`unauthorized`: the session has ended; its cookies are cleared, unless a login in the same browser has just set newer ones',
      'Set-Cookie',
      'WWW-Authenticate',
    ),
    403: failure('`forbidden`: the CSRF token or the origin is wrong'),
    500: failure('`internal_error`'),
    503: UNAVAILABLE,
  },
})
