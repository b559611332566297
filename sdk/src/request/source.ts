/** Headers as Fetch has them. */
export interface HeadersLike {
  get(name: string): string | null
}

/** Headers as Node has them. */
export type HeaderRecord = Readonly<Record<string, string | readonly string[] | undefined>>

/** Anything that has the headers of a request: a `Request`, a request of Node or of a framework, or `{ headers }`. */
export interface RequestLike {
  readonly headers: HeadersLike | HeaderRecord
  readonly method?: string | undefined
  readonly url?: string | undefined
  /** The address before a framework cut off where the handler is mounted. */
  readonly originalUrl?: string | undefined
}

/** What a function of the SDK takes as the request of a user. */
export type RequestSource = RequestLike | HeadersLike

const hasHeaders = (source: RequestSource): source is RequestLike => 'headers' in source

const isFetchHeaders = (headers: HeadersLike | HeaderRecord): headers is HeadersLike =>
  typeof headers.get === 'function'

/** One header of a request, repeated fields joined; undefined when there is none. */
export const headerOf = (source: RequestSource, name: string): string | undefined => {
  const headers = hasHeaders(source) ? source.headers : source
  if (isFetchHeaders(headers)) return headers.get(name) ?? undefined
  // Node has lower-case names; events of functions in a cloud have them as they were sent.
  const values = Object.entries(headers).flatMap(([key, value]) => (key.toLowerCase() === name ? (value ?? []) : []))
  return values.length === 0 ? undefined : values.join(name === 'cookie' ? '; ' : ', ')
}

/** The address of a request as its client sent it; undefined where there are headers alone. */
export const addressOf = (source: RequestSource): string | undefined => {
  if (!hasHeaders(source)) return undefined
  return source.originalUrl ?? source.url
}

/** The method of a request; `GET` where there are headers alone. */
export const methodOf = (source: RequestSource): string => (hasHeaders(source) ? (source.method ?? 'GET') : 'GET')
