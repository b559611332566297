import { type Clock, toTimestamp } from '../lib/time.ts'
import type { Database } from '../storage/database.ts'
import { toCursor } from './cursor.ts'
import type { Polled } from './polling.ts'
import type { Position } from './revocation.ts'
import { type FeedState, findLiveRevocations, findRevocationsFrom, type RevocationRow } from './revocation-store.ts'

/** Readers at the same place who come within this time get the same page, which is read once. */
const SHARED_FOR_MS = 250

/** A reader gets this. */
export interface Page {
  entries: readonly FeedEntry[]
  /** The reader goes on after this place; it is undefined if the page is not complete. */
  next: Position | undefined
  /** The same place, as readers get it. */
  cursor: string | undefined
  /** There are entries after these. */
  hasMore: boolean
  /** `false`: the reader may have missed entries, and starts again without a cursor. */
  isComplete: boolean
}

/** An entry, in the form that readers get (CONTRACT.md 10.8). */
export interface FeedEntry {
  cursor: string
  json: string
}

export interface Pages {
  /** Reads up to so many entries that come after a place; without one, those that still matter. */
  after(position: Position | undefined, polled: Polled, limit: number): Promise<Page>
}

const INCOMPLETE: Page = { entries: [], next: undefined, cursor: undefined, hasMore: false, isComplete: false }

export const createPages = ({ db, clock }: { db: Database; clock: Clock }): Pages => {
  const pages = new Map<string, Promise<Page>>()

  /** Reads the rows after a place whose own row shows that the reader has been in this state of the database. */
  const readAfter = async (position: Position, state: FeedState, limit: number): Promise<Page> => {
    if (isSame(position, state.last)) return toPage([], state, limit)
    const isFirst = isSame(position, state.first)
    const from = isFirst ? 1 : position.seq
    // One more is that of the place, and another one tells whether there are more.
    const rows = await findRevocationsFrom(db, { seq: from, limit: limit + 2 })
    const [first] = rows
    const isKnown = isFirst ? first?.seq === 1 : first !== undefined && isSame(position, positionOf(first))
    if (!isKnown) return INCOMPLETE
    return toPage(isFirst ? rows : rows.slice(1), { ...state, last: position }, limit)
  }

  const readLive = async (state: FeedState, limit: number): Promise<Page> =>
    toPage(await findLiveRevocations(db, { nowMs: clock.now(), limit: limit + 1 }), state, limit)

  return {
    after(position, { version, state }, limit) {
      const key = position ? `${version} ${limit} ${position.seq} ${position.mark}` : `${version} ${limit}`
      const known = pages.get(key)
      if (known) return known
      const page = position ? readAfter(position, state, limit) : readLive(state, limit)
      pages.set(key, page)
      setTimeout(() => pages.delete(key), SHARED_FOR_MS).unref()
      return page
    },
  }
}

const isSame = (one: Position, other: Position): boolean => one.seq === other.seq && one.mark === other.mark

const positionOf = ({ seq, id: mark }: RevocationRow): Position => ({ seq, mark })

/** Without entries a reader is at the last place, and there at least after all of them. */
const toPage = (rows: readonly RevocationRow[], { last, hasUnnumbered }: FeedState, limit: number): Page => {
  const shown = rows.slice(0, limit)
  const hasMore = rows.length > limit
  const final = shown.at(-1)
  const next = final && (hasMore || final.seq > last.seq) ? positionOf(final) : last
  return {
    entries: shown.map(toEntry),
    next,
    cursor: toCursor(next),
    hasMore: hasMore || hasUnnumbered,
    isComplete: true,
  }
}

const toEntry = (row: RevocationRow): FeedEntry => {
  const { seq, at, type, user_id, session_ids, replaced_by, reason, not_before, expires_at } = row
  const json = JSON.stringify({
    seq,
    at: toTimestamp(at),
    type,
    user_id,
    session_ids: session_ids === null ? undefined : (JSON.parse(session_ids) as string[]),
    replaced_by: replaced_by ?? undefined,
    reason: reason ?? undefined,
    not_before: not_before === null ? undefined : Math.floor(not_before / 1000),
    expires_at: toTimestamp(expires_at),
  })
  return { cursor: toCursor(positionOf(row)), json }
}
