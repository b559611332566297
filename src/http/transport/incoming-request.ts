import type { FastifyReply, FastifyRequest } from 'fastify'
import { networkOf } from '../../lib/address.ts'
import type { Clock } from '../../lib/time.ts'
import { type AuthenticatedSession, currentTimeMs, type Device, type Tokens } from '../../sessions/sessions.ts'
import { type CookieWriter, lastOfEach } from '../cookie-writer.ts'
import type { RequestCookies } from '../cookies.ts'
import { type CsrfTokens, namedSession } from '../csrf-token.ts'
import type { RequestContext } from '../request-context.ts'
import { clientAddress, requestOrigins } from './client-address.ts'
import { type Fields, NO_FIELDS, readUrlEncoded } from './url-encoded.ts'

interface IncomingRequestDeps {
  readCookies: (header: string | undefined) => RequestCookies
  cookieWriter: CookieWriter
  csrfTokens: CsrfTokens
  isTrustedProxy: (address: string) => boolean
  clock: Clock
}

/** A `Visit` made from what the web framework gives. Nothing is worked out before it is asked for. */
export class IncomingRequest implements RequestContext {
  readonly requestId: string
  readonly headers: RequestContext['headers']
  readonly cookies: RequestCookies
  readonly startedMs = performance.now()
  form: Fields = NO_FIELDS
  session: AuthenticatedSession | undefined
  isRenewed = false
  readonly #request: FastifyRequest
  readonly #reply: FastifyReply
  readonly #deps: IncomingRequestDeps
  #cookies: string[] = []
  #csrfToken: string | undefined
  /** The session that the answer leaves the browser with, once that is asked for or changed. */
  #session: { id: string | undefined } | undefined
  #device: Device | undefined
  #signal: AbortSignal | undefined

  constructor(request: FastifyRequest, reply: FastifyReply, deps: IncomingRequestDeps) {
    this.#request = request
    this.#reply = reply
    this.#deps = deps
    this.requestId = request.id
    this.headers = request.raw.headers
    this.cookies = deps.readCookies(this.headers.cookie)
    if (this.cookies.repeated.length > 0) {
      this.setCookies(deps.cookieWriter.endOfRepeated(this.cookies.repeated, this.path))
    }
  }

  /** The path as it was sent. */
  get path(): string {
    return (this.#request.raw.url ?? '').split('?', 1)[0] ?? ''
  }

  get isHttp10(): boolean {
    return this.#request.raw.httpVersion === '1.0'
  }

  /** How many `Host` headers came: Node shows only the first. */
  get hostCount(): number {
    const { rawHeaders } = this.#request.raw
    let count = 0
    for (let index = 0; index < rawHeaders.length; index += 2) {
      const name = rawHeaders[index]
      if (name?.length === 4 && name.toLowerCase() === 'host') count += 1
    }
    return count
  }

  get query(): Fields {
    const url = this.#request.raw.url ?? ''
    const mark = url.indexOf('?')
    return mark < 0 ? NO_FIELDS : readUrlEncoded(url.slice(mark + 1))
  }

  get device(): Device {
    this.#device ??= {
      userAgent: this.headers['user-agent'] ?? '',
      address: clientAddress(this.peer, this.headers['x-forwarded-for'], this.#deps.isTrustedProxy),
    }
    return this.#device
  }

  get network(): string {
    return networkOf(this.device.address)
  }

  /** The other end of the connection. */
  get peer(): string {
    return this.#request.raw.socket.remoteAddress ?? ''
  }

  /** Under which this request was sent, as in the header `Host`: that one, and what a trusted proxy says of it. */
  get hosts(): string[] {
    const isFromProxy = this.#deps.isTrustedProxy(this.peer)
    return requestOrigins(this.headers, isFromProxy).map((origin) => new URL(origin).host)
  }

  get signal(): AbortSignal {
    if (this.#signal) return this.#signal
    const controller = new AbortController()
    this.#signal = controller.signal
    const { raw } = this.#reply
    raw.once('close', () => {
      if (!raw.writableFinished) controller.abort()
    })
    if (raw.destroyed) controller.abort()
    return this.#signal
  }

  get csrfToken(): string {
    const held = this.#csrfToken ?? this.cookies.csrf
    const good = this.#deps.csrfTokens.renew(held, this.#sessionId)
    if (good !== undefined && good === held) return held
    const token = good ?? this.#newCsrfToken()
    this.#csrfToken = token
    this.setCookies([this.#deps.cookieWriter.csrf(token, this.#sessionSeconds)])
    return token
  }

  /** Whether a CSRF token is that of the cookie, and good for the session that the request names. */
  isCsrfToken(token: string): boolean {
    const { csrfTokens } = this.#deps
    return csrfTokens.isSame(token, this.cookies.csrf, this.#sessionId) && csrfTokens.isGood(token, this.#sessionId)
  }

  renewSessionCookies(tokens: Tokens): void {
    this.#session = { id: tokens.sessionId }
    this.setCookies(this.#deps.cookieWriter.session(tokens, this.csrfToken))
  }

  setSessionCookies(tokens: Tokens): void {
    this.#session = { id: tokens.sessionId }
    this.setCookies(this.#deps.cookieWriter.session(tokens, this.#newCsrfToken()))
  }

  clearSessionCookies(): void {
    this.#session = { id: undefined }
    this.setCookies(this.#deps.cookieWriter.clearedSession())
  }

  signOut(): void {
    this.clearSessionCookies()
    this.setCookies([this.#deps.cookieWriter.csrf(this.#newCsrfToken())])
  }

  get #sessionId(): string | undefined {
    this.#session ??= { id: namedSession(this.cookies.single) }
    return this.#session.id
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
    return this.#request.method
  }

  /** Sets the CSRF cookie where it is missing, or not good for the session. */
  giveCsrfToken(): string {
    return this.csrfToken
  }

  setCookies(cookies: string[]): void {
    this.#cookies = this.#cookies.length === 0 ? cookies : lastOfEach([...this.#cookies, ...cookies])
  }

  get cookiesToSet(): string[] {
    return this.#cookies
  }
}
