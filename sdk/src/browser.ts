import { authFetch } from './browser/auth-fetch.ts'
import { isSignedIn } from './browser/cookies.ts'
import { withSessionLock } from './browser/lock.ts'
import { addressOfSvc, requirePage } from './browser/own-document.ts'
import { renew } from './browser/renewal.ts'
import { tellListeners } from './browser/session-change.ts'
import { postToSvc } from './browser/session-request.ts'
import { readRetryAfter, SvcUnavailableError } from './svc-unavailable-error.ts'
import { toUser, type User } from './user.ts'

export { authFetch } from './browser/auth-fetch.ts'
export { onSessionChange, type SessionChange, type SessionListener } from './browser/session-change.ts'
export { stepUpUrl } from './request/login-url.ts'
export { SvcUnavailableError } from './svc-unavailable-error.ts'
export { hasMfa, type MfaOptions, type Proof } from './proof.ts'
export type { User } from './user.ts'

const USER_PATH = '/auth/api/v1/user'

const askForUser = async (): Promise<Response> => {
  try {
    return await authFetch(addressOfSvc(USER_PATH), { headers: { accept: 'application/json' }, cache: 'no-store' })
  } catch (cause) {
    if (cause instanceof SvcUnavailableError) throw cause
    throw new SvcUnavailableError('svc cannot be reached', { cause })
  }
}

/**
 * The signed-in user, or null when nobody is signed in; renews the session if needed. Throws `SvcUnavailableError` when
 * svc cannot say.
 */
export const getUser = async (): Promise<User | null> => {
  requirePage()
  // A question would be a 401, which the console shows in red to each visitor of a public page.
  if (!isSignedIn()) return null
  const response = await askForUser()
  if (response.status === 401) return null
  const json: unknown = response.ok ? await response.json().catch(() => undefined) : undefined
  const user = toUser(json, response.headers)
  if (user) return user
  throw new SvcUnavailableError(`${USER_PATH} answers ${response.status} and no user: does /auth lead to svc?`, {
    retryAfter: readRetryAfter(response.headers.get('retry-after')),
  })
}

/**
 * Renews the session now, for this audience (default: that of login). Resolves to false when nobody is signed in. Throws
 * `SvcUnavailableError` when svc does not renew it, as for an audience that it does not have.
 */
export const refreshSession = async ({ audience }: { audience?: string } = {}): Promise<boolean> => {
  requirePage()
  return renew(audience)
}

/** Ends the session, in all tabs. Throws `SvcUnavailableError` when svc does not answer; the user is signed in then. */
export const logout = async (): Promise<void> => {
  requirePage()
  const response = await withSessionLock(() => postToSvc('/auth/logout'))
  tellListeners()
  // A page in place of an empty answer is none of svc's.
  if (response.status !== 204) throw new SvcUnavailableError(`/auth/logout answers ${response.status}`)
}
