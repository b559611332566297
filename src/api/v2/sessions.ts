import { AppError } from '../../lib/errors.ts'
import type { Services } from '../../http/services.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type HttpResponse, json, noContent } from '../../http/response.ts'
import type { Documentation } from '../../http/route.ts'
import { failure } from '../schemas.ts'
import { refToV2 } from './schemas.ts'
import { toTimestamp } from '../../lib/time.ts'
import type { Session } from '../../sessions/sessions.ts'

/** CONTRACT.md 10.3 describes these routes. */
export const createSessionRoutes = ({
  sessions,
  users,
  accountLog,
}: Pick<Services, 'accountLog' | 'sessions' | 'users'>) => ({
  find: createFindSession({ sessions }),

  list: {
    documentation: {
      operationId: 'listSessions',
      summary: 'The live sessions of a user, the last seen first',
      tag: 'Sessions',
      responses: {
        200: { description: 'The sessions', schema: refToV2('SessionList') },
        404: failure('`not_found`: there is no such user'),
      },
    } satisfies Documentation,

    async handle({ parameters }: RequestContext): Promise<HttpResponse> {
      const { id = '' } = parameters
      if (!(await users.find(id))) throw new AppError('not_found', 'There is no such user.')
      const { sessions: found } = await sessions.list(id, ALL)
      return json(200, JSON.stringify({ sessions: found.map(toSessionJson) }))
    },
  },

  endAll: {
    documentation: {
      operationId: 'endSessions',
      summary: 'Ends all sessions of a user, on every replica at once',
      tag: 'Sessions',
      responses: { 204: { description: 'The user has no session any more' } },
    } satisfies Documentation,

    async handle(context: RequestContext): Promise<HttpResponse> {
      const { id = '' } = context.parameters
      const count = await sessions.endAll(id, context)
      accountLog.record(context, { event: 'session_end', userId: id, count })
      return noContent
    },
  },

  end: {
    documentation: {
      operationId: 'endSession',
      summary: 'Ends a session, on every replica at once',
      tag: 'Sessions',
      responses: { 204: { description: 'The session has ended, now or before' } },
    } satisfies Documentation,

    async handle(context: RequestContext): Promise<HttpResponse> {
      const { id = '' } = context.parameters
      await sessions.endAny(id, context)
      accountLog.record(context, { event: 'session_end', endedSessionId: id })
      return noContent
    },
  },
})

const ALL = Number.MAX_SAFE_INTEGER

/** Answers `GET /auth/api/v2/sessions/{id}` (CONTRACT.md 10.3), for connections that outlive their request. */
const createFindSession = ({ sessions }: Pick<Services, 'sessions'>) => ({
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

/** Shows a session in the form of the server API. */
const toSessionJson = (session: Session) => ({
  id: session.id,
  user_id: session.userId,
  created_at: toTimestamp(session.createdAtMs),
  last_seen_at: toTimestamp(session.lastSeenAtMs),
  expires_at: toTimestamp(session.expiresAtMs),
  user_agent: session.userAgent,
  address: session.address,
})
