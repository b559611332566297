import type { Database } from '../../storage/database.ts'
import { monotonicClock } from '../../lib/time.ts'
import { findIdAfter, findNewestIds, type UserFilter } from '../user-list-store.ts'

/** Which of the newest users to list. */
export interface NewestRequest extends Omit<UserFilter, 'search'> {
  /** The id with which an earlier page ended. */
  before?: string | undefined
  limit: number
}

/** A page of the newest users. It may hold fewer than were asked for, although there are more. */
export interface NewestPage {
  ids: string[]
  /** The next page begins there; undefined at the end. */
  nextBefore: string | undefined
}

/** Sorts after all ids, which are hexadecimal. */
const AFTER_ALL = 'g'

/** One statement reads no further, so that other requests do not wait long. */
const SLICE = 5000

/** A page ends as it is after this time, however few users the filters leave. */
const LONGEST_MS = 25

/** Lists users, those with the greatest ids first: these are the newest, unless an import brought ids of its own. */
export const listNewest = async (db: Database, { before, limit, ...filter }: NewestRequest): Promise<NewestPage> => {
  const ids: string[] = []
  const startedMs = monotonicClock.elapsedMs()
  for (let upTo = before ?? AFTER_ALL; ; ) {
    const from = await endOfSlice(db, filter, upTo)
    // One more tells whether there is another page.
    ids.push(...(await findNewestIds(db, filter, { before: upTo, from: from ?? '', limit: limit - ids.length + 1 })))
    if (ids.length > limit) return { ids: ids.slice(0, limit), nextBefore: ids[limit - 1] }
    if (from === undefined) return { ids, nextBefore: undefined }
    if (monotonicClock.elapsedMs() - startedMs > LONGEST_MS) return { ids, nextBefore: from }
    upTo = from
  }
}

/** Without a filter, no user is looked at in vain. */
const endOfSlice = async (db: Database, filter: UserFilter, before: string): Promise<string | undefined> => {
  const isAll = Object.values(filter).every((value) => value === undefined)
  return isAll ? undefined : findIdAfter(db, filter, { before, count: SLICE })
}
