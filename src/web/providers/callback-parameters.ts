import { signInProblem } from '../../oauth/errors.ts'
import type { Fields } from '../../http/body/form.ts'

/** The parameters of a callback (RFC 6749 section 4.1.2, RFC 9207; `user` is Apple's). */
const CALLBACK_PARAMETERS = ['code', 'state', 'iss', 'error', 'error_description', 'user'] as const

/** Proxies refuse longer addresses. */
export const MAX_CALLBACK_LENGTH = 8000

/** The parameters of a callback; `invalid_request` when one is repeated, since it is not clear which counts. */
export const readCallbackParameters = ({ get }: Fields): URLSearchParams => {
  const params = new URLSearchParams()
  for (const field of CALLBACK_PARAMETERS) {
    const value = get(field)
    if (value !== undefined) params.set(field, value)
  }
  return params
}

/** The same; repeated parameters are a sign-in problem. */
export const requireCallbackParameters = (query: Fields): URLSearchParams => {
  try {
    return readCallbackParameters(query)
  } catch (error) {
    throw signInProblem('unreadable', error)
  }
}

/** `state` alone, also when another parameter is repeated; undefined when it is missing or repeated itself. */
export const findState = ({ get }: Fields): string | undefined => {
  try {
    return get('state')
  } catch {
    return undefined
  }
}
