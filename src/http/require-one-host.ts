import { AppError } from '../lib/errors.ts'
import type { IncomingRequest } from './transport/incoming-request.ts'

/** RFC 9112 section 3.2: exactly one; HTTP/1.0 may leave it out. */
export const requireOneHost = (context: IncomingRequest): void => {
  const hostCount = context.countHeaders('host')
  if (hostCount === 1 || (hostCount === 0 && context.isHttp10)) return
  throw new AppError('invalid_request', 'The header Host must be there, once.', { field: 'Host' })
}
