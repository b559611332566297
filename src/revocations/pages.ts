import { toTimestamp } from '../lib/time.ts'
import type { Clock } from '../lib/time.ts'
import type { Database } from '../storage/database.ts'
import { toCursor } from './cursor.ts'
import type { Polled } from './polling.ts'
import type { Position } from './revocation.ts'
import { findLiveRevocations, findRevocationsFrom, type RevocationRow } from './revocation-store.ts'

/** A page has no more entries. */
const PAGE_SIZE = 1000

/** Readers at the same place who come within this time get the same page, which is read once. */
const SHARED_FOR_MS = 250

/** A reader gets this. */
export interface Page {
  entries: readonly FeedEntry[]
  /** The reader goes on after this place; it is undefined if the page is not complete. */
  next: Position | undefined
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
  /** Reads what comes after a place; without one, all that still matters. */
  after(position: Position | undefined, polled: Polled): Promise<Page>
}

const INCOMPLETE: Page = { entries: [], next: undefined, hasMore: false, isComplete: false }

export const createPages = ({ db, clock }: { db: Database; clock: Clock }): Pages => {
  const pages = new Map<string, Promise<Page>>()

  /** Reads the rows after a place whose own row shows that the reader has been in this state of the database. */
  const readAfter = async (position: Position, { state }: Polled): Promise<Page> => {
    if (isSame(position, state.last)) return toPage([], state.last, state.hasUnnumbered)
    const isFirst = isSame(position, state.first)
    const from = isFirst ? 1 : position.seq
    const rows = await findRevocationsFrom(db, { seq: from, limit: PAGE_SIZE + 2 })
    const [first] = rows
    const isKnown = isFirst ? first?.seq === 1 : first !== undefined && isSame(position, positionOf(first))
    return isKnown ? toPage(isFirst ? rows : rows.slice(1), position, state.hasUnnumbered) : INCOMPLETE
  }

  const readAll = async ({ state }: Polled): Promise<Page> => {
    const rows = await findLiveRevocations(db, { nowMs: clock.now(), limit: PAGE_SIZE + 1 })
    return toPage(rows, state.last, state.hasUnnumbered)
  }

  return {
    after(position, polled) {
      const key = `${polled.version} ${position ? toCursor(position) : ''}`
      const known = pages.get(key)
      if (known) return known
      const page = position ? readAfter(position, polled) : readAll(polled)
      pages.set(key, page)
      setTimeout(() => pages.delete(key), SHARED_FOR_MS).unref()
      return page
    },
  }
}

const isSame = (one: Position, other: Position): boolean => one.seq === other.seq && one.mark === other.mark

const positionOf = ({ seq, id: mark }: RevocationRow): Position => ({ seq, mark })

/** `end` is where a reader is after a page without entries, and at least there after all entries. */
const toPage = (rows: readonly RevocationRow[], end: Position, hasUnnumbered: boolean): Page => {
  const shown = rows.slice(0, PAGE_SIZE)
  const hasMore = rows.length > PAGE_SIZE
  const last = shown.at(-1)
  const reached = last && (hasMore || last.seq > end.seq) ? positionOf(last) : end
  return { entries: shown.map(toFeedEntry), next: reached, hasMore: hasMore || hasUnnumbered, isComplete: true }
}

const toFeedEntry = (row: RevocationRow): FeedEntry => {
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
