import { addressOf, type RequestSource } from './source.ts'

const LOGIN = '/auth/login'
const LONGEST_RETURN_TO = 2048
/** No browser comes here: it only completes a path. */
const ANY_ORIGIN = 'http://svc.invalid'

// A backslash and two slashes lead to another host, and browsers drop control characters before they look.
const isReturnTo = (text: string): boolean =>
  /^\/(?!\/)[^\\\p{Cc}\p{Cs}]*$/u.test(text) &&
  text.length <= LONGEST_RETURN_TO &&
  text === text.trim() &&
  URL.canParse(text, ANY_ORIGIN)

// Node gives each byte of an address as one character.
const encodeBytes = (address: string): string =>
  address.replaceAll(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`)

/** The path and query of a request, as they were sent. */
const pathAndQueryOf = (address: string): string => {
  if (address.startsWith('/') || !URL.canParse(address)) return encodeBytes(address)
  const { pathname, search } = new URL(address)
  return pathname + search
}

/** The login page that sends the user to a path afterwards, or to `/` if svc would not accept the path. */
const loginUrlTo = (path: string): string => `${LOGIN}?return_to=${encodeURIComponent(isReturnTo(path) ? path : '/')}`

/**
 * The login page that sends the user back to the address of this request. It is relative: svc answers on the origin of
 * the application.
 */
export const loginUrl = (source: RequestSource): string => loginUrlTo(pathAndQueryOf(addressOf(source) ?? '/'))
