import { AppError } from '../../../lib/errors.ts'
import { toTimestamp } from '../../../lib/time.ts'
import type { Session } from '../../../sessions/sessions.ts'
import type { RouteDeps } from '../../deps.ts'
import type { RequestContext } from '../../request-context.ts'
import { type HttpResponse, json, noContent } from '../../response.ts'
import type { Documentation } from '../../route.ts'
import { failure } from '../schemas.ts'
import { refToV2 } from './schemas.ts'

const DOCUMENTATION = {
  list: {
    operationId: 'listSessions',
    summary: 'The live sessions of a user, the last seen first',
    tag: 'Sessions',
    responses: {
      200: { description: 'The sessions', schema: refToV2('SessionList') },
      404: failure('`not_found`: there is no such user'),
    },
  },

  endAll: {
    operationId: 'endSessions',
    summary: 'Ends all sessions of a user, on every replica at once',
    tag: 'Sessions',
    responses: { 204: { description: 'The user has no session any more' } },
  },

  find: {
    operationId: 'findSession',
    summary: 'A live session, which ends unless it is renewed',
    tag: 'Sessions',
    responses: {
      200: { description: 'The session', schema: refToV2('Session') },
      404: failure('`not_found`: there is no such session, or it has ended'),
    },
  },

  end: {
    operationId: 'endSession',
    summary: 'Ends a session, on every replica at once',
    tag: 'Sessions',
    responses: { 204: { description: 'The session has ended, now or before' } },
  },
} satisfies Record<string, Documentation>

/** The routes of the server API about sessions (CONTRACT.md 10.3). */
export const createSessionRoutes = ({ sessions, users, accountLog }: RouteDeps) => ({
  list: {
    documentation: DOCUMENTATION.list,

    async handle({ parameters }: RequestContext): Promise<HttpResponse> {
      const { id = '' } = parameters
      if (!(await users.find(id))) throw new AppError('not_found', 'There is no such user.')
      const { sessions: found } = await sessions.list(id, ALL)
      return json(200, JSON.stringify({ sessions: found.map(toJson) }))
    },
  },

  endAll: {
    documentation: DOCUMENTATION.endAll,

    async handle(context: RequestContext): Promise<HttpResponse> {
      const { id = '' } = context.parameters
      const count = await sessions.endAll(id, context)
      accountLog.record(context, { event: 'session_end', userId: id, count })
      return noContent
    },
  },

  find: {
    documentation: DOCUMENTATION.find,

    async handle({ parameters }: RequestContext): Promise<HttpResponse> {
      const session = await sessions.find(parameters.id ?? '')
      if (!session) throw new AppError('not_found', 'There is no such session, or it has ended.')
      return json(200, JSON.stringify(toJson(session)))
    },
  },

  end: {
    documentation: DOCUMENTATION.end,

    async handle(context: RequestContext): Promise<HttpResponse> {
      const { id = '' } = context.parameters
      await sessions.endAny(id, context)
      accountLog.record(context, { event: 'session_end', endedSessionId: id })
      return noContent
    },
  },
})

const ALL = Number.MAX_SAFE_INTEGER

const toJson = (session: Session) => ({
  id: session.id,
  user_id: session.userId,
  created_at: toTimestamp(session.createdAtMs),
  last_seen_at: toTimestamp(session.lastSeenAtMs),
  expires_at: toTimestamp(session.expiresAtMs),
  user_agent: session.userAgent,
  address: session.address,
})
