import { addressOf, type RequestSource } from './source.ts'

const LOGIN = '/auth/login'
const CONFIRM = '/auth/account/confirm'
const LONGEST_RETURN_TO = 2048
/** No browser comes here: it only completes a path. */
const ANY_ORIGIN = 'http://svc.invalid'

// svc accepts no others. A backslash and two slashes lead to another host, and so does what becomes two slashes once a
// browser has resolved it; control characters are dropped before a browser looks.
const isReturnTo = (text: string): boolean => {
  if (text.length > LONGEST_RETURN_TO || !/^\/(?!\/)[^ \\\p{Cc}\p{Cs}]*$/u.test(text)) return false
  return URL.canParse(text, ANY_ORIGIN) && !new URL(text, ANY_ORIGIN).pathname.startsWith('//')
}

// Node gives each byte of an address as one character.
const encodeBytes = (address: string): string =>
  address.replaceAll(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`)

/** The path and query of a request, as they were sent. */
const pathAndQueryOf = (address: string): string => {
  if (address.startsWith('/') || !URL.canParse(address)) return encodeBytes(address)
  const { pathname, search } = new URL(address)
  return pathname + search
}

/** A path as svc accepts it; `/` in place of any other. */
const returnTo = (path: string): string => `return_to=${encodeURIComponent(isReturnTo(path) ? path : '/')}`

/** The login page that sends the user to a path afterwards, or to `/` if svc would not accept the path. */
export const loginUrlTo = (path: string): string => `${LOGIN}?${returnTo(path)}`

/**
 * The login page that sends the user back to the address of this request. It is relative: svc answers on the origin of
 * the application.
 */
export const loginUrl = (source: RequestSource): string => loginUrlTo(pathAndQueryOf(addressOf(source) ?? '/'))

/**
 * The address that asks the user for a second factor, unless they have proved one within ten minutes, and sends them
 * back to this request, or to a path such as `/payments`. Who has none sets one up there first. It is relative, too.
 */
export const stepUpUrl = (to: RequestSource | string): string =>
  `${CONFIRM}?${returnTo(typeof to === 'string' ? to : pathAndQueryOf(addressOf(to) ?? '/'))}&acr=mfa`
