import { AppError } from '../../lib/errors.ts'
import type { RouteDeps } from '../../http/deps.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type HttpResponse, json } from '../../http/response.ts'
import type { Documentation } from '../../http/route.ts'
import { failure } from '../schemas.ts'
import { refToV2 } from './schemas.ts'
import { toSessionJson } from './session-json.ts'

/** `GET /auth/api/v2/sessions/{id}` (CONTRACT.md 10.3): for connections that outlive their request. */
export const createFindSession = ({ sessions }: Pick<RouteDeps, 'sessions'>) => ({
  documentation: {
    operationId: 'findSession',
    summary: 'A live session, which ends unless it is renewed',
    tag: 'Sessions',
    responses: {
      200: { description: 'The session', schema: refToV2('Session') },
      404: failure('`not_found`: there is no such session, or it has ended'),
    },
  } satisfies Documentation,

  async handle({ parameters }: RequestContext): Promise<HttpResponse> {
    const session = await sessions.find(parameters.id ?? '')
    if (!session) throw new AppError('not_found', 'There is no such session, or it has ended.')
    return json(200, JSON.stringify(toSessionJson(session)))
  },
})
