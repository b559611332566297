import { AppError } from '../../lib/errors.ts'
import type { RouteDeps } from '../../http/deps.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type HttpResponse, json, noContent } from '../../http/response.ts'
import type { Documentation } from '../../http/route.ts'
import { failure } from '../schemas.ts'
import { refToV2 } from './schemas.ts'
import { toSessionJson } from './session-json.ts'

/** The routes of the server API about sessions (CONTRACT.md 10.3). */
export const createSessionRoutes = ({ sessions, users, accountLog }: RouteDeps) => ({
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
