import type { RouteDeps } from '../../http/deps.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type HttpResponse, redirect } from '../../http/response.ts'

/** `GET /auth`: redirects a signed-in user to the account page, and anyone else to the login page. */
export const createHome =
  ({ findCurrentSession }: RouteDeps) =>
  async (context: RequestContext): Promise<HttpResponse> =>
    redirect((await findCurrentSession(context)) ? '/auth/account' : '/auth/login')
