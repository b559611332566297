import { AppError } from '../lib/errors.ts'
import type { Fields } from './body/form.ts'

const MAX_LENGTH = 2048

/** Pages of svc on the way to another: their address repeats where that is, percent-encoded. */
const ON_THE_WAY = /^\/auth\/account\/(?:confirm|second-factor|first-factor)\?/
const MAX_LENGTH_ON_THE_WAY = 8000

/** Where this service is, and where users go who asked for no other page. */
export interface ReturnTargets {
  baseUrl: string
  /** A path, with its query and fragment. */
  homeUrl: string
}

/**
 * Where to redirect after a login, signup or logout (CONTRACT.md 4.5): the home address by default, else the path with
 * query and fragment as the URL standard writes it; `invalid_request` for a value that could leave this origin.
 */
export const readReturnTo = (entered: string | undefined, { baseUrl, homeUrl }: ReturnTargets): string => {
  if (entered === undefined) return homeUrl
  if (!isAccepted(entered)) throw refusal()
  const url = new URL(entered, baseUrl)
  const returnTo = url.pathname + url.search + url.hash
  // `/.//host` is on this origin, but resolves to the path `//host`, which a browser takes for another host.
  if (url.origin !== baseUrl || returnTo.startsWith('//')) throw refusal()
  return returnTo
}

const isAccepted = (entered: string): boolean =>
  entered.length <= (ON_THE_WAY.test(entered) ? MAX_LENGTH_ON_THE_WAY : MAX_LENGTH) &&
  /^\/(?!\/)/.test(entered) &&
  !/[\\\p{Cc}]/u.test(entered) &&
  !entered.endsWith(' ') &&
  URL.canParse(entered, 'http://localhost')

const refusal = (): AppError =>
  new AppError(
    'invalid_request',
    'The address to return to (return_to) is not accepted: it must be a path on this site, such as /start.',
    { field: 'return_to' },
  )

/** The same for a form that was refused; undefined for a value that is not accepted. */
export const findReturnTo = (form: Pick<Fields, 'get'>, targets: ReturnTargets): string | undefined => {
  try {
    return readReturnTo(form.get('return_to'), targets)
  } catch {
    return undefined
  }
}

/** Whether `readReturnTo` accepts a value. */
export const isReturnTo = (entered: string, targets: ReturnTargets): boolean =>
  findReturnTo({ get: () => entered }, targets) !== undefined

/**
 * Percent-encodes what is not ASCII in the request target of a visitor. Node reads each byte of it as one character
 * (latin1).
 */
export const encodeBytes = (target: string): string =>
  target.replaceAll(/[\u0080-\u00ff]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`)

/** The value of `return_to` in links and forms; undefined for the home address, which is the default. */
export const returnToParameter = (returnTo: string, { homeUrl }: Pick<ReturnTargets, 'homeUrl'>): string | undefined =>
  returnTo === homeUrl ? undefined : returnTo
