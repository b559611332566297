import type { IncomingHttpHeaders } from 'node:http'
import type { AuthenticatedKey } from '../api-keys/api-keys.ts'
import type { AuthenticatedSession, Device, Tokens } from '../sessions/sessions.ts'
import type { RequestCookies } from './cookie-reader.ts'
import type { JsonObject } from './body/json.ts'
import type { Fields } from './body/form.ts'

/** Handlers see the request through this, with the cookies of its response but no sockets. */
export interface RequestContext {
  /** This is the value of `X-Request-Id`. */
  requestId: string
  readonly method: string
  /** This is the path and the query, as they were sent. */
  readonly target: string
  headers: IncomingHttpHeaders
  cookies: RequestCookies
  query: Fields
  form: Fields
  /** This is the body of a request to the server API, or of the script of a page. It is empty if there is none. */
  json: JsonObject
  /**
   * These are the segments of the path for which the table of routes has `{name}`. They are UUIDs in the server API.
   */
  parameters: Readonly<Record<string, string>>
  /** This is the client's address (past trusted proxies) and user agent. */
  device: Device
  /** This is the language of the page that answers the request. Data have none. */
  readonly language: string | undefined
  /** This is the network of that address, which shares limits and places in the hash queue (`clientNetwork`). */
  readonly network: string
  /** The signal is aborted when the client closes the connection before it has the response. */
  readonly signal: AbortSignal
  /** This is set once the session of the request is found. The log and the lifetime of the CSRF cookie use it. */
  session?: AuthenticatedSession | undefined
  /** This is the key of a request to the server API, once it is found. The log uses it. */
  apiKey?: AuthenticatedKey | undefined
  /** Records name this actor: `user`, or `api:NAME` with a key of the server API. */
  readonly actor: string
  /**
   * This tells whether the session was renewed for this request, since its access token was missing or no longer valid.
   */
  isRenewed: boolean
  /**
   * This is the CSRF token for the forms of this response. If the browser has none that is valid for the session that
   * it has after this response, reading this property makes one and sets its cookie.
   */
  readonly csrfToken: string
  /** Sets the new tokens of the session that this browser has already. */
  renewSessionCookies(tokens: Tokens): void
  /** Sets the cookies of a new session, with a new CSRF token. */
  setSessionCookies(tokens: Tokens): void
  /** Clears the access and refresh cookies: the session has ended. */
  clearSessionCookies(): void
  /** Does the same, and sets a new CSRF token: the user has logged out. */
  signOut(): void
  /** Adds `Set-Cookie` values to the response, even to an error. The last of two values for one cookie counts. */
  setCookies(cookies: string[]): void
}
