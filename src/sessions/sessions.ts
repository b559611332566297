import { type Awaitable, after } from '../lib/awaitable.ts'
import type { Caller } from '../lib/caller.ts'
import type { RootSecret } from '../lib/derived-keys.ts'
import { createAuthenticate } from './authenticate.ts'
import type { AuthenticatedSession, Session } from './session.ts'
import { createCachedSessions } from './session-store.ts'
import { createEnding, type EndingSession, type OwnEnd } from './ending.ts'
import type { SessionDeps } from './session-deps.ts'
import { currentTimeMs, isUsable } from './lifetime.ts'
import {
  type AuthenticationRules,
  createRecentAuthentication,
  type RecentAuthentication,
} from './recent-authentication.ts'
import { createSessionRefresh, type IdentifiedSession, type RefreshResult } from './refresh.ts'
import { createReplacement } from './replacement.ts'
import type { SessionRules, SignInGrant } from './sign-in-grant.ts'
import { createStart, type SessionCaller, type StartOptions } from './start.ts'
import { createExpiry } from './expiry.ts'
import { createRemoveSessions } from './removal.ts'
import { createIssueTokens, type Tokens } from './issue-tokens.ts'
import { createRefreshTokens } from './tokens/refresh-token.ts'
import { countSessionsOfUser, findSessionsOfUser } from './user-sessions-store.ts'

export type { SecretStatus } from './keys/secret-rotation.ts'
export type { KeySummary } from './keys/signing-keys.ts'
export { currentTimeMs, type Device } from './lifetime.ts'
export type { IdentifiedSession, RefreshResult } from './refresh.ts'
export type { AuthenticatedSession, Session } from './session.ts'
export type { SignInGrant } from './sign-in-grant.ts'
export type { StartOptions } from './start.ts'
export type { Tokens } from './issue-tokens.ts'

/** A session says that a user is signed in, with one browser. */
export interface Sessions extends RecentAuthentication {
  // These run the life of a session.
  /**
   * Starts a session. It resolves to undefined when the grant is no longer valid, its user was deleted, or `mayStart`
   * says no.
   */
  start(grant: SignInGrant, caller: SessionCaller, options: StartOptions): Promise<Tokens | undefined>
  /**
   * Finds the session of an access token, by the rows as they are now; it gives undefined when either is not good. It
   * returns no promise if the row is in memory.
   */
  authenticate(accessToken: string): Awaitable<AuthenticatedSession | undefined>
  /** Trades a refresh token for new tokens. One that comes again past its grace ends the session (RFC 9700 4.14.2). */
  refresh(refreshToken: string, caller: SessionCaller, audience?: string): Promise<RefreshResult>
  /** Finds the session of a refresh token, without using the token. */
  identify(refreshToken: string): Promise<IdentifiedSession | undefined>

  /** Finds a live session of any user, by the row as it is now. It returns no promise if the row is in memory. */
  find(id: string): Awaitable<Session | undefined>

  // These list the sessions of a user, and end them.
  /** Lists live sessions of a user: the current one, then those last seen, `limit` at most; and counts them all. */
  list(userId: string, limit: number, current?: CurrentSession): Promise<SessionList>
  /** Ends the session of a request. */
  end(session: EndingSession, why: 'logout' | 'session.refreshed_reuse', caller: Caller): Promise<void>
  /** Ends a session, of any user. */
  endAny(id: string, caller: Caller): Promise<void>
  /** Throws `not_found` when the user has no such session, and `unauthorized` when that of the request has ended. */
  endOwn(userId: string, id: string, end?: OwnEnd): Promise<void>
  /** Ends all sessions of a user but that of the request; it throws `unauthorized` when that one has ended. */
  endOthers(userId: string, ownId: string, caller: Caller): Promise<number>
  endAll(userId: string, caller?: Caller): Promise<number>
  /** Ends the sessions of all users, a batch at a time; one that starts during the call may stay. */
  endEverySession(): Promise<number>
  /** Ends the session that has just replaced the one of this refresh token, in the same browser. */
  endSuccessor(refreshToken: string, caller: Caller): Promise<AuthenticatedSession[]>

  /** Ends the sessions that have expired, for cleanup; it resolves to how many. */
  endExpired(nowMs: number): Promise<number>
  /** Other subjects call these in their transactions. */
  rules: SessionRules
  /** Deletes records of replaced sessions that are past the grace, for cleanup. It resolves to how many. */
  deleteReplaced(nowMs: number): Promise<number>
}

type CurrentSession = Pick<AuthenticatedSession, 'sessionId' | 'readAtMs'>

interface SessionList {
  sessions: Session[]
  /** It counts all live sessions, those beyond the limit included. */
  count: number
}

interface SessionsDeps
  extends AuthenticationRules,
    Omit<SessionDeps, 'cachedSessions' | 'issueTokens' | 'refreshTokens' | keyof RecentAuthentication> {
  rootSecret: RootSecret
  /** It tells whether the names of users are shown (`SVC_NAMES`). */
  names: boolean
}

const NO_SESSION: CurrentSession = { sessionId: '', readAtMs: undefined }

export const createSessions = (deps: SessionsDeps): Sessions => {
  const { db, clock, lifetimes } = deps
  const shortestLifetimeMs = Math.min(lifetimes.idleMs, lifetimes.sessionMs)
  const refreshTokens = createRefreshTokens({ ...deps, purpose: 'refresh tokens' })
  const issueTokens = createIssueTokens({ ...deps, refreshTokens })
  const cachedSessions = createCachedSessions(db, deps.names)
  const recentAuthentication = createRecentAuthentication(deps)
  const shared = { ...deps, ...recentAuthentication, cachedSessions, refreshTokens, issueTokens }
  const removeSessions = createRemoveSessions(shared)
  const { replaceSession, findSuccessor, deleteReplaced } = createReplacement({ ...shared, removeSessions })
  const ending = createEnding({ ...shared, removeSessions })

  return {
    start: createStart({ ...shared, removeSessions, replaceSession }),
    authenticate: createAuthenticate(shared),
    ...createSessionRefresh({ ...shared, endSession: ending.end, findSuccessor }),
    ...ending,
    ...recentAuthentication,
    deleteReplaced,
    endExpired: createExpiry({ db, shortestLifetimeMs, removeSessions }),

    find: (id) =>
      after(cachedSessions.get(id), (row) => (row && isUsable(row.session, clock) ? row.session : undefined)),

    async list(userId, limit, { sessionId: firstId, readAtMs } = NO_SESSION) {
      const nowMs = currentTimeMs({ readAtMs }, clock)
      const sessions = await findSessionsOfUser(db, { userId, firstId, nowMs, limit })
      const isAll = sessions.length < limit
      return { sessions, count: isAll ? sessions.length : await countSessionsOfUser(db, userId, nowMs) }
    },
  }
}
