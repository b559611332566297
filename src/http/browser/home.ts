import type { RouteDeps } from '../deps.ts'
import { type HttpResponse, type RequestContext, redirect } from '../request-context.ts'

/** `GET /auth`: redirects a signed-in user to the account page, and anyone else to the login page. */
export const createHome =
  ({ findCurrentSession }: RouteDeps) =>
  async (context: RequestContext): Promise<HttpResponse> =>
    redirect((await findCurrentSession(context)) ? '/auth/account' : '/auth/login')
