import { createBoundedCache } from '../lib/bounded-cache.ts'
import type { Clock, MonotonicClock } from '../lib/time.ts'
import type { Database } from '../storage/database.ts'
import type { Counter } from './counter.ts'
import {
  type CountedRow,
  countTry,
  deleteExcessCounters,
  type EntryPlace,
  findFull,
  takeBackTry,
} from './counter-store.ts'
import { LIMITS, type LimitName } from './limit-table.ts'
import { TooManyTries } from './too-many-tries.ts'
import { createUnderWay } from './under-way.ts'

/** A full counter of a network is not looked at for so long: others may take tries back in the meantime. */
const REMEMBERED_MS = 5000
const REMEMBERED_COUNTERS = 10_000

/** A try has these counters, which are never none, and the place of a login with a password. */
export interface CountedTry {
  counters: readonly [Counter, ...Counter[]]
  place?: EntryPlace | undefined
}

/** The action does the work of a try. It must await `admitted` before it does anything that the limits bound. */
export type Action<T> = (admitted: Promise<unknown>) => Promise<T>

export interface LimitedTryDeps {
  db: Database
  clock: Clock
  /** This is the clock of the times that this process remembers. */
  elapsed: MonotonicClock
  /** It is called for every refused try, with the limit whose window ends last. */
  onRefusal?: ((limit: LimitName) => void) | undefined
}

/** So many tries of this process may come between two looks at the table. */
const LOOK_EVERY = 50_000

/**
 * Keeps the table of counters within its bound while a flood of networks fills it: cleanup comes too seldom for that.
 * The function that it returns is called for each try.
 */
const createTableBound = (db: Database): (() => void) => {
  let tries = 0
  let isLooking = false

  return () => {
    tries += 1
    if (tries < LOOK_EVERY || isLooking) return
    tries = 0
    isLooking = true
    // A failure is left to the next look, or to cleanup.
    deleteExcessCounters(db)
      .catch(() => {})
      .finally(() => {
        isLooking = false
      })
  }
}

export const createAttempt = ({ db, clock, elapsed, onRefusal }: LimitedTryDeps) => {
  const remembered = createBoundedCache<{ limit: LimitName; endsAtMs: number; untilMs: number }>(REMEMBERED_COUNTERS)
  const underWay = createUnderWay()
  const boundTable = createTableBound(db)

  const refuse = (limit: LimitName, waitMs?: number): never => {
    onRefusal?.(limit)
    throw new TooManyTries(limit, waitMs)
  }

  const remember = ({ limit, id }: Counter, waitMs: number): void => {
    const nowMs = elapsed.elapsedMs()
    remembered.set(id, { limit, endsAtMs: nowMs + waitMs, untilMs: nowMs + Math.min(waitMs, REMEMBERED_MS) })
  }

  const requireNotRemembered = ({ counters }: CountedTry): void => {
    const nowMs = elapsed.elapsedMs()
    for (const { id, isRememberedFull } of counters) {
      const full = isRememberedFull ? remembered.get(id) : undefined
      if (full && full.untilMs > nowMs) refuse(full.limit, full.endsAtMs - nowMs)
    }
  }

  /** Takes a try back, without being waited for by its request. It stays counted if the database is away. */
  const takeBack = (rows: readonly CountedRow[]): Promise<void> | undefined =>
    rows.length === 0 ? undefined : takeBackTry(db.runUnsynced, rows).catch(() => {})

  /** Says why a try is refused: the counter whose window ends last, of those that are full without tries under way. */
  const explainRefusal = async (attempt: CountedTry): Promise<never> => {
    const underWayAt = underWay.watch()
    const rows = await findFull(db, { ...attempt, nowMs: clock.now() })
    const filled = rows.flatMap(({ id, place, count, wait_ms: waitMs }) => {
      const counter = attempt.counters[place]
      return counter ? { id, counter, count, waitMs } : []
    })
    const full = filled.filter(({ id, counter, count }) => count - underWayAt(id) >= counter.tries)
    for (const { counter, waitMs } of full) if (counter.isRememberedFull) remember(counter, waitMs)
    const [longest] = full.toSorted((one, other) => other.waitMs - one.waitMs)
    if (longest) return refuse(longest.counter.limit, longest.waitMs)
    // If none is filled, one was until a moment ago, by tries that others have taken back since.
    return refuse((filled[0]?.counter ?? attempt.counters[0]).limit)
  }

  const leave = ({ counters }: CountedTry, rows: readonly CountedRow[], thrown: unknown): void => {
    const notCounted = rows.filter((row) => {
      const counter = counters.find((it) => isRowOf(it, row))
      return counter !== undefined && !LIMITS[counter.limit].counts(thrown)
    })
    underWay.leave(rows, takeBack(notCounted))
  }

  /**
   * A refused try asks nothing of the database before `action` has ended: its transaction may hold what the database
   * needs for an answer.
   */
  return async <T>(attempt: CountedTry, action: Action<T>): Promise<T> => {
    const { counters } = attempt
    requireNotRemembered(attempt)
    await underWay.settled(counters.map(({ id }) => id))
    const counting = countTry(db.runUnsynced, { ...attempt, nowMs: clock.now() })
    const admitted = counting.then((rows) => {
      if (!isComplete(counters, rows)) throw new TooManyTries(counters[0].limit)
      return underWay.enter(rows)
    })
    const [outcome] = await Promise.allSettled([run(action, admitted), admitted])
    const rows = await counting
    if (!isComplete(counters, rows)) {
      await takeBack(rows)
      return explainRefusal(attempt)
    }
    boundTable()
    leave(attempt, rows, outcome.status === 'rejected' ? outcome.reason : undefined)
    if (outcome.status === 'rejected') throw outcome.reason
    return outcome.value
  }
}

/** Turns an error that is thrown at once into a rejection: the try is left in any case. */
const run = async <T>(action: Action<T>, admitted: Promise<unknown>): Promise<T> => action(admitted)

const isRowOf = ({ id, browsers }: Counter, row: CountedRow): boolean =>
  browsers === 'known' ? row.id.startsWith(id) : row.id === id

/** Tells whether a try was counted in each counter that fits the browser. */
const isComplete = (counters: readonly Counter[], rows: readonly CountedRow[]): boolean => {
  const isIn = (counter: Counter): boolean => rows.some((row) => isRowOf(counter, row))
  const of = (browsers: Counter['browsers']): Counter[] => counters.filter((it) => it.browsers === browsers)
  const [known, unknown] = [of('known'), of('unknown')]
  return of('all').every(isIn) && (known.some(isIn) || unknown.every(isIn))
}
