import { deleteExcessCounters } from '../storage/counters.ts'
import type { Database } from '../storage/database.ts'

/** How many tries of this process may come between two looks at the table. */
const LOOK_EVERY = 50_000

/**
 * Keeps the table of counters within its bound while a flood of networks fills it: cleanup comes too seldom for that. To
 * be called for each try.
 */
export const createTableBound = (db: Database): (() => void) => {
  let tries = 0
  let isLooking = false

  return () => {
    tries += 1
    if (tries < LOOK_EVERY || isLooking) return
    tries = 0
    isLooking = true
    // What fails is left to the next look, or to cleanup.
    deleteExcessCounters(db)
      .catch(() => {})
      .finally(() => {
        isLooking = false
      })
  }
}
