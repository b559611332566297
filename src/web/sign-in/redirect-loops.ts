import { hash } from 'node:crypto'
import { createBoundedCache } from '../../lib/bounded-cache.ts'
import type { MonotonicClock } from '../../lib/time.ts'

/** A browser follows about twenty redirects, and each return takes two of them: the loop must be noticed earlier. */
const MOST_RETURNS = 5
const WINDOW_MS = 10_000

/** This many addresses of sessions are kept; each takes about 300 bytes. */
const KEPT_RETURNS = 5000

/** This holds the latest returns of one session to one address. */
interface Returns {
  timesMs: number[]
  lastSeenMs: number
  isReported: boolean
}

/**
 * Counts that a session, whose request arrived at `arrivedMs`, is about to return to an address. `return` says that it
 * may. `loop` says that it has returned there five times within ten seconds. `known_loop` says that this was reported
 * before.
 */
export type CountReturn = (sessionId: string, returnTo: string, arrivedMs: number) => 'return' | 'loop' | 'known_loop'

/**
 * Notices a redirect loop: a signed-in user returns to the same address again and again, since the application there
 * does not accept the session and redirects to the login page. This process counts the returns, by the monotonic clock.
 */
export const createRedirectLoops = (clock: MonotonicClock): CountReturn => {
  const remembered = createBoundedCache<Returns>(KEPT_RETURNS)

  const returnsOf = (sessionId: string, returnTo: string, nowMs: number): Returns => {
    const key = hash('sha256', `${sessionId} ${returnTo}`, 'base64url')
    const known = remembered.get(key)
    if (known && nowMs - known.lastSeenMs < WINDOW_MS) return known
    const returns = { timesMs: [], lastSeenMs: nowMs, isReported: false }
    remembered.set(key, returns)
    return returns
  }

  return (sessionId, returnTo, arrivedMs) => {
    const nowMs = clock.elapsedMs()
    const returns = returnsOf(sessionId, returnTo, nowMs)
    returns.lastSeenMs = nowMs
    returns.timesMs = returns.timesMs.filter((timeMs) => nowMs - timeMs < WINDOW_MS)
    if (returns.timesMs.length >= MOST_RETURNS) {
      const isKnown = returns.isReported
      returns.isReported = true
      return isKnown ? 'known_loop' : 'loop'
    }
    // A request that arrived before the latest return was sent does not follow from it: several tabs are no loop.
    if (arrivedMs >= (returns.timesMs.at(-1) ?? 0)) returns.timesMs.push(nowMs)
    return 'return'
  }
}
