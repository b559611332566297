import { loginUrl } from '../request/login-url.ts'
import { isNavigation, isPageRequest } from '../request/page.ts'
import type { RequestSource } from '../request/source.ts'
import type { SvcUnavailableError } from '../svc-unavailable-error.ts'

/** The answer in place of the application's. */
export interface Refusal {
  status: 303 | 401 | 503
  headers: Record<string, string>
  body: string
}

const refuse = (status: Refusal['status'], headers: Record<string, string>, body: string): Refusal => ({
  status,
  // What one visitor may not see, another may.
  headers: { 'cache-control': 'no-store', ...headers },
  body,
})

const jsonBody = (code: string, message: string): [Record<string, string>, string] => [
  { 'content-type': 'application/json' },
  JSON.stringify({ error: { code, message } }),
]

/** A page of fixed text. */
const pageBody = (title: string, text: string): [Record<string, string>, string] => [
  { 'content-type': 'text/html; charset=utf-8' },
  `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title><p>${text}</p></html>`,
]

/** The address of the login page is percent-encoded, and needs no escaping. */
const loggedOut = (login: string): string =>
  `You were logged out before this was sent. <a href="${login}" target="_blank" rel="noopener">Log in in a new tab</a>, then reload this page to send it.`

/** For a visitor who is not signed in: to the login page and back, or 401 where that would lose what was sent. */
export const refuseVisitor = (source: RequestSource): Refusal => {
  if (isPageRequest(source)) return refuse(303, { location: loginUrl(source) }, '')
  const [type, body] = isNavigation(source)
    ? pageBody('Log in again', loggedOut(loginUrl(source)))
    : jsonBody('unauthorized', 'Nobody is signed in.')
  return refuse(401, type, body)
}

/** While svc cannot say who the user is. */
export const refuseDuringOutage = (source: RequestSource, { retryAfter }: SvcUnavailableError): Refusal => {
  const message = 'The authentication service is not available.'
  const [type, body] = isNavigation(source)
    ? pageBody('Please try again', `${message} Please try again in a few seconds.`)
    : jsonBody('unavailable', message)
  return refuse(503, { 'retry-after': String(retryAfter), ...type }, body)
}
