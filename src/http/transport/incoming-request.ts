import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AuthenticatedKey } from '../../api-keys/api-keys.ts'
import { spokenTag } from '../../languages/language.ts'
import { readAbsoluteForm } from '../../lib/url.ts'
import type { Clock } from '../../lib/time.ts'
import { type AuthenticatedSession, currentTimeMs, type Device, type Tokens } from '../../sessions/sessions.ts'
import { type CookieWriter, lastOfEach } from '../cookie-writer.ts'
import type { RequestCookies } from '../cookie-reader.ts'
import { type CsrfTokens, namedSession } from '../csrf-token.ts'
import type { RequestContext } from '../request-context.ts'
import { clientAddress, clientNetwork, requestOrigins } from './client-address.ts'
import type { JsonObject } from '../body/json.ts'
import { type Fields, NO_FIELDS, readUrlEncoded } from '../body/form.ts'

interface IncomingRequestDeps {
  newRequestId: () => string
  readCookies: (header: string | undefined) => RequestCookies
  cookieWriter: CookieWriter
  csrfTokens: CsrfTokens
  isTrustedProxy: (address: string) => boolean
  /** This is true if the base URL was set: no proxy says which host this is then. */
  isBaseUrlSet: boolean
  clock: Clock
}

/**
 * This is the request context, made of Node's request. One is made for every request, so properties that few handlers
 * need are computed when they are read.
 */
export class IncomingRequest implements RequestContext {
  readonly requestId: string
  readonly headers: RequestContext['headers']
  readonly cookies: RequestCookies
  readonly startedMs = performance.now()
  form: Fields = NO_FIELDS
  json: JsonObject = NO_VALUES
  parameters: Readonly<Record<string, string>> = NO_VALUES
  apiKey: AuthenticatedKey | undefined
  session: AuthenticatedSession | undefined
  isRenewed = false
  /** The path is as it was sent, and has no query. */
  readonly path: string
  readonly target: string
  readonly #incoming: IncomingMessage
  readonly #outgoing: ServerResponse
  readonly #deps: IncomingRequestDeps
  #cookies: string[] = []
  #query: Fields | undefined
  #csrfToken: string | undefined
  /** This is the CSRF token that was checked last, with its session, and the result of `renew`. */
  #checked: { token: string | undefined; sessionId: string | undefined; renewed: string | undefined } | undefined
  /** The browser has this session after the response, once it is asked for or changed; its CSRF token follows it. */
  #browserSession: { id: string | undefined } | undefined
  #device: Device | undefined
  #signal: AbortSignal | undefined

  constructor(incoming: IncomingMessage, outgoing: ServerResponse, deps: IncomingRequestDeps) {
    this.#incoming = incoming
    this.#outgoing = outgoing
    this.#deps = deps
    this.requestId = deps.newRequestId()
    this.headers = incoming.headers
    this.target = toOriginForm(incoming)
    const mark = this.target.indexOf('?')
    this.path = mark < 0 ? this.target : this.target.slice(0, mark)
    this.cookies = deps.readCookies(this.headers.cookie)
    const { repeated } = this.cookies
    if (repeated.length > 0) this.setCookies(deps.cookieWriter.endOfRepeated(repeated, this.path))
  }

  get isHttp10(): boolean {
    return this.#incoming.httpVersion === '1.0'
  }

  /** Counts how often a header came, by its lower-case name: Node shows only the first `Host` and `Authorization`. */
  countHeaders(lowerCaseName: string): number {
    const { rawHeaders } = this.#incoming
    let count = 0
    for (let index = 0; index < rawHeaders.length; index += 2) {
      const name = rawHeaders[index]
      if (name?.length === lowerCaseName.length && name.toLowerCase() === lowerCaseName) count += 1
    }
    return count
  }

  get query(): Fields {
    const queryStart = this.path.length + 1
    if (queryStart > this.target.length) return NO_FIELDS
    this.#query ??= readUrlEncoded(this.target.slice(queryStart))
    return this.#query
  }

  get device(): Device {
    this.#device ??= {
      userAgent: this.headers['user-agent'] ?? '',
      address: clientAddress(this.peer, this.headers['x-forwarded-for'], this.#deps.isTrustedProxy),
    }
    return this.#device
  }

  get language(): string | undefined {
    return spokenTag()
  }

  get actor(): string {
    return this.apiKey ? `api:${this.apiKey.name}` : 'user'
  }

  get network(): string {
    return clientNetwork(this.device.address, this.#deps.isTrustedProxy)
  }

  /** This is the address at the other end of the connection: the client's, or that of a proxy. */
  get peer(): string {
    return this.#incoming.socket.remoteAddress ?? ''
  }

  get peerPort(): number | undefined {
    return this.#incoming.socket.remotePort
  }

  /** Tells whether its query names a user, or is a secret of the browser: no `Referer` may repeat it. */
  get isAddressPrivate(): boolean {
    return PRIVATE_QUERY.test(this.target.slice(this.path.length))
  }

  /** Tells whether the request names this host alone. It almost always does: no URL needs to be parsed then. */
  isSentTo(host: string): boolean {
    return this.headers.host === host && (this.#deps.isBaseUrlSet || this.headers['x-forwarded-host'] === undefined)
  }

  /**
   * These are the hosts that this request was sent to: the header `Host`, and the host that a trusted proxy forwarded,
   * unless `SVC_BASE_URL` is set. Many proxies pass the latter on as a client has sent it.
   */
  get hosts(): string[] {
    const isBelieved = !this.#deps.isBaseUrlSet && this.#deps.isTrustedProxy(this.peer)
    return requestOrigins(this.headers, isBelieved).map((origin) => new URL(origin).host)
  }

  get signal(): AbortSignal {
    if (this.#signal) return this.#signal
    const controller = new AbortController()
    this.#signal = controller.signal
    const outgoing = this.#outgoing
    outgoing.once('close', () => outgoing.writableFinished || controller.abort())
    if (outgoing.destroyed) controller.abort()
    return this.#signal
  }

  get csrfToken(): string {
    const held = this.#csrfToken ?? this.cookies.csrf
    const renewed = this.#renewCsrfToken(held)
    if (renewed !== undefined && renewed === held) return held
    const token = renewed ?? this.#newCsrfToken()
    this.#csrfToken = token
    this.setCookies([this.#deps.cookieWriter.csrf(token, this.#sessionSeconds)])
    return token
  }

  /** Tells whether a CSRF token equals the cookie's, and is valid for the session that the request names. */
  isCsrfToken(token: string): boolean {
    const isSame = this.#deps.csrfTokens.isSame(token, this.cookies.csrf, this.#sessionId)
    return isSame && this.#renewCsrfToken(token) !== undefined
  }

  /** A refresh checks a token and then keeps it: its MAC is computed once. */
  #renewCsrfToken(token: string | undefined): string | undefined {
    const sessionId = this.#sessionId
    if (this.#checked?.token !== token || this.#checked?.sessionId !== sessionId) {
      this.#checked = { token, sessionId, renewed: this.#deps.csrfTokens.renew(token, sessionId) }
    }
    return this.#checked?.renewed
  }

  renewSessionCookies(tokens: Tokens): void {
    this.#browserSession = { id: tokens.sessionId }
    this.setCookies(this.#deps.cookieWriter.session(tokens, this.csrfToken))
  }

  setSessionCookies(tokens: Tokens): void {
    this.#browserSession = { id: tokens.sessionId }
    this.setCookies(this.#deps.cookieWriter.session(tokens, this.#newCsrfToken()))
  }

  clearSessionCookies(): void {
    this.#browserSession = { id: undefined }
    this.setCookies(this.#deps.cookieWriter.clearedSession())
  }

  signOut(): void {
    this.clearSessionCookies()
    this.setCookies([this.#deps.cookieWriter.csrf(this.#newCsrfToken())])
  }

  get #sessionId(): string | undefined {
    this.#browserSession ??= { id: namedSession(this.cookies.single) }
    return this.#browserSession.id
  }

  #newCsrfToken(): string {
    this.#csrfToken = this.#deps.csrfTokens.make(this.#sessionId)
    return this.#csrfToken
  }

  get #sessionSeconds(): number | undefined {
    const { session } = this
    if (!session) return undefined
    return Math.max(0, Math.round((session.expiresAtMs - currentTimeMs(session, this.#deps.clock)) / 1000))
  }

  get method(): string {
    return this.#incoming.method ?? ''
  }

  /** Sets the CSRF cookie where it is missing, or not valid for the session. */
  ensureCsrfCookie(): void {
    void this.csrfToken
  }

  setCookies(cookies: string[]): void {
    this.#cookies = this.#cookies.length === 0 ? cookies : lastOfEach([...this.#cookies, ...cookies])
  }

  /** No cookie counts in this request: it expires none either. */
  ignoreCookies(): void {
    this.#cookies = []
  }

  get cookiesToSet(): string[] {
    return this.#cookies
  }
}

const NO_VALUES = {}

const PRIVATE_QUERY = /[?&](?:email|pending)=/

/**
 * Turns the request target into a path with its query, and returns it. The host of an absolute form replaces the header
 * `Host` (RFC 9112 section 3.2.2).
 */
const toOriginForm = (incoming: IncomingMessage): string => {
  const { url = '' } = incoming
  const absolute = url.startsWith('/') ? undefined : readAbsoluteForm(url)
  if (!absolute) return url
  incoming.headers.host = absolute.host
  incoming.url = absolute.target
  return absolute.target
}
