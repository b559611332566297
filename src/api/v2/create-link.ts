import type { AuthenticatedKey, Keep, Kept } from '../../api-keys/api-keys.ts'
import { AppError } from '../../lib/errors.ts'
import { toTimestamp } from '../../lib/time.ts'
import type { DirectoryDeps } from '../../http/deps.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type ContentResponse, json } from '../../http/response.ts'
import { parseReturnTo } from '../../http/return-to.ts'
import type { Documentation } from '../../http/route.ts'
import { failure } from '../schemas.ts'
import { choice, jsonBody, optional, text } from './json-body.ts'
import { refToV2 } from './schemas.ts'

const BODY = jsonBody({
  purpose: choice('reset', 'invite'),
  return_to: optional(text({ description: 'A path of the application, where the user of the link goes on' })),
})

type CreateLinkDeps = Pick<DirectoryDeps, 'directory' | 'accountLog' | 'baseUrl' | 'homeUrl'>

const EVENTS = { reset: 'password_reset_request', invite: 'account_invite' } as const

/** `POST /auth/api/v2/users/{id}/links` (CONTRACT.md 10.5). */
export const createCreateLink = ({ directory, accountLog, ...targets }: CreateLinkDeps) => {
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
