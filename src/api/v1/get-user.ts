import type { AuthenticatedSession } from '../../sessions/sessions.ts'
import { sessionHeadersOf } from '../check/user-headers.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type HttpResponse, json } from '../../http/response.ts'
import type { Documentation } from '../../http/route.ts'
import { failure, refTo, UNAVAILABLE } from '../schemas.ts'

/** Answers `GET /auth/api/v1/user` (CONTRACT.md 4.1). */
export const getUser = {
  documentation: {
    operationId: 'getUser',
    summary: 'The authenticated user',
    tag: 'Users',
    responses: {
      200: {
        description: 'The signed-in user',
        schema: refTo('User'),
        headers: ['X-Svc-User-Sid', 'X-Svc-User-Email-Verified', 'X-Svc-User-Amr', 'X-Svc-User-Auth-Time'],
      },
      401: failure('`unauthorized`: the user must log in', 'WWW-Authenticate'),
      503: UNAVAILABLE,
    },
  } satisfies Documentation,

  handle: (_context: RequestContext, session: AuthenticatedSession): HttpResponse => ({
    ...json(200, session.userJson),
    headers: sessionHeadersOf(session),
  }),
}
