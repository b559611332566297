import { AppError } from '../lib/errors.ts'
import type { Fields } from './body/form.ts'

const MAX_LENGTH = 2048

/** These pages of svc lie on the way to another: their address repeats where that is, percent-encoded. */
const ON_THE_WAY = /^\/auth\/account\/(?:confirm|second-factor|first-factor)\?/
const MAX_LENGTH_ON_THE_WAY = 8000

/** A client's request for authorization goes on at this path, with the sealed request. */
export const AUTHORIZE_PATH = '/auth/oauth2/authorize'
const SEALED_REQUEST = `${AUTHORIZE_PATH}?request=`
const MAX_LENGTH_OF_REQUEST = 4096

export const pathOfRequest = (sealed: string, language?: string): string =>
  `${SEALED_REQUEST}${sealed}${language === undefined ? '' : `&ui_locales=${language}`}`

/** Tells whether an address leads back to a client's request, at once or after other pages of svc. */
export const leadsToRequest = (address: string): boolean =>
  address.startsWith(SEALED_REQUEST) || /[?&]return_to=[^&]*%2Fauth(?:%25)*%2Foauth2(?:%25)*%2Fauthorize/i.test(address)

/** This says where this service is, and where users go who asked for no other page. */
export interface ReturnTargets {
  baseUrl: string
  /** This is a path, with its query and fragment. */
  homeUrl: string
}

/** These fields of a request may name the page to return to. */
interface Asked {
  form: Pick<Fields, 'get'>
  query: Pick<Fields, 'get'>
}

/**
 * This is THE reader of `return_to`: the page to go to after a login, signup, logout or change (CONTRACT.md 4.5). It
 * takes the form, else the query, else `otherwise`. It throws `invalid_request` for a value that could leave this
 * origin.
 */
export const readReturnTo = <Otherwise>(
  { form, query }: Asked,
  targets: Pick<ReturnTargets, 'baseUrl'>,
  otherwise: Otherwise,
): string | Otherwise => {
  const entered = form.get('return_to') ?? query.get('return_to')
  if (entered === undefined) return otherwise
  const returnTo = parseReturnTo(entered, targets)
  if (returnTo !== undefined) return returnTo
  throw new AppError(
    'invalid_request',
    'The address to return to (return_to) is not accepted: it must be a path on this site, such as /start.',
    { field: 'return_to' },
  )
}

/**
 * Does the same with the home page as default, for a request that was refused. It is undefined for a value that is not
 * accepted.
 */
export const findReturnTo = (asked: Asked, targets: ReturnTargets): string | undefined => {
  try {
    return readReturnTo(asked, targets, targets.homeUrl)
  } catch {
    return undefined
  }
}

/**
 * Reads the path, query and fragment of an address on this site, as the URL standard writes them. It is undefined for
 * any other.
 */
export const parseReturnTo = (entered: string, { baseUrl }: Pick<ReturnTargets, 'baseUrl'>): string | undefined => {
  if (!isAccepted(entered)) return undefined
  const url = new URL(entered, baseUrl)
  const returnTo = url.pathname + url.search + url.hash
  // `/.//host` is on this origin, but resolves to the path `//host`, which a browser takes for another host.
  return url.origin !== baseUrl || returnTo.startsWith('//') ? undefined : returnTo
}

/**
 * Reads which page of this site a form stood on; its origin has been checked. It is undefined where the browser does not
 * say.
 */
export const findReferringPage = (
  { headers }: { headers: { referer?: string | undefined; origin?: string | undefined } },
  { baseUrl }: Pick<ReturnTargets, 'baseUrl'>,
): string | undefined => {
  const { referer = '', origin = baseUrl } = headers
  return referer.startsWith(`${origin}/`) ? parseReturnTo(referer.slice(origin.length), { baseUrl }) : undefined
}

const isAccepted = (entered: string): boolean =>
  entered.length <= maxLengthOf(entered) &&
  /^\/(?!\/)/.test(entered) &&
  !/[\\\p{Cc}]/u.test(entered) &&
  !entered.endsWith(' ') &&
  URL.canParse(entered, 'http://localhost')

const maxLengthOf = (entered: string): number => {
  if (ON_THE_WAY.test(entered)) return MAX_LENGTH_ON_THE_WAY
  return entered.startsWith(SEALED_REQUEST) ? MAX_LENGTH_OF_REQUEST : MAX_LENGTH
}

/**
 * This is THE writer of `return_to`: it makes a path that leads on to a page. An undefined page is left out, and a lone
 * surrogate in it becomes U+FFFD.
 */
export const withReturnTo = (path: string, returnTo: string | undefined): string =>
  returnTo === undefined
    ? path
    : `${path}${path.includes('?') ? '&' : '?'}return_to=${encodeURIComponent(returnTo.toWellFormed())}`

/**
 * Finds the page for a user who has just created their account: that of `SVC_AFTER_SIGNUP_URL`, which gets what was
 * asked for as its `return_to`. It goes without where the address would be longer than a `return_to` of ours may be.
 */
export const afterSignup = (
  { homeUrl, afterSignupUrl }: Pick<ReturnTargets, 'homeUrl'> & { afterSignupUrl: string | undefined },
  returnTo: string,
): string => {
  if (afterSignupUrl === undefined) return returnTo
  const [, path = '', fragment = ''] = /^([^#]*)(.*)$/.exec(afterSignupUrl) ?? []
  const whole = withReturnTo(path, returnToParameter(returnTo, { homeUrl })) + fragment
  return whole.length <= MAX_LENGTH ? whole : afterSignupUrl
}

/** Gives the value of `return_to` in links and forms. It is undefined for the home address, which is the default. */
export const returnToParameter = (returnTo: string, { homeUrl }: Pick<ReturnTargets, 'homeUrl'>): string | undefined =>
  returnTo === homeUrl ? undefined : returnTo

/**
 * Percent-encodes the bytes beyond ASCII in the request target of a visitor. Node reads each byte as one character
 * (latin1).
 */
export const encodeBytes = (target: string): string =>
  target.replaceAll(/[\u0080-\u00ff]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`)
