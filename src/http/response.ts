import type { AppError } from '../lib/errors.ts'

export interface ContentResponse {
  status: number
  contentType: string
  body: string
  retryAfterSeconds?: number | undefined
  /** Without it the response is not cached. */
  cacheSeconds?: number
  /** Name, value, name, value. */
  headers?: readonly string[]
  /** A validator of the body: a client that has it already is answered 304. */
  etag?: string
  /** For the log: why the request was refused, where the page says so in its own words. */
  refused?: AppError
}

/** What a handler returns. */
export type HttpResponse = ContentResponse | Redirect

interface Redirect {
  redirect: string
  /** A sign-in goes on there: it is counted at its end. */
  isUnfinished?: true
}

export const HTML_TYPE = 'text/html; charset=utf-8'

export const page = (status: number, html: string, retryAfterSeconds?: number): ContentResponse => ({
  status,
  contentType: HTML_TYPE,
  body: html,
  retryAfterSeconds,
})

export const json = (status: number, body: string): ContentResponse => ({
  status,
  contentType: 'application/json',
  body,
})

/** Done; there is nothing to say about it. */
export const noContent: ContentResponse = { status: 204, contentType: '', body: '' }

/** Whether no sign-in goes on after it, which waits for a second factor. */
export const isFinished = (response: HttpResponse): boolean => !('isUnfinished' in response)

/** 303 (RFC 9110 section 15.4.4): the browser requests the location by `GET`. */
export const redirect = (location: string): HttpResponse => ({ redirect: location })
