import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { MonotonicClock } from '../../lib/time.ts'

/** A browser follows about twenty redirects, of which each return takes two: the loop must be found before. */
const MOST_RETURNS = 5
const WINDOW_MS = 10_000

/** How many addresses of sessions are remembered at most; about 300 bytes each. */
const MAX_REMEMBERED = 10_000

/** The latest returns of one session to one address. */
interface Returns {
  timesMs: number[]
  lastAskedMs: number
  isReported: boolean
}

/**
 * Notices when a signed-in user is returned to the same address again and again: the application there does not accept
 * the session, and redirects to the login page. Counts in this process, by the monotonic clock.
 */
export const createRedirectLoops = (clock: MonotonicClock) => {
  // By size and not by `max`, for which the memory of them all is taken at once.
  const remembered = new LRUCache<string, Returns>({ maxSize: MAX_REMEMBERED, sizeCalculation: () => 1 })

  const returnsOf = (sessionId: string, target: string, nowMs: number): Returns => {
    const key = hash('sha256', `${sessionId} ${target}`, 'base64url')
    const known = remembered.get(key)
    if (known && nowMs - known.lastAskedMs < WINDOW_MS) return known
    const returns = { timesMs: [], lastAskedMs: nowMs, isReported: false }
    remembered.set(key, returns)
    return returns
  }

  /**
   * Counts that a session, whose request came at `askedMs`, is about to be returned to `target`. `return` when it may be;
   * `loop` when it was returned there five times within ten seconds, `known_loop` when that has been said before.
   */
  return (sessionId: string, target: string, askedMs: number): 'return' | 'loop' | 'known_loop' => {
    const nowMs = clock.elapsedMs()
    const returns = returnsOf(sessionId, target, nowMs)
    returns.lastAskedMs = nowMs
    returns.timesMs = returns.timesMs.filter((timeMs) => nowMs - timeMs < WINDOW_MS)
    if (returns.timesMs.length >= MOST_RETURNS) {
      const isKnown = returns.isReported
      returns.isReported = true
      return isKnown ? 'known_loop' : 'loop'
    }
    // A request that came before the last return was answered follows from something else: several tabs, say.
    if (askedMs >= (returns.timesMs.at(-1) ?? 0)) returns.timesMs.push(nowMs)
    return 'return'
  }
}
