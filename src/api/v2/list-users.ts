import type { DirectoryDeps } from '../../http/deps.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type HttpResponse, json } from '../../http/response.ts'
import type { Documentation } from '../../http/route.ts'
import { failure } from '../schemas.ts'
import { refToV2 } from './schemas.ts'
import { directoryUserToJson } from './user-json.ts'
import { readUserQuery, USER_QUERY_PARAMETERS } from './user-query.ts'

/** `GET /auth/api/v2/users` (CONTRACT.md 10.5). */
export const createListUsers = ({ directory }: Pick<DirectoryDeps, 'directory'>) => ({
  documentation: {
    operationId: 'listUsers',
    summary: 'Users, in the order in which svc got to know them',
    tag: 'Users',
    parameters: USER_QUERY_PARAMETERS,
    responses: {
      200: { description: 'A page; the last one has no cursor', schema: refToV2('UserList') },
      400: failure('`invalid_request`: a parameter is not accepted'),
    },
  } satisfies Documentation,

  async handle({ query }: RequestContext): Promise<HttpResponse> {
    const { users, nextCursor = null } = await directory.list(readUserQuery(query))
    return json(200, JSON.stringify({ users: users.map(directoryUserToJson), next_cursor: nextCursor }))
  },
})
