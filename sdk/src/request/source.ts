import { isLambdaEvent, type LambdaEvent, requestOfEvent } from './lambda-event.ts'

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
export type RequestSource = RequestLike | HeadersLike | LambdaEvent

/** The request, or undefined for headers alone. */
const requestOf = (source: RequestSource): RequestLike | undefined => {
  if (isLambdaEvent(source)) return requestOfEvent(source)
  return 'headers' in source ? source : undefined
}

const isFetchHeaders = (headers: HeadersLike | HeaderRecord): headers is HeadersLike =>
  typeof headers.get === 'function'

/** One header of a request, repeated fields joined; undefined when there is none. */
export const headerOf = (source: RequestSource, name: string): string | undefined => {
  const headers = requestOf(source)?.headers ?? (source as HeadersLike)
  if (isFetchHeaders(headers)) return headers.get(name) ?? undefined
  // Node has lower-case names; events of functions in a cloud have them as they were sent.
  const values = Object.entries(headers).flatMap(([key, value]) => (key.toLowerCase() === name ? (value ?? []) : []))
  return values.length === 0 ? undefined : values.join(name === 'cookie' ? '; ' : ', ')
}

/** The address of a request as its client sent it; undefined where there are headers alone. */
export const addressOf = (source: RequestSource): string | undefined => {
  const request = requestOf(source)
  return request?.originalUrl ?? request?.url
}

/** The method of a request; `GET` where there are headers alone. */
export const methodOf = (source: RequestSource): string => requestOf(source)?.method ?? 'GET'
