import { noStore } from '../auth/no-store.ts'
import { readRetryAfter, SvcUnavailableError } from '../svc-unavailable-error.ts'
import { AdminError, readAdminError } from './admin-error.ts'

export interface AdminSettings {
  /** Throws a `TypeError` where it is missing; so does the next one. */
  requireUrl(): string
  requireKey(): string
  timeoutMs: number
}

export interface WriteOptions {
  /**
   * Names the action, 1 to 255 visible characters, so that it has one effect however often it is sent, within a day.
   * Made up when it is left out, which covers the repeats of one call.
   */
  idempotencyKey?: string | undefined
}

export interface Call extends WriteOptions {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Below `/auth/api/v2`: segments, of which each may be an id that anybody has made up. */
  path: readonly string[]
  query?: Record<string, string | number | boolean | readonly string[] | undefined> | undefined
  body?: object | undefined
}

/** Makes a call; resolves to the JSON of its answer. Throws `AdminError`, or `SvcUnavailableError`. */
export type Caller = <T>(call: Call) => Promise<T>

const TRIES = 3
const LONGEST_WAIT_MS = 2000
const SHORTEST_WAIT_MS = 100

interface Prepared {
  address: string
  init: RequestInit
}

interface Answer {
  status: number
  value: unknown
  retryAfter: string | null
}

// An address loses the segments `.` and `..`, encoded or not, and would name something else.
const encodeSegment = (segment: string): string => {
  if (!/^\.{0,2}$/.test(segment)) return encodeURIComponent(segment)
  const message = `nothing has the id ${JSON.stringify(segment)}`
  throw new AdminError({ status: 404, code: 'not_found', message, field: undefined, requestId: undefined })
}

const addressOf = (url: string, { path, query = {} }: Call): string => {
  const address = new URL(`/auth/api/v2/${path.map(encodeSegment).join('/')}`, url)
  for (const [name, values] of Object.entries(query)) {
    for (const value of [values ?? []].flat()) address.searchParams.append(name, String(value))
  }
  return address.href
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

// Without the key, a repeated POST could have its effect twice.
const readIdempotencyKey = ({ method, idempotencyKey }: Call): string | undefined => {
  if (method !== 'POST') return undefined
  if (idempotencyKey === undefined) return crypto.randomUUID()
  if (/^[\x21-\x7e]{1,255}$/.test(idempotencyKey)) return idempotencyKey
  throw new TypeError('idempotencyKey must have 1 to 255 visible characters of ASCII')
}

/** A call as `fetch` takes it, the same for each try. */
const prepare = ({ requireUrl, requireKey }: AdminSettings, call: Call): Prepared => {
  const { method, body } = call
  const idempotencyKey = readIdempotencyKey(call)
  const headers = {
    authorization: `Bearer ${requireKey()}`,
    accept: 'application/json',
    ...(body && { 'content-type': 'application/json' }),
    ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
  }
  // The key of the API goes to svc and to nobody else.
  const init: RequestInit = { method, headers, redirect: 'manual', ...noStore() }
  return { address: addressOf(requireUrl(), call), init: body ? { ...init, body: JSON.stringify(body) } : init }
}

const send = async ({ address, init }: Prepared, timeoutMs: number): Promise<Answer> => {
  const response = await fetch(address, { ...init, signal: AbortSignal.timeout(timeoutMs) })
  return {
    status: response.status,
    value: parse(await response.text()),
    retryAfter: response.headers.get('retry-after'),
  }
}

// A page in place of JSON comes from another program.
const isSuccess = ({ status, value }: Answer): boolean =>
  status === 204 || (status >= 200 && status < 300 && value !== undefined)

// Every call may be sent again: the same DELETE or PATCH has the same effect, and a POST has its key. A conflict with a
// time to wait is the same call, still under way.
const isWorthAnotherTry = ({ status, retryAfter }: Answer): boolean =>
  status === 503 || (status === 409 && retryAfter !== null)

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

const waitMs = (retryAfter: string | null, attempt: number): number =>
  retryAfter === null ? SHORTEST_WAIT_MS * 2 ** attempt : Math.min(readRetryAfter(retryAfter) * 1000, LONGEST_WAIT_MS)

const failureOf = ({ status, value, retryAfter }: Answer, { method, path }: Call): Error => {
  const unavailable = (): Error =>
    new SvcUnavailableError(`svc answered ${status} to ${method} /${path.join('/')}`, {
      retryAfter: readRetryAfter(retryAfter),
    })
  return status >= 400 && status < 500 ? (readAdminError(status, value) ?? unavailable()) : unavailable()
}

/** What makes the calls: it sends a call again after a failure of the network, and in a short outage. */
export const createCaller =
  (settings: AdminSettings): Caller =>
  async <T>(call: Call): Promise<T> => {
    const prepared = prepare(settings, call)
    for (let attempt = 1; ; attempt++) {
      const answer = await send(prepared, settings.timeoutMs).catch((cause: unknown) => {
        if (attempt < TRIES) return undefined
        throw new SvcUnavailableError(`svc at ${settings.requireUrl()} cannot be reached`, { cause })
      })
      if (answer && isSuccess(answer)) return answer.value as T
      if (answer && (attempt === TRIES || !isWorthAnotherTry(answer))) throw failureOf(answer, call)
      await wait(waitMs(answer?.retryAfter ?? null, attempt))
    }
  }
