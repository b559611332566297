import { isFresh, isSignedIn } from './cookies.ts'
import { ofDocument, requirePage } from './own-document.ts'
import { needAfterRefusal, renew } from './renewal.ts'

/** Whether the request can be sent a second time: a stream is gone once it was read. */
const isRepeatable = (init: RequestInit | undefined): boolean => !(init?.body instanceof ReadableStream)

const originOf = (input: RequestInfo | URL): string =>
  new URL(input instanceof Request ? input.url : input, ofDocument('baseURI')).origin

/**
 * `fetch` for the own origin, with the session. When the answer is 401, it renews the session and sends the request once
 * more; a stream as the body is not sent twice, so the session is renewed before. Throws `SvcUnavailableError` where
 * svc cannot renew: the 401 would say that the user is signed out, which nobody knows.
 */
export const authFetch = async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
  requirePage()
  // Cookies and 401 of other origins are not about this session.
  if (originOf(input) !== location.origin) return fetch(input, init)
  if (!isRepeatable(init)) {
    if (isSignedIn() && !isFresh()) await renew(undefined, () => !isFresh())
    return fetch(input, init)
  }
  const again = input instanceof Request ? input.clone() : input
  const isNeeded = needAfterRefusal()
  const answer = await fetch(input, init)
  if (answer.status !== 401 || !isSignedIn()) return answer
  if (!(await renew(undefined, isNeeded))) return answer
  await answer.body?.cancel()
  return fetch(again, init)
}
