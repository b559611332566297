import type { Clients, Grant } from '../../clients/clients.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type HttpResponse, json, noContent } from '../../http/response.ts'
import type { Documentation } from '../../http/route.ts'
import type { Services } from '../../http/services.ts'
import { AppError } from '../../lib/errors.ts'
import { toTimestamp } from '../../lib/time.ts'
import { failure } from '../schemas.ts'
import { refToV2 } from './schemas.ts'

type GrantRoutesDeps = Pick<Services, 'accountLog' | 'users'> & Pick<Clients, 'grants' | 'registry'>

/** CONTRACT.md 10.7 describes these routes. */
export const createGrantRoutes = ({ grants, registry, users, accountLog }: GrantRoutesDeps) => ({
  list: {
    documentation: {
      operationId: 'listGrants',
      summary: 'The clients that have access to the account of a user, the last used first',
      tag: 'Clients',
      responses: {
        200: { description: 'The grants', schema: refToV2('GrantList') },
        404: failure('`not_found`: there is no such user'),
      },
    } satisfies Documentation,

    async handle({ parameters: { id = '' } }: RequestContext): Promise<HttpResponse> {
      if (!(await users.find(id))) throw new AppError('not_found', 'There is no such user.')
      const found = await grants.list(id)
      const named = await Promise.all(
        found.map(async (grant) => grantToJson(grant, (await registry.show(grant.clientId))?.name)),
      )
      return json(200, JSON.stringify({ grants: named }))
    },
  },

  end: {
    documentation: {
      operationId: 'endGrant',
      summary: 'Ends the access of a client to the account of a user, on every replica at once',
      tag: 'Clients',
      responses: { 204: { description: 'The grant has ended, now or before' } },
    } satisfies Documentation,

    async handle(context: RequestContext): Promise<HttpResponse> {
      const { id: userId = '', grant = '' } = context.parameters
      await grants.endOfUser(userId, { id: grant }, 'revoked', context)
      accountLog.record(context, { event: 'client_disconnect', userId, endedSessionId: grant })
      return noContent
    },
  },
})

const grantToJson = (grant: Grant, clientName: string | undefined) => ({
  id: grant.id,
  user_id: grant.userId,
  client_id: grant.clientId,
  client_name: clientName ?? null,
  session_id: grant.sessionId ?? null,
  scopes: grant.scopes,
  resource: grant.resource ?? null,
  created_at: toTimestamp(grant.createdAtMs),
  last_used_at: toTimestamp(grant.lastUsedAtMs),
  expires_at: toTimestamp(grant.expiresAtMs),
})
