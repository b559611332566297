import { refuseForeignRequest } from './csrf.ts'
import type { RouteDeps } from './deps.ts'
import { requestOrigins } from './transport/client-address.ts'
import type { IncomingRequest } from './transport/incoming-request.ts'

/** Refuses a `POST` that another site may have sent (`csrf.ts`). */
export const createOwnRequestCheck = ({ baseUrl, isBaseUrlSet, isTrustedProxy, cookieTable }: RouteDeps) => {
  /** Where the base URL is set, only its origin is ours: a request can name any host. */
  const ownOrigins = (context: IncomingRequest): string[] =>
    isBaseUrlSet ? [baseUrl] : [...new Set([baseUrl, ...requestOrigins(context.headers, isTrustedProxy(context.peer))])]

  return (context: IncomingRequest) =>
    refuseForeignRequest({
      headers: context.headers,
      cookies: context.cookies,
      cookieName: cookieTable.csrf.name,
      formToken: context.form.get('csrf_token'),
      isGoodToken: (token) => context.isCsrfToken(token),
      baseUrl,
      ownOrigins: () => ownOrigins(context),
    })
}
