import type { AuthenticatedKey, Keep, Kept } from '../../api-keys/api-keys.ts'
import { AppError } from '../../lib/errors.ts'
import { toTimestamp } from '../../lib/time.ts'
import type { Services } from '../../http/services.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type ContentResponse, type HttpResponse, json, noContent } from '../../http/response.ts'
import { parseReturnTo } from '../../http/return-to.ts'
import type { Documentation } from '../../http/route.ts'
import { failure } from '../schemas.ts'
import { choice, jsonBody, optional, text } from './json-body.ts'
import { refToV2 } from './schemas.ts'

const BODY = jsonBody({
  purpose: choice('reset', 'invite'),
  return_to: optional(text({ description: 'A path of the application, where the user of the link goes on' })),
})

type CreateLinkDeps = Pick<Services, 'directory' | 'accountLog' | 'baseUrl' | 'homeUrl'>

const EVENTS = { reset: 'password_reset_request', invite: 'account_invite' } as const

/** Answers `POST /auth/api/v2/users/{id}/links` (CONTRACT.md 10.5). */
const createCreateLink = ({ directory, accountLog, ...targets }: CreateLinkDeps) => {
  const requireReturnTo = (entered: string | undefined): string | undefined => {
    if (entered === undefined) return undefined
    const returnTo = parseReturnTo(entered, targets)
    if (returnTo !== undefined) return returnTo
    const message = 'The field "return_to" must be a path on this site, such as /start.'
    throw new AppError('unprocessable', message, { field: 'return_to' })
  }

  return {
    documentation: {
      operationId: 'createLink',
      summary: 'Makes a link for a new password, or into an account that nobody has entered; it is not mailed',
      tag: 'Users',
      body: BODY,
      responses: {
        201: { description: 'The link, which is good once', schema: refToV2('Link') },
        404: failure('`not_found`: there is no such user'),
        409: failure('`conflict`: the account is disabled, or for an invitation was entered already'),
        422: failure('`unprocessable`: a field is not accepted'),
      },
    } satisfies Documentation,

    handle(
      context: RequestContext,
      _key: AuthenticatedKey,
      keep: Keep<ContentResponse>,
    ): Promise<Kept<ContentResponse>> {
      const { id = '' } = context.parameters
      const { purpose, return_to: entered } = BODY.read(context.json)
      const link = { purpose, returnTo: requireReturnTo(entered) }
      return accountLog.recordOutcome(context, { event: EVENTS[purpose], userId: id }, () =>
        directory.createLink(id, link, context, (transaction, { url, expiresAtMs }) => {
          const body = { url, expires_at: toTimestamp(expiresAtMs) }
          return keep(transaction, json(201, JSON.stringify(body)))
        }),
      )
    },
  }
}

/** Answers `DELETE /auth/api/v2/users/{id}/second-factors` (CONTRACT.md 10.5), for a user who has lost them. */
const createResetSecondFactors = ({ users, accountLog }: Pick<Services, 'users' | 'accountLog'>) => ({
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
    // Every DELETE does the same: a resource that is not there is gone.
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

/** These routes of the server API are about how users sign in. */
export const createCredentialRoutes = (deps: CreateLinkDeps & Pick<Services, 'users'>) => ({
  createLink: createCreateLink(deps),
  resetSecondFactors: createResetSecondFactors(deps),
})
