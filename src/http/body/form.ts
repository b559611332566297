import { AppError } from '../../lib/errors.ts'

const FORM = 'application/x-www-form-urlencoded'
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** This matches a type and a subtype of tokens, and possibly parameters (RFC 9110 section 8.3.1). */
const MEDIA_TYPE = /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(?:;|$)/

/**
 * Reads the fields of a form. A body of another type is `unsupported_media_type` if `isExpected`, and ignored
 * otherwise.
 */
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

/**
 * These are the fields of a query or a form. A repeated field is an error when it is read: there is no guess which one
 * counts.
 */
export interface Fields {
  /** Throws `invalid_request` when the field is repeated. */
  get(name: string): string | undefined
  /** Gives every value of a field that may be repeated. */
  all(name: string): readonly string[]
  /** Lists the names of all fields, each once. */
  readonly names: Iterable<string>
}

const NO_VALUES: readonly string[] = []

/**
 * Reads `application/x-www-form-urlencoded` (WHATWG URL section 5.1). Text that is not UTF-8 is `invalid_request`: a
 * parser that repairs it makes one value of two different inputs.
 */
export const readUrlEncoded = (text: string): Fields => {
  if (text.includes('%')) requireUtf8(text)
  // Each name is looked up at once: a search through thousands of fields for each of them would take a core.
  const fields = new Map<string, string[]>()
  for (const [name, value] of new URLSearchParams(text)) {
    const values = fields.get(name)
    if (values) values.push(value)
    else fields.set(name, [value])
  }
  return {
    get(name) {
      const values = fields.get(name)
      if (values === undefined || values.length === 1) return values?.[0]
      throw new AppError('invalid_request', `The field "${name}" came more than once; send it once.`, { field: name })
    },
    all: (name) => fields.get(name) ?? NO_VALUES,
    get names() {
      return fields.keys()
    },
  }
}

export const NO_FIELDS: Fields = { get: () => undefined, all: () => [], names: [] }

const requireUtf8 = (text: string): void => {
  for (const [run] of text.matchAll(/(?:%[0-9a-f]{2})+/gi)) {
    if (!isUtf8(run)) throw new AppError('invalid_request', 'A field is not UTF-8, percent-encoded.')
  }
}

const isUtf8 = (percentEncoded: string): boolean => {
  try {
    decodeURIComponent(percentEncoded)
    return true
  } catch {
    return false
  }
}
