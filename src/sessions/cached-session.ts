import type { CachedRow, Database } from '../storage/database.ts'
import { type SignedIn, toSignedIn } from './authenticated-session.ts'
import { cacheSessions, type SessionOfUser } from './session-store.ts'

/** What is remembered of a session: its row, and what is made of it for every request. */
export interface Known {
  session: SessionOfUser
  signedIn: SignedIn
}

export const toKnown = (session: SessionOfUser): Known => ({ session, signedIn: toSignedIn(session) })

export type KnownSessions = CachedRow<Known>

export const cacheKnownSessions = (db: Database): KnownSessions => cacheSessions(db, toKnown)
