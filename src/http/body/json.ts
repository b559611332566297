import { AppError } from '../../lib/errors.ts'
import { inspectJson } from '../../lib/json-members.ts'

/** This is the body of a request as it came: no value has been checked. */
export type JsonObject = Readonly<Record<string, unknown>>

/** This is deeper than any body that a route takes. */
const MAX_DEPTH = 16

const JSON_TYPE = /^application\/json[ \t]*(?:;[ \t]*charset=(?:utf-8|"utf-8")[ \t]*)?$/i
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Reads the object in a body. It throws `unsupported_media_type` for a body of another type or encoding. It throws
 * `invalid_request` for a body that is not JSON (RFC 8259), has a member twice, of which each parser takes another one,
 * or is nested too deeply.
 */
export const readJson = (
  body: Uint8Array,
  contentType: string | undefined,
  encoding: string | undefined,
): JsonObject => {
  if (contentType === undefined || !JSON_TYPE.test(contentType)) {
    throw unsupported('Content-Type', 'Send the body as application/json, in UTF-8.')
  }
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw unsupported('Content-Encoding', 'Send the body without a Content-Encoding.')
  }
  const text = decode(body)
  const value = parse(text)
  requireShape(text)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject
  throw new AppError('invalid_request', 'The body is JSON, but no object.')
}

const unsupported = (field: string, message: string): AppError =>
  new AppError('unsupported_media_type', message, { field })

const decode = (body: Uint8Array): string => {
  try {
    return utf8.decode(body)
  } catch (cause) {
    throw new AppError('invalid_request', 'The body is not UTF-8.', { cause })
  }
}

/** The parser's own message repeats a part of the body, which may be a password. */
const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    throw new AppError('invalid_request', 'The body is not JSON.')
  }
}

const requireShape = (text: string): void => {
  const { depth, repeated } = inspectJson(text)
  if (depth > MAX_DEPTH) throw new AppError('invalid_request', 'The body is nested too deeply.')
  if (repeated === undefined) return
  const field = shownName(repeated)
  throw new AppError('invalid_request', `The field ${JSON.stringify(field)} is in the body more than once.`, { field })
}

const MAX_LENGTH = 64
const KEY = /svc_sk_[\w-]*/g

/**
 * Shows the name of a field or parameter that a client sent, in messages and the log. The name may be as long as the
 * whole body, and an API key in the wrong place must not get into a log.
 */
export const shownName = (name: string): string => {
  const shown = name.slice(0, 2 * MAX_LENGTH).replaceAll(KEY, 'svc_sk_…')
  return shown.length > MAX_LENGTH ? `${shown.slice(0, MAX_LENGTH)}…` : shown
}
