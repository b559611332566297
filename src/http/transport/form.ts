import { AppError } from '../../lib/errors.ts'
import { type Fields, NO_FIELDS, readUrlEncoded } from './url-encoded.ts'

const FORM = 'application/x-www-form-urlencoded'
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * The fields of a body. A body of another kind is `unsupported_media_type` where a form is wanted, and of no interest
 * where it is not.
 */
export const readForm = (body: unknown, contentType: string | undefined, isWanted: boolean): Fields => {
  if (!(body instanceof Uint8Array) || body.length === 0) return NO_FIELDS
  const type = contentType?.split(';')[0]?.trim().toLowerCase()
  if (type === FORM) return readUrlEncoded(decode(body))
  if (!isWanted) return NO_FIELDS
  throw new AppError(
    'unsupported_media_type',
    `The body is ${type ? `"${type}"` : 'of no stated type'}; send ${FORM}.`,
    {
      field: 'Content-Type',
    },
  )
}

const decode = (body: Uint8Array): string => {
  try {
    return utf8.decode(body)
  } catch (cause) {
    throw new AppError('invalid_request', 'The form is not UTF-8.', { cause })
  }
}
