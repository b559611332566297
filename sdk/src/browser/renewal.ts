import { isFresh, isSignedIn } from './cookies.ts'
import { withSessionLock } from './lock.ts'
import { ofWindow } from './own-document.ts'
import { postToSvc } from './session-request.ts'
import { tellListeners } from './session-change.ts'

/** How often this tab has renewed the session. */
let renewals = 0
const underWay = new Map<string, Promise<boolean>>()

/** The audience of login, which `/auth/session.js` knows; without that script the default of svc. */
const defaultAudience = (): string => (ofWindow('svcSession') as { audience?: string } | undefined)?.audience ?? 'app'

const request = async (audience: string): Promise<boolean> => {
  const response = await postToSvc(`/auth/api/v1/sessions/refresh?audience=${encodeURIComponent(audience)}`)
  if (response.ok) renewals += 1
  // A login in another tab may have made a new session in the meantime.
  return response.ok || isFresh()
}

/**
 * Renews the session, unless it is not needed any more once the lock is held. Resolves to false when nobody is signed
 * in. Throws `SvcUnavailableError`.
 */
export const renew = (audience: string = defaultAudience(), isNeeded = (): boolean => true): Promise<boolean> => {
  const running = underWay.get(audience)
  if (running) return running
  const renewal = withSessionLock(async () => (isNeeded() ? request(audience) : isSignedIn())).finally(() => {
    underWay.delete(audience)
    tellListeners()
  })
  underWay.set(audience, renewal)
  return renewal
}

/** Whether a request that is sent now, and answered 401, needs a renewal: not if there has been one since. */
export const needAfterRefusal = (): (() => boolean) => {
  const renewalsBefore = renewals
  const wasFresh = isFresh()
  return () => renewals === renewalsBefore && (wasFresh || !isFresh())
}
