import { setImmediate } from 'node:timers/promises'
import { leastUuidAt } from '../lib/uuid.ts'
import type { Database } from '../storage/database.ts'
import { findSessionEnds, lockExpired } from './all-sessions-store.ts'
import { EXPIRED } from './client-grants.ts'
import type { RemoveSessions } from './removal.ts'

/** So many sessions are looked at together. */
const BATCH = 500

/** Sessions whose ids follow one another. None of them ends before a time. */
interface Block {
  /** It begins after the last id of the block before. */
  upTo: string
  earliestEndMs: number
  /** It had so many when it was read. */
  size: number
}

interface ExpiryDeps {
  db: Database
  /** No session that is refreshed now, or begins now, ends sooner. */
  shortestLifetimeMs: number
  removeSessions: RemoveSessions
}

/**
 * Ends the sessions that have expired. Sessions are read in order of id, which is that of their start, up to those that
 * are too young to have expired. It remembers when the first of each block may end: until then, the block is not read
 * again, so that a look every few minutes reads few sessions. No index is there for it, which each refresh would change.
 */
export const createExpiry = ({ db, shortestLifetimeMs, removeSessions }: ExpiryDeps) => {
  let blocks: Block[] = []

  const endThose = (ids: readonly string[], nowMs: number): Promise<number> =>
    db.inTransaction(async (transaction) => {
      const expired = await lockExpired(transaction, ids, nowMs)
      return (await removeSessions(transaction, { ids: expired }, { reason: EXPIRED })).length
    })

  /** Reads the sessions after one id and up to another, and makes blocks of those that live. */
  const look = async (
    range: { after: string; upTo: string },
    nowMs: number,
  ): Promise<{ made: Block[]; ended: number }> => {
    const made: Block[] = []
    let ended = 0
    for (let { after } = range; ; ) {
      const sessions = await findSessionEnds(db, { ...range, after, limit: BATCH })
      const ends = sessions.map((each) => each.expires_at).filter((endMs) => endMs > nowMs)
      const expired = sessions.filter((each) => each.expires_at <= nowMs)
      if (expired.length > 0)
        ended += await endThose(
          expired.map(({ id }) => id),
          nowMs,
        )
      const isLast = sessions.length < BATCH
      after = isLast ? range.upTo : (sessions.at(-1)?.id ?? range.upTo)
      // A refresh after the setting was changed may have shortened a life.
      made.push({ upTo: after, earliestEndMs: Math.min(...ends, nowMs + shortestLifetimeMs), size: ends.length })
      if (isLast) return { made, ended }
      await setImmediate()
    }
  }

  /** Resolves to how many ended. */
  return async (nowMs: number): Promise<number> => {
    const next: Block[] = []
    let ended = 0
    let after = ''
    const frontier = { upTo: leastUuidAt(nowMs - shortestLifetimeMs), earliestEndMs: nowMs, size: 0 }
    for (const block of [...blocks, frontier]) {
      if (block.earliestEndMs > nowMs) addTo(next, block)
      else if (block.upTo > after) {
        const found = await look({ after, upTo: block.upTo }, nowMs)
        for (const made of found.made) addTo(next, made)
        ended += found.ended
      }
      after = next.at(-1)?.upTo ?? after
    }
    blocks = next
    return ended
  }
}

/** Small blocks become one. */
const addTo = (blocks: Block[], block: Block): void => {
  const before = blocks.at(-1)
  if (before && before.size + block.size <= BATCH) {
    blocks.pop()
    const earliestEndMs = Math.min(before.earliestEndMs, block.earliestEndMs)
    blocks.push({ upTo: block.upTo, earliestEndMs, size: before.size + block.size })
  } else blocks.push(block)
}
