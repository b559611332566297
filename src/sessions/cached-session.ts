import type { CachedRow, Database } from '../storage/database.ts'
import { type AuthenticatedSession, toAuthenticatedSession } from './authenticated-session.ts'
import { cacheSessions, type SessionOfUser } from './session-store.ts'

/** What is remembered of a session: its row, and what is made of it for every request. */
export interface CachedSession {
  session: SessionOfUser
  signedIn: AuthenticatedSession
}

export const toCachedSession = (session: SessionOfUser): CachedSession => ({
  session,
  signedIn: toAuthenticatedSession(session),
})

export type CachedSessions = CachedRow<CachedSession>

export const createCachedSessions = (db: Database): CachedSessions => cacheSessions(db, toCachedSession)
