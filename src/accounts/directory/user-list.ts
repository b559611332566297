import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { AppError } from '../../lib/errors.ts'
import type { Database } from '../../storage/database.ts'
import {
  assignPositions,
  countSince,
  findLastPosition,
  findNamedUsers,
  findPlaces,
  findPositionOf,
  type UserFilter,
  type UserPlace,
  type UserQuery,
} from '../user-list-store.ts'
import { isIndexed } from '../user-search-store.ts'
import { openIndex, type Range, type TextIndex } from './user-index.ts'

export interface PageRequest extends UserQuery {
  /** A page has 1 to 1000 users. */
  limit: number
  /** An earlier page of the same list gave it; undefined means the first page. */
  cursor?: string | undefined
  /** `true`: in the other direction, from the users whom svc got to know last. */
  newestFirst?: true | undefined
}

/** A page of a list. It may hold fewer users than were asked for, although there are more pages. */
export interface IdPage {
  ids: string[]
  /** Undefined at the end. */
  nextCursor: string | undefined
}

/** A statement is to take so long, so that other requests do not wait: SQLite does nothing else in the meantime. */
const STEP_MS = { sqlite: 4, postgres: 25 }

/** The first statement of a list looks at so many users; later ones at as many as fit into the time. */
const FIRST_STEP = { sqlite: 1000, postgres: 10_000 }

/** A page ends as it is after so long, however few users a query leaves; but a busy machine gets so many steps. */
const LONGEST_MS = 1000
const LEAST_STEPS = 5

/** One transaction gives so many users a position. */
const ASSIGNED_AT_ONCE = 1000

/** Up to this many users since a time are found by that time, and sorted. */
const FEW = 10_000

/** Tests read in other steps. */
interface Pace {
  longestMs?: number
  leastSteps?: number
  firstStep?: number
}

/** Lists users in the order in which svc got to know them: a user who is added later is on a later page. */
export const listUserIds = async (
  db: Database,
  request: PageRequest,
  { longestMs = LONGEST_MS, leastSteps = LEAST_STEPS, firstStep = FIRST_STEP[db.dialect] }: Pace = {},
): Promise<IdPage> => {
  const { limit, cursor, newestFirst = false, ...query } = request
  const isNamed = [query.ids, query.emailLower, query.username].some((value) => value !== undefined)
  if (isNamed && cursor === undefined && !newestFirst) {
    const ids = await findNamedUsers(db, query, limit + 1)
    if (ids.length <= limit) return { ids, nextCursor: undefined }
  }
  const from = cursor === undefined ? undefined : requirePosition(cursor, request)
  const isSelective = isNamed || (await areFew(db, query))
  const endsAtMs = performance.now() + longestMs
  const walk = { db, query, limit, newestFirst, from, isSelective, endsAtMs, leastSteps, firstStep }
  const { places, next } = await readPage(walk)
  if (places.length === 0 && next !== undefined && from === undefined && query.search !== undefined) throw tooBroad()
  return { ids: places.map(({ id }) => id), nextCursor: next === undefined ? undefined : toCursor(next, request) }
}

/** A list that is empty would be taken for one that has ended. */
const tooBroad = (): AppError =>
  new AppError(
    'unprocessable',
    'No user was found in the time that a search may take. Be more exact: give more letters, or the whole email or username as "email" or "username".',
    { field: 'search', reason: 'search_too_broad' },
  )

/** Gives a position to every user who has none, such as those of an import: a list would stop at each thousand of them. */
export const assignAllPositions = async (db: Database): Promise<void> => {
  for (let last = await findLastPosition(db); ; ) {
    const next = await assignPositions(db, ASSIGNED_AT_ONCE)
    if (next === last) return
    last = next
    await setImmediate()
  }
}

const ALL_AT_ONCE = 500

/** Lists the users after one, for as long as it takes. */
export async function* eachUserId(db: Database, filter: UserFilter, after: string): AsyncGenerator<string[]> {
  await assignAllPositions(db)
  const request = { ...filter, limit: ALL_AT_ONCE }
  let cursor: string | undefined = toCursor(after === '' ? 0 : await findPositionOf(db, after), request)
  while (cursor !== undefined) {
    const { ids, nextCursor }: IdPage = await listUserIds(db, { ...request, cursor })
    yield ids
    cursor = nextCursor
  }
}

interface Walk {
  db: Database
  query: UserQuery
  limit: number
  newestFirst: boolean
  /** The position before which, or after which, the list begins. */
  from: number | undefined
  isSelective: boolean
  endsAtMs: number
  leastSteps: number
  firstStep: number
}

/** `next` is the position from which the list goes on; undefined at its end. */
interface Page {
  places: UserPlace[]
  next: number | undefined
}

const readPage = async (walk: Walk): Promise<Page> => {
  const { db, query, limit, newestFirst, endsAtMs } = walk
  const index = isIndexed(query) && !walk.isSelective ? await openIndex(db, query) : undefined
  const read = createReader(walk, index)
  const places: UserPlace[] = []
  let size = walk.firstStep
  let last = newestFirst ? await assignUntil(walk) : await findLastPosition(db)
  let from = walk.from ?? (newestFirst ? last + 1 : 0)
  for (let steps = 1; ; steps += 1) {
    const whole = nextRange(newestFirst, from, last, last)
    const range = walk.isSelective ? whole : nextRange(newestFirst, from, last, size)
    const begunMs = performance.now()
    // One more tells whether there is another page.
    const found = await read(range, whole, limit - places.length + 1)
    places.push(...found.places)
    if (places.length > limit) return { places: places.slice(0, limit), next: places[limit - 1]?.position }
    from = newestFirst ? found.after + 1 : Math.max(from, found.upTo)
    if (newestFirst && from <= 1) return { places, next: undefined }
    if (!newestFirst && from >= last) {
      last = await assignPositions(db, ASSIGNED_AT_ONCE)
      if (last <= from) return { places, next: undefined }
    }
    const nowMs = performance.now()
    if (nowMs > endsAtMs && steps >= walk.leastSteps) return { places, next: from }
    size = nextSize(size, nowMs - begunMs, STEP_MS[db.dialect])
    await setImmediate()
  }
}

/** The newest users have no position yet. */
const assignUntil = async ({ db, endsAtMs }: Walk): Promise<number> => {
  for (let last = await findLastPosition(db); ; ) {
    const next = await assignPositions(db, ASSIGNED_AT_ONCE)
    if (next === last || performance.now() > endsAtMs) return next
    last = next
    await setImmediate()
  }
}

const nextRange = (newestFirst: boolean, from: number, last: number, size: number): Range =>
  newestFirst
    ? { after: Math.max(0, from - 1 - size), upTo: from - 1 }
    : { after: from, upTo: Math.min(from + size, last) }

/** A step that was quick is followed by a longer one, up to four times as long. */
const nextSize = (size: number, tookMs: number, goalMs: number): number =>
  Math.ceil(size * Math.min(4, Math.max(0.25, goalMs / tookMs)))

/** Reads a range by the index as far as that goes. The range that it resolves to is what was read of it, or more. */
const createReader =
  (walk: Walk, index: TextIndex | undefined) =>
  async (range: Range, whole: Range, limit: number): Promise<Range & { places: UserPlace[] }> => {
    const { db, query, newestFirst, isSelective, endsAtMs } = walk
    if (range.after >= range.upTo) return { ...range, places: [] }
    const byIndex = await index?.find({ range, whole, limit, newestFirst, endsAtMs })
    if (byIndex) return byIndex
    const rest = index === undefined ? range : index.restOf(range, newestFirst)
    return { ...rest, places: await findPlaces(db, query, { ...rest, limit, newestFirst, isSelective }) }
  }

const areFew = async (db: Database, { updatedSinceMs, createdSinceMs }: UserQuery): Promise<boolean> => {
  const times = [
    ['updated_at', updatedSinceMs],
    ['created_at', createdSinceMs],
  ] as const
  for (const [column, sinceMs] of times)
    if (sinceMs !== undefined && (await countSince(db, column, sinceMs, FEW + 1)) <= FEW) return true
  return false
}

const requirePosition = (cursor: string, request: PageRequest): number => {
  const position = readCursor(cursor, request)
  if (position !== undefined) return position
  const message = 'The cursor must be the next_cursor of an earlier page, asked for with the same parameters.'
  throw new AppError('invalid_request', message, { field: 'cursor' })
}

/** A cursor holds this for its list, so that it is of no use with another one. */
const hashOf = (request: PageRequest): string => {
  const ids = request.ids && [...new Set(request.ids)].sort()
  const given = Object.entries({ ...request, ids, limit: undefined, cursor: undefined }).filter(
    ([, value]) => value !== undefined,
  )
  const inOrder = given.toSorted(([one], [other]) => (one < other ? -1 : 1))
  return createHash('sha256').update(JSON.stringify(inOrder)).digest('base64url').slice(0, 16)
}

/** A list goes on from this position. */
const toCursor = (position: number, request: PageRequest): string =>
  Buffer.from(`${position} ${hashOf(request)}`).toString('base64url')

/** Reads the position from which a list goes on; undefined when the cursor is of another list, or of none. */
const readCursor = (cursor: string, request: PageRequest): number | undefined => {
  const position = Number(/^\d{1,15}/.exec(Buffer.from(cursor, 'base64url').toString())?.[0])
  return cursor === toCursor(position, request) ? position : undefined
}
