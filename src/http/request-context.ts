import type { IncomingHttpHeaders } from 'node:http'
import type { AuthenticatedSession, Device, Tokens } from '../sessions/sessions.ts'
import type { RequestCookies } from './cookies.ts'
import type { Fields } from './transport/url-encoded.ts'

/** A request as the handlers see it, without the web framework. */
export interface RequestContext {
  /** The value of `X-Request-Id`. */
  requestId: string
  readonly method: string
  headers: IncomingHttpHeaders
  cookies: RequestCookies
  query: Fields
  form: Fields
  /** Where it comes from: the address past trusted proxies. */
  device: Device
  /** The network of that address, for which tries and waiting places are counted (`networkOf`). */
  readonly network: string
  /** Aborted when the sender has gone. */
  readonly signal: AbortSignal
  /** Who has been found to be signed in: for the log, and for how long the browser keeps its CSRF token. */
  session?: AuthenticatedSession | undefined
  /** Whether the session was renewed for this request: the access token that came with it was missing or too old. */
  isRenewed: boolean
  /**
   * The CSRF token for the forms of this answer; a new one is set with it where the browser has none that is good for the
   * session with which the answer leaves it.
   */
  readonly csrfToken: string
  /** Sets the cookies of the session that this browser has, renewed. */
  renewSessionCookies(tokens: Tokens): void
  /** Sets the cookies of a new session, with a new CSRF token. */
  setSessionCookies(tokens: Tokens): void
  /** Clears the cookies of a session that has ended. */
  clearSessionCookies(): void
  /** The same, with a new CSRF token: the user has left. */
  signOut(): void
  /** Adds `Set-Cookie` values to whatever is answered, an error too. The last of a name counts. */
  setCookies(cookies: string[]): void
}

/** What a handler answers with. */
export type HttpResponse =
  | { status: number; contentType: string; body: string; retryAfterSeconds?: number | undefined; cacheSeconds?: number }
  | { redirect: string }

export const page = (status: number, html: string, retryAfterSeconds?: number): HttpResponse => ({
  status,
  contentType: 'text/html; charset=utf-8',
  body: html,
  retryAfterSeconds,
})

export const json = (status: number, body: string): HttpResponse => ({ status, contentType: 'application/json', body })

/** 303: go and GET that. */
export const redirect = (location: string): HttpResponse => ({ redirect: location })
