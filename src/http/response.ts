/** What a handler returns. Without `cacheSeconds` the response is not cached. */
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

/** 303 (RFC 9110 section 15.4.4): the browser requests the location by `GET`. */
export const redirect = (location: string): HttpResponse => ({ redirect: location })
