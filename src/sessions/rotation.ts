import type { Clock } from '../lib/time.ts'
import type { CachedRow, Database, Queries } from '../storage/database.ts'
import { createClockSteps } from './clock-steps.ts'
import { currentTimeMs, replacedAt, type Rotating } from './lifetime.ts'
import { createUnansweredRotations } from './unanswered-rotations.ts'

export interface RotatingRow extends Rotating {
  id: string
  readAtMs: number | undefined
}

interface RotationDeps<Row extends RotatingRow, Kept> {
  db: Database
  clock: Clock
  /** A refresh token that was just replaced stays good for this long. */
  graceMs: number
  cached: CachedRow<Kept>
  rowOf: (kept: Kept) => Row
  /**
   * Writes the next generation. It resolves to 0 when another request has done so, the row is gone, or the server comes
   * to it after the deadline by its own clock: then nobody waits for the result any more.
   */
  updateRotated: (db: Pick<Queries, 'run'>, row: Row, deadlineMs: number) => Promise<number>
  /** Does the same when nobody knows if the rotation was made: it changes when its earlier token was replaced. */
  updateUnanswered: (db: Pick<Queries, 'run'>, row: Row) => Promise<unknown>
}

/** `grace`: it was replaced a moment ago and is still good. `old`: it was replaced before that. */
type Age = 'current' | 'grace' | 'old' | 'unknown'

/**
 * Replaces the refresh token of a row, of a session or of a grant of a client, so that no race of honest requests ends
 * it.
 */
export const createRotation = <Row extends RotatingRow, Kept>(deps: RotationDeps<Row, Kept>) => {
  const { db, clock, graceMs, cached, rowOf, updateRotated } = deps
  const unanswered = createUnansweredRotations(deps)
  const clockSteps = createClockSteps(clock)

  /** Tells whether the token of an earlier generation was replaced so recently that it is still good. */
  const isInGrace = (row: Row, generation: number): boolean => {
    const timeMs = replacedAt(row, generation)
    return timeMs !== undefined && clockSteps.ageMs(timeMs, currentTimeMs(row, clock)) < graceMs
  }

  return {
    ageOf(row: Row, generation: number): Age {
      if (generation > row.generation) return 'unknown'
      if (generation === row.generation) return 'current'
      return isInGrace(row, generation) ? 'grace' : 'old'
    },

    /** It must be called before a token counts as used twice; if it resolves to true, the row is looked at again. */
    settle: unanswered.settle,

    /**
     * Writes the next generation, which `toNext` makes, while `issue` makes the tokens: they are signed while the disk
     * writes. It resolves to undefined when another request, here or in another process, was first.
     */
    async rotate<Issued>(found: Kept, toNext: (nowMs: number) => Kept, issue: (next: Kept) => Promise<Issued>) {
      const row = rowOf(found)
      const nowMs = currentTimeMs(row, clock)
      clockSteps.observe(nowMs)
      const kept = toNext(nowMs)
      const next = rowOf(kept)
      let hasCommitted = false
      const committing = db.autocommit((changes) => {
        hasCommitted = true
        // The user's row may have changed while the statement waited for its turn: then the found row is outdated.
        const isCurrent = changes === 1 && cached.peek(next.id) === found
        if (isCurrent) cached.replace(next.id, kept)
        else cached.forget(next.id)
      })
      // A server that was frozen in between may get the statement long after this process has given it up. If the token
      // were replaced then, its honest owner would be taken for a thief.
      const update = updateRotated(committing, next, (row.readAtMs ?? 0) + (db.timeoutMs ?? 0))
      const write = unanswered.watch(next, update, () => hasCommitted)
      const [changes, issued] = await Promise.all([write, issue(kept)])
      return changes === 1 ? issued : undefined
    },
  }
}
