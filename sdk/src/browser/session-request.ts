import { readRetryAfter, SvcUnavailableError } from '../svc-unavailable-error.ts'
import { csrfToken } from './cookies.ts'
import { addressOfSvc } from './own-document.ts'

const TIMEOUT_MS = 5000

/** A `POST` to svc with the CSRF token. Throws `SvcUnavailableError` unless svc answers with a 2xx or a 401. */
export const postToSvc = async (path: string): Promise<Response> => {
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  // `keepalive`: new cookies must arrive even if the page goes.
  const send = (): Promise<Response> =>
    fetch(addressOfSvc(path), {
      method: 'POST',
      headers: { accept: 'application/json', 'x-csrf-token': csrfToken() },
      keepalive: true,
      signal,
    })
  let response: Response
  try {
    response = await send()
    // A refusal of the CSRF token sets one that is good.
    if (response.status === 403) response = await send()
  } catch (cause) {
    throw new SvcUnavailableError('svc cannot be reached', { cause })
  }
  if (response.ok || response.status === 401) return response
  throw new SvcUnavailableError(`svc answered ${response.status} at ${path.replace(/\?.*/, '')}`, {
    retryAfter: readRetryAfter(response.headers.get('retry-after')),
  })
}
