import type { IncomingHttpHeaders } from 'node:http'
import type { AuthenticatedKey } from '../api-keys/api-keys.ts'
import type { AuthenticatedSession, Device, Tokens } from '../sessions/sessions.ts'
import type { RequestCookies } from './cookie-reader.ts'
import type { JsonObject } from './body/json.ts'
import type { Fields } from './body/form.ts'

/** The request as handlers see it, without sockets, and the cookies of its response. */
export interface RequestContext {
  /** The value of `X-Request-Id`. */
  requestId: string
  readonly method: string
  /** Path and query, as they were sent. */
  readonly target: string
  headers: IncomingHttpHeaders
  cookies: RequestCookies
  query: Fields
  form: Fields
  /** The body of a request to the server API, or of the script of a page; empty where there is none. */
  json: JsonObject
  /** The segments of the path for which the table of routes has `{name}`; of the server API, UUIDs. */
  parameters: Readonly<Record<string, string>>
  /** The client's address (past trusted proxies) and user agent. */
  device: Device
  /** The network of that address, which shares limits and places in the hash queue (`clientNetwork`). */
  readonly network: string
  /** Aborted when the client closes the connection before it has the response. */
  readonly signal: AbortSignal
  /** Set once the session of the request is found: for the log, and for the lifetime of the CSRF cookie. */
  session?: AuthenticatedSession | undefined
  /** The key of a request to the server API, once it is found: for the log. */
  apiKey?: AuthenticatedKey | undefined
  /** Who acts, for records: `user`, or `api:NAME` with a key of the server API. */
  readonly actor: string
  /** Whether the session was renewed for this request, since its access token was missing or no longer valid. */
  isRenewed: boolean
  /**
   * The CSRF token for the forms of this response. Where the browser has none that is valid for the session that it has
   * after this response, reading this property makes one and sets its cookie.
   */
  readonly csrfToken: string
  /** Sets the new tokens of the session that this browser has already. */
  renewSessionCookies(tokens: Tokens): void
  /** Sets the cookies of a new session, with a new CSRF token. */
  setSessionCookies(tokens: Tokens): void
  /** Clears the access and refresh cookies: the session has ended. */
  clearSessionCookies(): void
  /** The same, and a new CSRF token: the user has logged out. */
  signOut(): void
  /** Adds `Set-Cookie` values to the response, even to an error. Of two values for one cookie, the last counts. */
  setCookies(cookies: string[]): void
}
