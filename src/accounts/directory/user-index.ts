import { AppError } from '../../lib/errors.ts'
import { sleep } from '../../lib/time.ts'
import type { Database } from '../../storage/database.ts'
import {
  assignPositions,
  findLastPosition,
  hasMoreUsersThan,
  type UserPlace,
  type UserQuery,
} from '../user-list-store.ts'
import {
  beginIndex,
  createTextIndex,
  dropTextIndex,
  findIndexedUpTo,
  findPlacesInPostgres,
  findPlacesInSqlite,
  findTextIndex,
  hasTrigrams,
  indexUsers,
  mergeIndex,
  resetIndex,
} from '../user-search-store.ts'

/** Positions above `after`, up to `upTo`. */
export interface Range {
  after: number
  upTo: number
}

interface Asked {
  /** What the list reads next, and all that is left of it. */
  range: Range
  whole: Range
  limit: number
  newestFirst: boolean
  endsAtMs: number
}

/** An index of the texts of users. Places that it finds come with the range in which there are no others. */
export interface TextIndex {
  /** Resolves to undefined where the rows have to be read. */
  find(asked: Asked): Promise<(Range & { places: UserPlace[] }) | undefined>
  /** The part of a range, from where the list begins, whose rows have to be read then. */
  restOf(range: Range, newestFirst: boolean): Range
}

/** So many users are looked through in no time. */
const FEW = 5000

/** Finds the index for a query; on SQLite, the first search among many users asks for one. */
export const openIndex = async (db: Database, query: UserQuery): Promise<TextIndex | undefined> => {
  if (db.dialect === 'postgres') return (await findTextIndex(db)) ? indexOfPostgres(db, query) : undefined
  const upTo = await findIndexedUpTo(db)
  if (upTo !== undefined) return indexOfSqlite(db, query, upTo)
  if ((await findLastPosition(db)) > FEW) await beginIndex(db)
  return undefined
}

/** `needed`: there are more users than are looked through in no time. */
export interface IndexState {
  has: 'all users' | 'a part' | 'nobody'
  needed: boolean
}

/** Tells how far the index is. */
const findIndexState = async (db: Database): Promise<IndexState> => {
  const needed = await hasMoreUsersThan(db, FEW)
  if (db.dialect === 'postgres') return { has: (await findTextIndex(db)) ? 'all users' : 'nobody', needed }
  const upTo = await findIndexedUpTo(db)
  if (upTo === undefined) return { has: 'nobody', needed }
  return { has: upTo < (await findLastPosition(db)) ? 'a part' : 'all users', needed }
}

/** It has the users up to a position. */
const indexOfSqlite = (db: Database, query: UserQuery, indexedUpTo: number): TextIndex => ({
  async find({ range, limit, newestFirst }) {
    const isBeyond = newestFirst ? range.upTo > indexedUpTo : range.after >= indexedUpTo
    if (isBeyond) return undefined
    const part = { ...range, upTo: Math.min(range.upTo, indexedUpTo) }
    return { ...part, places: await findPlacesInSqlite(db, query, { ...part, limit, newestFirst }) }
  },
  restOf: (range, newestFirst) => (newestFirst ? { ...range, after: Math.max(range.after, indexedUpTo) } : range),
})

/** The search by an index may take this share of the time that is left. */
const SHARE = 0.5

/**
 * The index finds all users with a text before any can be returned. A text that many users have is therefore found in
 * the first rows, and one that takes too long is looked for in them.
 */
const indexOfPostgres = (db: Database, query: UserQuery): TextIndex => {
  let reads: 'some rows' | 'the index' | 'rows' = 'some rows'
  return {
    async find({ whole, limit, newestFirst, endsAtMs }) {
      const isTurn = reads === 'the index'
      reads = reads === 'some rows' ? 'the index' : 'rows'
      const timeoutMs = (endsAtMs - performance.now()) * SHARE
      if (!isTurn || timeoutMs < 1) return undefined
      const places = await findPlacesInPostgres(db, query, { ...whole, limit, newestFirst, timeoutMs })
      return places && { ...whole, places }
    },
    restOf: (range) => range,
  }
}

/** About four milliseconds of work, in which SQLite does nothing else. */
const AT_ONCE = { assigned: 100, indexed: 100, merged: 16 }

/** Work is followed by a pause of this many times its length. */
const PAUSE = 2

type OnProgress = (indexed: number, total: number) => void

/** The index of a search among many users, which svc makes and fills beside its other work. */
export interface UserIndex {
  state(): Promise<IndexState>
  /** Adds the users who have come, where there is an index on SQLite. */
  keepUp(isStopping?: () => boolean, onProgress?: OnProgress): Promise<void>
  /**
   * Makes an index, and resolves to whether there was none to keep. `conflict` on PostgreSQL without its extension.
   * `rebuild` makes one in place of one that is there.
   */
  make(options: { rebuild: boolean; onProgress?: OnProgress }): Promise<boolean>
}

export const createUserIndex = ({ db }: { db: Database }): UserIndex => {
  const keepUp: UserIndex['keepUp'] = async (isStopping = () => false, onProgress = () => {}) => {
    if (db.dialect !== 'sqlite' || (await findIndexedUpTo(db)) === undefined) return
    let last = await findLastPosition(db)
    const isMoving = (next: number): boolean => next !== last && ((last = next), true)
    await paced(isStopping, async () => isMoving(await assignPositions(db, AT_ONCE.assigned)))
    const total = last
    last = (await findIndexedUpTo(db)) ?? 0
    await paced(isStopping, async () => {
      const upTo = await indexUsers(db, AT_ONCE.indexed)
      onProgress(upTo, total)
      await paced(isStopping, () => mergeIndex(db, AT_ONCE.merged))
      return isMoving(upTo)
    })
  }

  return {
    state: () => findIndexState(db),
    keepUp,
    async make({ rebuild, onProgress }) {
      if (db.dialect === 'postgres') return makeInPostgres(db, rebuild)
      const isNew = (await beginIndex(db)) > 0
      if (rebuild) await resetIndex(db)
      await keepUp(undefined, onProgress)
      return isNew || rebuild
    },
  }
}

/** Repeats a step, with pauses, for as long as there is more to do. */
const paced = async (isStopping: () => boolean, step: () => Promise<boolean>): Promise<void> => {
  while (!isStopping()) {
    const begunMs = performance.now()
    if (!(await step())) return
    await sleep((performance.now() - begunMs) * PAUSE)
  }
}

const makeInPostgres = async (db: Database, rebuild: boolean): Promise<boolean> => {
  if (!(await hasTrigrams(db))) {
    const how = 'let a superuser, or the owner of the database, run CREATE EXTENSION pg_trgm in it'
    throw new AppError('conflict', `The database lacks the extension pg_trgm: ${how}.`)
  }
  const isValid = await findTextIndex(db)
  if (isValid && !rebuild) return false
  // An index that an interrupted command has left is maintained, and used by nothing.
  if (isValid !== undefined) await dropTextIndex(db)
  await createTextIndex(db)
  return true
}
