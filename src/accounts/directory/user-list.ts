import { setImmediate } from 'node:timers/promises'
import { AppError } from '../../lib/errors.ts'
import type { Database } from '../../storage/database.ts'
import { assignPositions, findLastPosition } from './position-store.ts'
import { countUpdatedSince, findNamedUsers, findPlaces } from './user-list-store.ts'
import { type PageRequest, readCursor, toCursor, type UserQuery } from './user-query.ts'

/** A page of a list. It may hold fewer users than were asked for, although there are more pages. */
export interface IdPage {
  ids: string[]
  /** Undefined at the end. */
  nextCursor: string | undefined
}

/** How far one statement reads, so that other requests do not wait long: about 40 ms on SQLite. */
const SLICE = 10_000

/** How many users one transaction gives a position. */
const ASSIGNED_AT_ONCE = 1000

/** After so many statements a page ends as it is: a request takes seconds at most, however few users a query leaves. */
const MAX_STEPS = 40

/** Up to this many updated users are found by the time of their update, and sorted. */
const FEW_UPDATED = 10_000

/** Users by the order in which svc got to know them: a user who is added later is on a later page. */
export const listUserIds = async (db: Database, { limit, cursor, ...query }: PageRequest): Promise<IdPage> => {
  const isNamed = [query.ids, query.emailLower, query.username].some((value) => value !== undefined)
  if (isNamed && cursor === undefined) {
    const ids = await findNamedUsers(db, query, limit + 1)
    if (ids.length <= limit) return { ids, nextCursor: undefined }
  }
  const after = cursor === undefined ? 0 : requirePosition(cursor, query)
  const isSelective = isNamed || (await areFewUpdated(db, query))
  return readPage(db, { query, limit, after, isSelective })
}

/** Gives a position to every user who has none, such as those of an import: a list would stop at each thousand of them. */
export const assignAllPositions = async (db: Database): Promise<void> => {
  for (let last = await findLastPosition(db); ; ) {
    const next = await assignPositions(db, ASSIGNED_AT_ONCE)
    if (next === last) return
    last = next
    await setImmediate()
  }
}

interface PageRead {
  query: UserQuery
  limit: number
  after: number
  isSelective: boolean
}

const readPage = async (db: Database, { query, limit, after, isSelective }: PageRead): Promise<IdPage> => {
  const ids: string[] = []
  let position = after
  let lastShown = after
  for (let steps = 1; ; steps += 1) {
    const last = await findLastPosition(db)
    const upTo = isSelective ? last : Math.min(position + SLICE, last)
    // One more tells whether there is another page.
    const range = { after: position, upTo, limit: limit - ids.length + 1, isSelective }
    for (const place of position < upTo ? await findPlaces(db, query, range) : []) {
      if (ids.length === limit) return { ids, nextCursor: toCursor(lastShown, query) }
      ids.push(place.id)
      lastShown = place.position
    }
    position = Math.max(position, upTo)
    if (position >= last && (await assignPositions(db, ASSIGNED_AT_ONCE)) <= position)
      return { ids, nextCursor: undefined }
    if (steps >= MAX_STEPS) return { ids, nextCursor: toCursor(position, query) }
    await setImmediate()
  }
}

const areFewUpdated = async (db: Database, { updatedSinceMs }: UserQuery): Promise<boolean> =>
  updatedSinceMs !== undefined && (await countUpdatedSince(db, updatedSinceMs, FEW_UPDATED + 1)) <= FEW_UPDATED

const requirePosition = (cursor: string, query: UserQuery): number => {
  const position = readCursor(cursor, query)
  if (position !== undefined) return position
  const message = 'The cursor must be the next_cursor of an earlier page, asked for with the same parameters.'
  throw new AppError('invalid_request', message, { field: 'cursor' })
}
