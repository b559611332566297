import { hash } from 'node:crypto'
import { AppError } from '../lib/errors.ts'
import { leastUuidAt, timeOfUuid } from '../lib/uuid.ts'
import type { Database } from '../storage/database.ts'
import { type AuditType, COUNTED_TYPES } from './audit-event.ts'
import type { AuditRow } from './audit-row.ts'
import { AFTER_ALL } from './audit-store.ts'
import {
  type AuditFilter,
  findEventsAfter,
  findEventsBefore,
  findLastReclaim,
  findLatestRecords,
  findUserOfEnded,
  needsScan,
  scanEventsBefore,
} from './reading-store.ts'

/** The records to read; all conditions that are given must hold. */
export interface AuditQuery {
  userId?: string | undefined
  type?: AuditType | undefined
  requestId?: string | undefined
  address?: string | undefined
  /** Any but `user`. */
  actor?: string | undefined
  /** The earliest time, in milliseconds since 1970. */
  sinceMs?: number | undefined
  /** All are before this time. */
  untilMs?: number | undefined
}

/** A user reads the records of their own account. */
export interface OwnPageRequest extends Pick<AuditPageRequest, 'limit' | 'cursor'> {
  userId: string
}

/** A list for operators and one of the user's own have different cursors. */
interface ListedQuery extends AuditQuery {
  isOwn?: boolean
}

export interface AuditPageRequest extends AuditQuery {
  /** 1 to 1000. */
  limit: number
  /** The cursor that an earlier page of the same list gave; undefined for the first page. */
  cursor?: string | undefined
}

/** A page of a list. It may hold fewer records than were asked for, although there are more pages. */
export interface AuditPage {
  events: AuditRow[]
  /** Undefined at the end. */
  nextCursor: string | undefined
}

interface ReadingDeps {
  db: Database
  flush: () => Promise<void>
}

const EXPORTED_AT_ONCE = 1000
const SCANNED_ROWS = 2000

/** The record that tells of a session has an id of about the same time. */
const AROUND_MS = 5000

const filterOf = ({ sinceMs, untilMs: _untilMs, ...query }: AuditQuery): AuditFilter => ({
  ...query,
  from: sinceMs === undefined ? undefined : leastUuidAt(sinceMs),
})

/** Stands in a cursor for the query, so that the cursor is of no use with another one. */
const hashOf = ({ userId, type, sinceMs, isOwn, requestId, address, actor, untilMs }: ListedQuery): string => {
  const query = [userId, type, sinceMs, isOwn, requestId, address, actor, untilMs]
  return hash('sha256', JSON.stringify(query), 'base64url').slice(0, 16)
}

const toCursor = (id: string, query: ListedQuery): string => Buffer.from(`${id} ${hashOf(query)}`).toString('base64url')

/** Reads the id before which a list goes on. */
const readCursor = (cursor: string | undefined, query: ListedQuery): string => {
  if (cursor === undefined) return query.untilMs === undefined ? AFTER_ALL : leastUuidAt(query.untilMs)
  const [id = ''] = Buffer.from(cursor, 'base64url').toString().split(' ')
  if (cursor === toCursor(id, query)) return id
  const message = 'The query parameter "cursor" must be a next_cursor of the same list.'
  throw new AppError('invalid_request', message, { field: 'cursor' })
}

const COUNTED: readonly string[] = COUNTED_TYPES

/** These records of an account are for operators, and not for its user. */
const OF_OPERATORS: readonly AuditType[] = ['user.viewed', 'webhook.given_up', 'webhook.redelivered', 'mail.resent']

/** They can take one in so many places of a list from the user's own records. */
const PLACES_FOR_EACH_COUNTED = 3

export const createAuditReading = ({ db, flush }: ReadingDeps) => ({
  async list({ limit, cursor, ...query }: AuditPageRequest): Promise<AuditPage> {
    const before = readCursor(cursor, query)
    await flush()
    // One more than is shown tells whether there is another page.
    const { rows, last } = await find(db, filterOf(query), before, limit + 1)
    const isFull = rows.length > limit
    const next = isFull ? rows[limit - 1]?.id : last
    return { events: rows.slice(0, limit), nextCursor: next && toCursor(next, query) }
  },

  async ownPage({ userId, limit, cursor }: OwnPageRequest): Promise<AuditPage> {
    const query = { userId, isOwn: true }
    const before = readCursor(cursor, query)
    await flush()
    const from = await findLastReclaim(db, userId)
    const rows = await findEventsBefore(db, { userId, from, without: OF_OPERATORS }, before, limit + 1)
    const last = rows.length > limit ? rows[limit - 1] : undefined
    return { events: rows.slice(0, limit), nextCursor: last && toCursor(last.id, query) }
  },

  async latestOf(userId: string, { types, limit }: { types: readonly string[]; limit: number }): Promise<AuditRow[]> {
    const own = types.filter((type) => !COUNTED.includes(type))
    const latest = await findLatestRecords(db, userId, { own, counted: COUNTED, limit })
    // A record of a reclaimed account that is not among them is older than all of them.
    const reclaimed = latest.findIndex(({ type }) => type === 'identity.taken_over')
    return withRoomForOwn(reclaimed === -1 ? latest : latest.slice(0, reclaimed + 1), limit)
  },

  async findUserOfEnded(id: string): Promise<string | undefined> {
    const startedAtMs = timeOfUuid(id)
    if (startedAtMs === undefined) return undefined
    const [fromId, toId] = [startedAtMs - AROUND_MS, startedAtMs + AROUND_MS].map(leastUuidAt)
    return findUserOfEnded(db, { id, fromId: fromId ?? '', toId: toId ?? '' })
  },

  exportAll: (query: AuditQuery, onPage: (rows: AuditRow[]) => Promise<void>): Promise<number> =>
    db.inSnapshot(async (snapshot) => {
      const filter = filterOf(query)
      let exported = 0
      for (let after = ''; ; ) {
        const rows = await findEventsAfter(snapshot, filter, after, EXPORTED_AT_ONCE)
        if (rows.length > 0) await onPage(rows)
        exported += rows.length
        if (rows.length < EXPORTED_AT_ONCE) return exported
        after = rows.at(-1)?.id ?? after
      }
    }),
})

/** Takes as many rows as a list has places. Those that strangers can cause fill few, or the places that are left. */
const withRoomForOwn = (rows: readonly AuditRow[], limit: number): AuditRow[] => {
  const counted = rows.filter(({ type }) => COUNTED.includes(type))
  const places = Math.max(Math.floor(limit / PLACES_FOR_EACH_COUNTED), limit - (rows.length - counted.length))
  const left = new Set(counted.slice(places))
  return rows.filter((row) => !left.has(row)).slice(0, limit)
}

const find = async (db: Database, filter: AuditFilter, before: string, limit: number) =>
  needsScan(filter)
    ? scanEventsBefore(db, filter, before, { limit, scanned: SCANNED_ROWS })
    : { rows: await findEventsBefore(db, filter, before, limit), last: undefined }
