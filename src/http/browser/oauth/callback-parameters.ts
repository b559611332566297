import { signInProblem } from '../../../oauth/errors.ts'
import type { Fields } from '../../transport/url-encoded.ts'

/** What a provider may send back (RFC 6749 section 4.1.2, RFC 9207; `user` is Apple's). */
const ANSWER_FIELDS = ['code', 'state', 'iss', 'error', 'error_description', 'user'] as const

/** Longer addresses are cut off by proxies. */
export const MAX_CALLBACK_LENGTH = 8000

/** The parameters of a provider's answer; `invalid_request` where one is repeated: nobody can tell which counts. */
export const readCallbackParameters = ({ get }: Fields): URLSearchParams => {
  const answer = new URLSearchParams()
  for (const field of ANSWER_FIELDS) {
    const value = get(field)
    if (value !== undefined) answer.set(field, value)
  }
  return answer
}

/** The same, as a problem of the sign-in. */
export const requireCallbackParameters = (query: Fields): URLSearchParams => {
  try {
    return readCallbackParameters(query)
  } catch (error) {
    throw signInProblem('unreadable', error)
  }
}

/** The state alone, where the rest cannot be read; undefined where it cannot be read itself. */
export const findState = ({ get }: Fields): string | undefined => {
  try {
    return get('state')
  } catch {
    return undefined
  }
}
