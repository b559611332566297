import { AppError } from '../../lib/errors.ts'
import type { DirectoryDeps } from '../../http/deps.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type HttpResponse, json } from '../../http/response.ts'
import type { Documentation } from '../../http/route.ts'
import { failure } from '../schemas.ts'
import { refToV2 } from './schemas.ts'
import { directoryUserToJson } from './user-json.ts'

/** `GET /auth/api/v2/users/{id}` (CONTRACT.md 10.5). */
export const createFindUser = ({ directory }: Pick<DirectoryDeps, 'directory'>) => ({
  documentation: {
    operationId: 'findUser',
    summary: 'One user',
    tag: 'Users',
    responses: {
      200: { description: 'The user', schema: refToV2('User') },
      404: failure('`not_found`: there is no such user'),
    },
  } satisfies Documentation,

  async handle({ parameters: { id = '' } }: RequestContext): Promise<HttpResponse> {
    const user = await directory.find(id)
    if (!user) throw new AppError('not_found', 'There is no such user.')
    return json(200, JSON.stringify(directoryUserToJson(user)))
  },
})
