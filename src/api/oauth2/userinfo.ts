import type { Clients } from '../../clients/clients.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type HttpResponse, json } from '../../http/response.ts'
import { AppError } from '../../lib/errors.ts'

/** RFC 6750 section 2.1 defines the header; a token in a query or a form would get into logs. */
export const bearerOf = ({ headers }: Pick<RequestContext, 'headers'>): string | undefined =>
  /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1]

/** Answers `GET` and `POST /auth/oauth2/userinfo` (OpenID Connect Core section 5.3). */
export const createUserInfo = ({ requests }: Pick<Clients, 'requests'>) => ({
  async handle(context: RequestContext): Promise<HttpResponse> {
    const token = bearerOf(context)
    if (token === undefined)
      throw new AppError('unauthorized', 'Send an access token: Authorization: Bearer ...', { reason: 'token_missing' })
    return json(200, JSON.stringify(await requests.userInfo(token)))
  },
})
