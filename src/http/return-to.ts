import { AppError } from '../lib/errors.ts'
import type { Fields } from './transport/url-encoded.ts'

const MAX_LENGTH = 2048
const HOME = '/'

/**
 * Where to send a person afterwards (specification section 4.2 rules 1 and 2): `/` when nothing was said, else the path
 * with query and fragment as the URL standard writes it; `invalid_request` for whatever could leave this origin.
 */
export const readReturnTo = (entered: string | undefined, baseUrl: string): string => {
  if (entered === undefined) return HOME
  if (!isAccepted(entered)) throw refusal()
  const url = new URL(entered, baseUrl)
  const target = url.pathname + url.search + url.hash
  // `/.//host` stays here when it is resolved, but what it resolves to, `//host`, would not.
  if (url.origin !== baseUrl || target.startsWith('//')) throw refusal()
  return target
}

const isAccepted = (entered: string): boolean =>
  entered.length <= MAX_LENGTH &&
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

/** The same of a form that is not to be answered; undefined for whatever is not accepted. */
export const findReturnTo = (form: Fields, baseUrl: string): string | undefined => {
  try {
    return readReturnTo(form.get('return_to'), baseUrl)
  } catch {
    return undefined
  }
}

/** Whether `readReturnTo` accepts a value. */
export const isReturnTo = (entered: string, baseUrl: string): boolean =>
  findReturnTo({ get: () => entered }, baseUrl) !== undefined

/** The value for a link that comes back to `target`; undefined for the home page, which needs none. */
export const returnToParameter = (target: string): string | undefined => (target === HOME ? undefined : target)
