import { setImmediate } from 'node:timers/promises'
import { type MonotonicClock, monotonicClock } from '../lib/time.ts'
import { type Database, inBatches } from '../storage/database.ts'
import { readCursor } from './cursor.ts'
import { createPages, type Page } from './pages.ts'
import { createPolling, type Polled, type PollingDeps } from './polling.ts'
import type { Position } from './revocation.ts'
import { deleteRevocationsBefore, deleteUnnumbered, findFirstRevocations } from './revocation-store.ts'

export type { FeedEntry, Page } from './pages.ts'

/** The revocation feed tells verifiers of tokens what has ended, and whose claims have changed. */
export interface RevocationFeed {
  /**
   * Reads what came after a cursor, or without one all that still matters. If nothing came, it waits for the first entry
   * until the time is up. Throws `invalid_request` for what is no cursor, and `unavailable`.
   */
  read(cursor: string | undefined, wait: { ms: number; signal: AbortSignal }): Promise<Page>
  /**
   * Does the same without an end. It gives a page without entries when a poll has made sure that there is nothing more:
   * at first, and every two seconds. It ends after a page that is not complete, when the signal is aborted, when the
   * service stops, and when `mayGoOn` says no.
   */
  follow(cursor: string | undefined, options: FollowOptions): AsyncGenerator<Page, void>
  /** Deletes entries that are past their time, for cleanup; resolves to how many. */
  deleteExpired(nowMs: number): Promise<number>
}

interface FollowOptions {
  signal: AbortSignal
  mayGoOn: () => Promise<boolean>
}

export interface RevocationFeedDeps extends Omit<PollingDeps, 'monotonic'> {
  monotonic?: MonotonicClock | undefined
}

interface Found {
  polled: Polled
  page: Page
}

/** A page has no more entries. A reader of a stream who takes nothing holds one in memory. */
const PAGE_SIZE = 1000
const STREAMED_PAGE_SIZE = 100

/** While entries come all the time, a reader is told so often that it has them all. */
const CONFIRM_EVERY_MS = 2000

export const createRevocationFeed = (deps: RevocationFeedDeps): RevocationFeed => {
  const { db, stopping, monotonic = monotonicClock } = deps
  const polling = createPolling({ ...deps, monotonic })
  const pages = createPages(deps)

  const look = async (position: Position | undefined, limit: number): Promise<Found> => {
    const polled = polling.latest() ?? (await polling.poll())
    return { polled, page: await pages.after(position, polled, limit) }
  }

  return {
    async read(cursor, { ms, signal }) {
      let position = cursor === undefined ? undefined : readCursor(cursor)
      if (position === undefined || ms === 0) return pages.after(position, await polling.poll(), PAGE_SIZE)
      const reader = polling.join(signal)
      try {
        const deadlineMs = monotonic.elapsedMs() + ms
        for (;;) {
          const found: Found | undefined = await look(position, PAGE_SIZE).catch(() => undefined)
          if (found && (!found.page.isComplete || found.page.entries.length > 0)) return found.page
          position = found?.page.next ?? position
          const leftMs = Math.max(0, deadlineMs - monotonic.elapsedMs())
          // What could not be read now is looked for again, though the feed may not move.
          const wants = found ? 'moved' : 'confirmed'
          if ((await reader.wait(found?.polled.version, wants, leftMs)) === 'over')
            return (await look(position, PAGE_SIZE)).page
        }
      } finally {
        reader.leave()
      }
    },

    async *follow(cursor, { signal, mayGoOn }) {
      let position = cursor === undefined ? undefined : readCursor(cursor)
      let confirmedAtMs = Number.NEGATIVE_INFINITY
      const reader = polling.join(signal)
      try {
        let found: Found | undefined = await look(position, STREAMED_PAGE_SIZE)
        while (!stopping.aborted && (await mayGoOn())) {
          const page: Page | undefined = found?.page
          position = page?.next ?? position
          const isNews = page !== undefined && (page.entries.length > 0 || !page.isComplete)
          const isDue = monotonic.elapsedMs() - confirmedAtMs >= CONFIRM_EVERY_MS
          if (isNews) yield page
          else if (page && !page.hasMore && isDue) {
            confirmedAtMs = monotonic.elapsedMs()
            yield page
          }
          if (page?.isComplete === false) return
          const why = isNews ? 'moved' : await reader.wait(found?.polled.version, 'confirmed')
          if (why === 'over') return
          if (why === 'confirmed') confirmedAtMs = Number.NEGATIVE_INFINITY
          found = await look(position, STREAMED_PAGE_SIZE).catch(() => undefined)
        }
      } finally {
        reader.leave()
      }
    },

    async deleteExpired(nowMs) {
      return (await deleteNumbered(db, nowMs)) + (await inBatches((limit) => deleteUnnumbered(db, nowMs, limit)))
    },
  }
}

const DELETED_AT_ONCE = 500

/**
 * Deletes the entries that are past their time, in order, and leaves the last of them: it shows that a reader who has
 * come so far has missed nothing.
 */
const deleteNumbered = async (db: Database, nowMs: number): Promise<number> => {
  for (let deleted = 0; ; ) {
    const rows = await findFirstRevocations(db, DELETED_AT_ONCE)
    const firstLive = rows.findIndex((row) => row.expires_at > nowMs)
    const kept = firstLive === -1 ? rows.at(-1) : rows[firstLive - 1]
    if (kept) deleted += await deleteRevocationsBefore(db, kept.seq)
    if (firstLive !== -1 || rows.length < DELETED_AT_ONCE) return deleted
    await setImmediate()
  }
}
