import type { IncomingMessage } from 'node:http'
import { type Fields, NO_FIELDS, readUrlEncoded } from '../../http/body/form.ts'
import type { JsonObject } from '../../http/body/json.ts'
import { type HttpResponse, redirect } from '../../http/response.ts'
import { clientAddress, clientNetwork } from '../../http/transport/client-address.ts'
import type { Caller } from '../../lib/caller.ts'
import { AppError } from '../../lib/errors.ts'
import { equalInConstantTime, hmac, randomToken } from '../../lib/secrets.ts'
import { type AdminAction, may } from '../policy.ts'
import type { AdminContext, Operator } from './context.ts'
import { type AdminCookies, cookieNamesOf, type Door } from './door.ts'

interface AdminRequestDeps {
  requestId: string
  isTrustedProxy: (address: string) => boolean
  door: Door
}

const NO_VALUES = {}

/** A page says within this time what was done. */
const DONE_SECONDS = 60

/** This is the context, made of Node's request. */
export class AdminRequest implements AdminContext {
  readonly requestId: string
  readonly method: string
  readonly headers: IncomingMessage['headers']
  readonly startedMs = performance.now()
  readonly path: string
  /** The path with its query, as it was asked for. */
  readonly target: string
  readonly query: Fields
  readonly device: NonNullable<Caller['device']>
  readonly network: string
  readonly cookiesToSet: string[] = []
  readonly door: Door
  readonly cookieNames: AdminCookies
  form: Fields = NO_FIELDS
  json: JsonObject = NO_VALUES
  parameters: Readonly<Record<string, string>> = NO_VALUES
  found: Operator | undefined
  #browserSecret: string | undefined

  constructor(incoming: IncomingMessage, { requestId, isTrustedProxy, door }: AdminRequestDeps) {
    this.requestId = requestId
    this.door = door
    this.cookieNames = cookieNamesOf(door.kind)
    this.method = incoming.method ?? ''
    this.headers = incoming.headers
    const { url = '' } = incoming
    this.target = url
    const mark = url.indexOf('?')
    const path = mark < 0 ? url : url.slice(0, mark)
    this.path = path.startsWith(`${door.base}/`) ? path.slice(door.base.length) : ''
    this.query = mark < 0 ? NO_FIELDS : readUrlEncoded(url.slice(mark + 1))
    const peer = incoming.socket.remoteAddress ?? ''
    const address = clientAddress(peer, this.headers['x-forwarded-for'], isTrustedProxy)
    this.device = { userAgent: this.headers['user-agent'] ?? '', address }
    this.network = clientNetwork(address, isTrustedProxy)
  }

  get operator(): Operator {
    if (this.found) return this.found
    throw new AppError('unauthorized', 'You are not signed in.')
  }

  may(action: AdminAction): boolean {
    return this.found !== undefined && may(this.found.role, action)
  }

  readonly at = (path: string): string => this.door.base + path

  caller(reason?: string): Caller {
    const { actor, name } = this.operator
    // An operator on this machine has neither device nor request, as on the command line.
    return name === undefined ? { actor, reason } : { ...this.anyone(), actor, reason }
  }

  anyone(): Caller {
    return { actor: 'user', requestId: this.requestId, device: this.device, network: this.network }
  }

  get sessionSecret(): string | undefined {
    return this.#cookie(this.cookieNames.session)
  }

  /** Finds a cookie; one whose name came twice counts as none, since either may be an attacker's. */
  #cookie(name: string): string | undefined {
    const pairs = (this.headers.cookie ?? '').split(';').map((pair) => pair.trim())
    const values = pairs.filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1))
    return values.length === 1 ? values[0] || undefined : undefined
  }

  setSession(secret: string | undefined): void {
    this.#setCookie(this.cookieNames.session, secret ?? '', secret === undefined ? 0 : undefined)
  }

  #setCookie(name: string, value: string, maxAgeSeconds?: number): void {
    const path = this.door.kind === 'origin' ? '/' : `${this.door.base}/`
    const secure = this.door.kind === 'origin' ? '; Secure' : ''
    const age = maxAgeSeconds === undefined ? '' : `; Max-Age=${maxAgeSeconds}`
    this.cookiesToSet.push(`${name}=${value}; Path=${path}; HttpOnly; SameSite=Strict${secure}${age}`)
  }

  /** This secret of a browser binds what it begins before it has a session. Reading it sets its cookie. */
  get browserSecret(): string {
    const held = this.#cookie(this.cookieNames.browser)
    if (held !== undefined && TOKEN.test(held)) return held
    if (this.#browserSecret === undefined) {
      this.#browserSecret = randomToken(32)
      this.#setCookie(this.cookieNames.browser, this.#browserSecret)
    }
    return this.#browserSecret
  }

  get csrfToken(): string {
    return hmac(this.found?.secret ?? this.browserSecret, 'csrf', 'base64url')
  }

  isCsrfToken(token: string | string[] | undefined): boolean {
    return typeof token === 'string' && equalInConstantTime(token, this.csrfToken)
  }

  #macOf(text: string): string {
    return hmac(this.operator.secret, `done ${text}`, 'base64url')
  }

  noteDone(path: string, done: string): void {
    const text = Buffer.from(JSON.stringify([path.split(/[?#]/, 1)[0], done])).toString('base64url')
    this.#setCookie(this.cookieNames.done, `${text}.${this.#macOf(text)}`, DONE_SECONDS)
  }

  redirectDone(path: string, done: string): HttpResponse {
    this.noteDone(path, done)
    return redirect(this.at(path))
  }

  get done(): string | undefined {
    const [text = '', mac] = this.#cookie(this.cookieNames.done)?.split('.') ?? []
    if (!equalInConstantTime(mac, this.#macOf(text))) return undefined
    const [path, done] = JSON.parse(Buffer.from(text, 'base64url').toString()) as [string, string]
    if (path !== this.path) return undefined
    this.#setCookie(this.cookieNames.done, '', 0)
    return done
  }
}

const TOKEN = /^[\w-]{43}$/
