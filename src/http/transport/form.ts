import { AppError } from '../../lib/errors.ts'
import { type Fields, NO_FIELDS, readUrlEncoded } from './url-encoded.ts'

const FORM = 'application/x-www-form-urlencoded'
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** A type and a subtype of tokens, and possibly parameters (RFC 9110 section 8.3.1). */
const MEDIA_TYPE = /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(?:;|$)/

/** The fields of a form. A body of another type is `unsupported_media_type` if `isExpected`, and ignored otherwise. */
export const readForm = (body: Uint8Array, contentType: string | undefined, isExpected: boolean): Fields => {
  if (contentType !== undefined && !MEDIA_TYPE.test(contentType)) {
    throw unsupported('The header Content-Type is not readable.')
  }
  if (body.length === 0) return NO_FIELDS
  const type = contentType?.split(';')[0]?.trim().toLowerCase()
  if (type === FORM) return readUrlEncoded(decode(body))
  if (!isExpected) return NO_FIELDS
  throw unsupported(`The body is ${type ? `"${type}"` : 'of no stated type'}; send ${FORM}.`)
}

const unsupported = (message: string): AppError =>
  new AppError('unsupported_media_type', message, { field: 'Content-Type' })

const decode = (body: Uint8Array): string => {
  try {
    return utf8.decode(body)
  } catch (cause) {
    throw new AppError('invalid_request', 'The form is not UTF-8.', { cause })
  }
}
