import { AppError } from '../../lib/errors.ts'
import type { Services } from '../../http/services.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type HttpResponse, redirect } from '../../http/response.ts'
import { encodeBytes, parseReturnTo, withReturnTo } from '../../http/return-to.ts'

/** A gateway passes on the request target of the visitor in this header. */
const HEADER = 'X-Original-URI'

/**
 * Handles `GET /auth/login/redirect`, for gateways that cannot percent-encode. It answers 303 to the login page, which
 * returns to the path and query in `X-Original-URI`. A visitor can send the header too, and gains nothing that a link
 * to the login page does not give: the value is checked as `return_to` is. `invalid_request` is thrown when it is
 * missing or not accepted.
 */
export const createLoginRedirect =
  (targets: Pick<Services, 'baseUrl'>) =>
  ({ headers }: RequestContext): HttpResponse => {
    const returnTo = encodeBytes(String(headers['x-original-uri'] ?? ''))
    // Node joins headers that came twice with a comma and a space; a request target has no space.
    if (!returnTo.includes(' ') && parseReturnTo(returnTo, targets) !== undefined)
      return redirect(withReturnTo('/auth/login', returnTo))
    throw new AppError(
      'invalid_request',
      `The header ${HEADER} must hold the path and query of the visitor's request, once, as they were sent. ` +
        'The gateway sets it.',
      { field: HEADER },
    )
  }
