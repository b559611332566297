import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '../lib/errors.ts'
import type { CachedRow, Database, Queries } from '../storage/database.ts'
import { type Rotating, UNTIL_NEXT_IS_USED } from './lifetime.ts'

/** The oldest is forgotten beyond this number. */
const MAX_REMEMBERED = 10_000

const RETRY_EVERY_MS = 500

interface UnansweredDeps<Row> {
  db: Database
  cached: Pick<CachedRow<unknown>, 'forget'>
  updateUnanswered: (db: Pick<Queries, 'run'>, row: Row) => Promise<unknown>
}

/**
 * Remembers refreshes that were answered with 503 while the database may have made their change: the disk has stalled,
 * or the server was frozen. The browser still has the old token, and may come back with it long after the grace. That
 * is no theft. The rows are changed as soon as the database answers, so that other processes know about it.
 */
export const createUnansweredRotations = <Row extends Rotating & { id: string }>({
  db,
  cached,
  updateUnanswered,
}: UnansweredDeps<Row>) => {
  const unanswered = new Map<string, { rotated: Row; isSettled: boolean }>()
  let isSettlingAll = false

  const update = async (rotated: Row): Promise<void> => {
    const committing = db.autocommit(() => cached.forget(rotated.id))
    const replacedAtMs = [...rotated.replacedAtMs.slice(0, -1), UNTIL_NEXT_IS_USED]
    await updateUnanswered(committing, { ...rotated, replacedAtMs })
  }

  const settleAll = async (): Promise<void> => {
    for (const one of unanswered.values()) {
      if (one.isSettled) continue
      await update(one.rotated)
      // It stays: a request may have read the row before the change, and asks about it afterwards.
      one.isSettled = true
    }
  }

  const settleInBackground = async (): Promise<void> => {
    if (isSettlingAll) return
    isSettlingAll = true
    for (let isDone = false; !isDone; ) {
      await sleep(RETRY_EVERY_MS, undefined, { ref: false })
      isDone = await settleAll().then(
        () => true,
        () => false,
      )
    }
    isSettlingAll = false
  }

  const remember = (rotated: Row): void => {
    unanswered.set(rotated.id, { rotated, isSettled: false })
    const [oldest] = unanswered.size > MAX_REMEMBERED ? unanswered.keys() : []
    if (oldest) unanswered.delete(oldest)
    void settleInBackground()
  }

  return {
    /**
     * Runs the write of a rotation. If its outcome stays unknown, it remembers that nobody was given the new token.
     * `hasCommitted` tells whether a statement that failed had been committed.
     */
    async watch(rotated: Row, write: Promise<number>, hasCommitted: () => boolean): Promise<number> {
      try {
        return await write
      } catch (error) {
        // A write on SQLite that fails before its commit has changed nothing. A server may change the row later.
        const isUnknown = hasCommitted() || db.dialect !== 'sqlite'
        if (isUnknown && error instanceof AppError && error.code === 'unavailable') remember(rotated)
        throw error
      }
    },

    /**
     * It must be called before a token counts as used twice. If the successor may never have been given out, the row is
     * changed so that the token is good until its successor is used, and must be looked at again: then it resolves to
     * true.
     */
    async settle(id: string): Promise<boolean> {
      const found = unanswered.get(id)
      if (!found) return false
      if (!found.isSettled) await update(found.rotated)
      if (unanswered.get(id) === found) unanswered.delete(id)
      return true
    },
  }
}
