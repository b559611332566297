import type { RouteDeps } from '../../http/deps.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type HttpResponse, noContent } from '../../http/response.ts'
import type { Documentation } from '../../http/route.ts'

/** `DELETE /auth/api/v2/users/{id}` (CONTRACT.md 10.5). */
export const createDeleteUser = ({ users, accountLog }: Pick<RouteDeps, 'users' | 'accountLog'>) => ({
  documentation: {
    operationId: 'deleteUser',
    summary: 'Deletes a user, whose sessions end',
    tag: 'Users',
    responses: { 204: { description: 'There is no such user any more' } },
  } satisfies Documentation,

  async handle(context: RequestContext): Promise<HttpResponse> {
    const { id = '' } = context.parameters
    if (await users.delete(id, context)) accountLog.record(context, { event: 'account_delete', userId: id })
    return noContent
  },
})
