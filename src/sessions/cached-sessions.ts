import type { CachedRow, Database } from '../storage/database.ts'
import { type CachedSession, toCachedSession } from './session.ts'
import { cacheSessions } from './session-store.ts'

/** Sessions by id, as they are in the database at this moment; from memory where nothing has changed. */
export type CachedSessions = CachedRow<CachedSession>

export const createCachedSessions = (db: Database): CachedSessions => cacheSessions(db, toCachedSession)
