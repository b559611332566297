export type Json = Record<string, unknown>

/** A part of a compact JWT: JSON as base64url (RFC 7515 section 3.1). */
export const encodePart = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/**
 * The object in a part of a token; an empty one unless the part is spelled exactly as this service spells it. Otherwise
 * two readers could understand it differently: of two members of the same name in JSON, one takes the first and another
 * the last, and base64url has spare bits.
 */
export const readPart = (part: string): Json => {
  try {
    const text = Buffer.from(part, 'base64url').toString('utf8')
    const value: unknown = JSON.parse(text)
    return isJson(value) && encodePart(value) === part ? value : {}
  } catch {
    return {}
  }
}

const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null
