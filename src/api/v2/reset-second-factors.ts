import { AppError } from '../../lib/errors.ts'
import type { RouteDeps } from '../../http/deps.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type HttpResponse, noContent } from '../../http/response.ts'
import type { Documentation } from '../../http/route.ts'
import { failure } from '../schemas.ts'

/** `DELETE /auth/api/v2/users/{id}/second-factors` (CONTRACT.md 10.5): for a user who has lost them. */
export const createResetSecondFactors = ({ users, accountLog }: Pick<RouteDeps, 'users' | 'accountLog'>) => ({
  documentation: {
    operationId: 'resetSecondFactors',
    summary: 'Takes one-time codes and recovery codes away from a user, whose sessions end, and tells them by mail',
    tag: 'Users',
    parameters: [
      {
        name: 'passkeys',
        in: 'query',
        required: false,
        description: 'Whether the passkeys go too',
        schema: { type: 'boolean', default: false },
      },
    ],
    responses: {
      204: { description: 'The user has none of them any more, or there is no such user' },
      400: failure('`invalid_request`: a query parameter that is not accepted'),
    },
  } satisfies Documentation,

  async handle(context: RequestContext): Promise<HttpResponse> {
    const { id = '' } = context.parameters
    const passkeys = readPasskeys(context)
    // As for every DELETE: what is not there is gone.
    if (!(await users.find(id))) return noContent
    await users.resetSecondFactors(id, { passkeys }, context)
    accountLog.record(context, { event: 'second_factor_reset', userId: id })
    return noContent
  },
})

const readPasskeys = ({ query }: RequestContext): boolean => {
  const text = query.get('passkeys') ?? 'false'
  if (text === 'true' || text === 'false') return text === 'true'
  throw new AppError('invalid_request', 'The query parameter "passkeys" must be true or false.', { field: 'passkeys' })
}
