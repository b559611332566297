import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

/** Makes a strong validator of a body (RFC 9110 section 8.8.3). */
export const etagOf = (body: string): string =>
  `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`

/**
 * Tells whether the client has the body already, by the header `If-None-Match` (RFC 9110 section 13.1.2). A proxy that
 * compresses marks our validator as weak, which counts all the same.
 */
export const isKnownToClient = (ifNoneMatch: string | undefined, etag: string): boolean => {
  if (ifNoneMatch === undefined) return false
  const known = ifNoneMatch.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return known.includes(etag) || known.includes('*')
}

/** Tells whether the client takes gzip (RFC 9110 section 12.5.3). A client that is in doubt gets the plain body. */
export const acceptsGzip = ({ 'accept-encoding': accepted = '' }: IncomingHttpHeaders): boolean =>
  accepted
    .split(',')
    .some((coding) => /^gzip(?:;q=(?:1(?:\.0*)?|0\.\d*[1-9]\d*))?$/.test(coding.replaceAll(/\s/g, '').toLowerCase()))

/**
 * Tells whether a script sent the form. A script wants data and no page; a browser that shows a page accepts
 * `text/html`.
 */
export const prefersJson = ({ accept }: IncomingHttpHeaders): boolean => {
  if (accept === undefined) return false
  const types = accept.split(',').map((range) => range.split(';', 1)[0]?.trim().toLowerCase())
  return types.includes('application/json') && !types.includes('text/html')
}
