const WAIT_FOR_LOCK_MS = 2000

/**
 * Does something while no other tab renews or ends the session; `/auth/session.js` takes the same lock. Where there are
 * no locks, or another tab does not give it back, it is done all the same: svc bears with two renewals at once.
 */
export const withSessionLock = async <T>(work: () => Promise<T>): Promise<T> => {
  let result: Promise<T> | undefined
  const workOnce = (): Promise<T> => (result ??= work())
  try {
    await navigator.locks.request('svc-refresh', { signal: AbortSignal.timeout(WAIT_FOR_LOCK_MS) }, workOnce)
  } catch {
    // If the work itself has failed, it says so below.
  }
  return workOnce()
}
