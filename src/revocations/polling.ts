import { setImmediate, setTimeout } from 'node:timers/promises'
import { unavailable } from '../lib/errors.ts'
import { randomToken } from '../lib/secrets.ts'
import type { Clock, MonotonicClock } from '../lib/time.ts'
import { coalesce } from '../lib/turns.ts'
import type { Database } from '../storage/database.ts'
import { type FeedState, findFeedState, numberRevocations } from './revocation-store.ts'

const POLL_EVERY_MS = 250
/** Streams are told so often that there is nothing new. */
const CONFIRM_EVERY_MS = 2000
/** "Nothing has ended" is said only if a poll that reached the database began within this time. */
const FRESH_MS = 1000
const NUMBERED_AT_ONCE = 1000
/** So many readers go on in one turn of the event loop: the requests of users come in between. */
const WOKEN_AT_ONCE = 50

/** The feed as a poll has found it. Nothing that is known of one version holds for the next. */
export interface Polled {
  version: number
  state: FeedState
}

type Wake = 'moved' | 'confirmed' | 'over'

interface Waiting {
  wants: 'moved' | 'confirmed'
  wake: (why: Wake) => void
}

/** A reader counts until it leaves. */
interface Reader {
  /**
   * Resolves when the feed has moved on since a version, or if that is undefined, when it is there again. A reader that
   * wants it is woken too whenever a poll has found nothing new for a while. Otherwise it is over: the time is up, the
   * client has gone, or the service stops. A reader waits once at a time.
   */
  wait(version: number | undefined, wants: Waiting['wants'], ms?: number): Promise<Wake>
  leave(): void
}

export interface Polling {
  /** Looks at the database, and gives numbers to entries that have none. Throws `unavailable`. */
  poll(): Promise<Polled>
  /**
   * Counts a reader in; the database is polled while there is one. It leaves when the signal is aborted: a response whose
   * client has gone may never ask for the next page. Throws `unavailable` when there are too many.
   */
  join(signal: AbortSignal): Reader
  /** Returns what the last poll has found, unless it is too long ago. */
  latest(): Polled | undefined
}

export interface PollingDeps {
  db: Database
  clock: Clock
  monotonic: MonotonicClock
  /** It is aborted when the service stops. */
  stopping: AbortSignal
  /** No more readers may wait at this process. */
  maxReaders: number
  /** It is called with the number of readers that wait, when that has changed. */
  onReaders?: ((count: number) => void) | undefined
  /** It is called with the seconds that the oldest of new entries had to wait while there were readers. */
  onLag?: ((seconds: number) => void) | undefined
}

/** However many readers wait, a process polls once; while none waits, it does not poll. */
export const createPolling = (deps: PollingDeps): Polling => {
  const { db, clock, monotonic, stopping, maxReaders } = deps
  const waiting = new Set<Waiting>()
  let readers = 0
  let isRunning = false
  let polled: Polled | undefined
  let polledAtMs = Number.NEGATIVE_INFINITY
  let confirmedAtMs = Number.NEGATIVE_INFINITY
  let hasFailed = false
  let followedSinceMs = Number.POSITIVE_INFINITY

  const count = (change: 1 | -1): void => {
    readers += change
    deps.onReaders?.(readers)
  }

  const wakeAll = async (why: 'moved' | 'confirmed'): Promise<void> => {
    // A reader that waits again before the last has gone on knows already.
    const all = [...waiting]
    let woken = 0
    for (const each of all) {
      if (!waiting.has(each) || (why === 'confirmed' && each.wants !== why)) continue
      each.wake(why)
      woken += 1
      if (woken % WOKEN_AT_ONCE === 0) await setImmediate()
    }
  }

  const findState = async (): Promise<FeedState> => {
    hasFailed = true
    const found = await findFeedState(db)
    if (found && !found.hasUnnumbered) return found
    return numberRevocations(db, { newMark: randomToken(12), limit: NUMBERED_AT_ONCE, nowMs: clock.now() })
  }

  const poll = coalesce(async (): Promise<Polled> => {
    const startedMs = monotonic.elapsedMs()
    const isBack = hasFailed
    const state = await findState()
    hasFailed = false
    polledAtMs = startedMs
    const { waitedMs } = state
    if (waitedMs !== undefined && waitedMs < startedMs - followedSinceMs) deps.onLag?.(waitedMs / 1000)
    const isWhole = polled !== undefined && !polled.state.hasUnnumbered && !state.hasUnnumbered
    if (polled === undefined || !isWhole || isBack || polled.state.last.mark !== state.last.mark) {
      polled = { version: (polled?.version ?? 0) + 1, state }
      void wakeAll('moved')
    } else if (startedMs - confirmedAtMs >= CONFIRM_EVERY_MS) {
      confirmedAtMs = startedMs
      void wakeAll('confirmed')
    }
    return polled
  })

  /** Polls for as long as there is a reader. */
  const run = async (): Promise<void> => {
    isRunning = true
    for (let pauseMs = POLL_EVERY_MS; ; ) {
      await setTimeout(pauseMs, undefined, { ref: false })
      if (readers === 0 || stopping.aborted) break
      const found = await poll().catch(() => undefined)
      pauseMs = found?.state.hasUnnumbered ? 0 : POLL_EVERY_MS
    }
    isRunning = false
  }

  stopping.addEventListener('abort', () => {
    for (const each of waiting) each.wake('over')
  })

  const createReader = (signal: AbortSignal, onLeave: () => void): Reader => {
    let current: Waiting | undefined
    let isIn = true
    const leave = (): void => {
      if (isIn) onLeave()
      isIn = false
      signal.removeEventListener('abort', end)
    }
    const end = (): void => {
      leave()
      current?.wake('over')
    }
    signal.addEventListener('abort', end)
    return {
      leave,
      wait(version, wants, ms) {
        if (stopping.aborted || signal.aborted) return Promise.resolve('over')
        if (version !== undefined && polled && polled.version !== version) return Promise.resolve('moved')
        return new Promise((resolve) => {
          const wake = (why: Wake): void => {
            clearTimeout(deadline)
            waiting.delete(entry)
            resolve(why)
          }
          const entry = { wants, wake }
          const deadline = ms === undefined ? undefined : globalThis.setTimeout(wake, ms, 'over')
          current = entry
          waiting.add(entry)
        })
      },
    }
  }

  return {
    poll,

    join(signal) {
      if (readers >= maxReaders) throw unavailable('Too many readers wait already.')
      if (readers === 0) followedSinceMs = monotonic.elapsedMs()
      count(1)
      if (!isRunning) void run()
      const reader = createReader(signal, () => count(-1))
      // A signal that is aborted already tells nobody.
      if (signal.aborted) reader.leave()
      return reader
    },

    latest: () => (monotonic.elapsedMs() - polledAtMs <= FRESH_MS ? polled : undefined),
  }
}
