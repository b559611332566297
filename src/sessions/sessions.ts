import { randomUUIDv7 } from 'node:crypto'
import type { RootSecret } from '../lib/derived-keys.ts'
import { AppError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { Clock } from '../lib/time.ts'
import type { Database, Transaction } from '../storage/database.ts'
import type { AccessTokens, CheckedToken } from './access-token.ts'
import type { AuthenticatedSession } from './authenticated-session.ts'
import { createCachedSessions } from './cached-session.ts'
import { createIssue, type Tokens } from './issue-tokens.ts'
import {
  type Authenticated,
  beginSession,
  byServerTime,
  currentTimeMs,
  type Device,
  isFresh,
  type Lifetimes,
} from './lifetime.ts'
import { createRefresh } from './refresh.ts'
import { createRefreshTokens } from './refresh-token.ts'
import { createReplacement } from './replacement.ts'
import { endEverySession } from './revocation.ts'
import { createSessionLimit } from './session-limit.ts'
import {
  countSessions,
  deleteSession,
  deleteSessionOfUser,
  deleteSessionsOfUser,
  findSession,
  findSessionIdsOfUser,
  findSessionsOfUser,
  insertSession,
  lockSession,
  lockUserOfSession,
  type Session,
} from './session-store.ts'
import type { SignInGrant } from './sign-in-grant.ts'
import type { SigningKeys } from './signing-keys.ts'

export type { AuthenticatedSession } from './authenticated-session.ts'
export type { Tokens } from './issue-tokens.ts'
export { currentTimeMs, type Device } from './lifetime.ts'
export type { RefreshResult } from './refresh.ts'
export type { Session } from './session-store.ts'
export type { SignInGrant } from './sign-in-grant.ts'

interface SessionsDeps {
  db: Database
  log: Log
  clock: Clock
  keys: SigningKeys
  accessTokens: AccessTokens
  rootSecret: RootSecret
  lifetimes: Lifetimes
  defaultAudience: string
}

export interface StartOptions {
  /** Sessions that end as this one begins: those that the browser had before. */
  replaces?: string[] | undefined
  /** More to be done in the transaction of the start. */
  also?: ((transaction: Transaction) => Promise<unknown>) | undefined
}

/** The session that asks for the list of its user's. */
type Current = Pick<AuthenticatedSession, 'sessionId' | 'readAtMs'>

const NO_SESSION: Current = { sessionId: '', readAtMs: undefined }

/** Sessions: that somebody is here, on this browser. */
export const createSessions = (deps: SessionsDeps) => {
  const { db, clock, keys, accessTokens, lifetimes, defaultAudience } = deps
  const refreshTokens = createRefreshTokens(deps.rootSecret)
  const issue = createIssue({ ...deps, refreshTokens })
  const known = createCachedSessions(db)
  const { replaceIn, findSuccessor, deleteReplaced } = createReplacement({ ...deps, refreshTokens, known })
  const endTooMany = createSessionLimit({ ...deps, known })

  const end = async (id: string): Promise<void> => {
    await deleteSession(
      db.single(() => known.forget(id)),
      id,
    )
  }

  /** Forgets what is cached of a user's sessions, and of no other; before they are deleted, as long as they can be found. */
  const forgetUserIn = async (transaction: Transaction, userId: string): Promise<void> => {
    const ids = await findSessionIdsOfUser(transaction, userId)
    transaction.afterCommit(() => ids.forEach(known.forget))
  }

  const endAllIn = async (transaction: Transaction, userId: string, exceptId?: string): Promise<number> => {
    await forgetUserIn(transaction, userId)
    return deleteSessionsOfUser(transaction, userId, exceptId)
  }

  return {
    /** Starts a session; undefined when the grant is no longer valid, or its user was deleted. */
    async start(
      { userId, authenticatedAtMs, isStillValid }: SignInGrant,
      device: Device,
      { replaces = [], also }: StartOptions = {},
    ): Promise<Tokens | undefined> {
      const id = randomUUIDv7()
      const session = await db.inTransaction(async (transaction) => {
        const user = await lockUserOfSession(transaction, userId)
        if (!user || !(await isStillValid(transaction))) return undefined
        await also?.(transaction)
        const nowMs = currentTimeMs(user, clock)
        const provenAtMs = authenticatedAtMs && byServerTime(authenticatedAtMs, user, clock)
        const beginning = { id, userId, device, nowMs, authenticatedAtMs: provenAtMs }
        await insertSession(transaction, beginSession(beginning, lifetimes))
        await replaceIn(transaction, replaces, id, nowMs)
        await endTooMany(transaction, { id, userId, nowMs })
        return findSession(transaction, id)
      })
      return session && issue(session, defaultAudience)
    },

    /** Who an access token stands for, by the rows as they are now; undefined when it stands for nobody. */
    async authenticate(accessToken: string): Promise<AuthenticatedSession | undefined> {
      let ring = keys.held()
      let token = accessTokens.read(accessToken, ring)
      if (token === 'unknown key') {
        // It may have begun to sign elsewhere a moment ago.
        ring = await keys.reload()
        token = accessTokens.read(accessToken, ring)
      }
      if (!isGood(token)) return undefined
      const { session, signedIn } = (await known.get(token.sessionId)) ?? {}
      if (!session || session.userId !== token.userId || session.user.disabled) return undefined
      // The row tells of a change of the keys: the key that signed this token may have been revoked by it. What counts are
      // the keys that the token was read with, since another request may have read the latest ones meanwhile.
      const isCurrent = ring.newestId === session.newestKeyId
      if (!isCurrent && !isGood(accessTokens.read(accessToken, await keys.latest(session.newestKeyId))))
        return undefined
      const nowMs = currentTimeMs(session, clock)
      return session.expiresAtMs > nowMs && token.expiresAtMs > nowMs ? signedIn : undefined
    },

    ...createRefresh({ ...deps, refreshTokens, known, issue, end, findSuccessor }),

    deleteReplaced,

    end,

    /** `not_found` when the user has no such session. */
    async endOwn(userId: string, id: string, ownId?: string): Promise<void> {
      await db.inTransaction(async (transaction) => {
        if (ownId !== undefined) await requireIn(transaction, ownId, userId)
        const changes = await deleteSessionOfUser(transaction, id, userId)
        if (changes === 0) throw new AppError('not_found', 'This session has ended already.', { field: 'session_id' })
        transaction.afterCommit(() => known.forget(id))
      })
    },

    /** Within a transaction: all sessions of a user, or all but one. */
    endAllIn,

    endAll: (userId: string): Promise<number> => db.inTransaction((transaction) => endAllIn(transaction, userId)),

    /** Of all users; resolves to how many ended. */
    endEverySession: (): Promise<number> => endEverySession(db, known),

    /** All but the session of who asks; `unauthorized` when it has ended. */
    endOthers: (userId: string, ownId: string): Promise<number> =>
      db.inTransaction(async (transaction) => {
        await requireIn(transaction, ownId, userId)
        return endAllIn(transaction, userId, ownId)
      }),

    requireIn,

    /** The same, and `forbidden` when the session is not fresh. */
    async requireFreshIn(transaction: Transaction, id: string, userId: string): Promise<void> {
      requireFresh(await requireIn(transaction, id, userId), clock)
    },

    /** `forbidden` for who has not just proved who he is; what changes how he signs in asks for it (OWASP ASVS 5, 7.5.1). */
    requireFresh: (signedIn: AuthenticatedSession): void => requireFresh(signedIn, clock),

    isFresh: (signedIn: AuthenticatedSession): boolean => isFresh(signedIn, clock),

    /** To be called in the transaction that changes a user's row, and before the row is deleted. */
    userChanged: forgetUserIn,

    /** So many sessions at most, the current one and then those last seen, and how many there are. */
    async list(
      userId: string,
      limit: number,
      { sessionId: firstId, readAtMs }: Current = NO_SESSION,
    ): Promise<{ sessions: Session[]; count: number }> {
      const nowMs = currentTimeMs({ readAtMs }, clock)
      const sessions = await findSessionsOfUser(db, { userId, firstId, nowMs, limit })
      return { sessions, count: sessions.length < limit ? sessions.length : await countSessions(db, userId, nowMs) }
    },
  }
}

export type Sessions = ReturnType<typeof createSessions>

/** To be called first in a transaction: `unauthorized` when the session has ended; else it lasts until the end. */
const requireIn = async (transaction: Transaction, id: string, userId: string) => {
  const session = await lockSession(transaction, id, userId)
  if (session) return session
  throw new AppError('unauthorized', 'You were logged out meanwhile, and nothing was changed. Log in again.', {
    reason: 'logged_out',
  })
}

const requireFresh = (session: Authenticated, clock: Clock): void => {
  if (isFresh(session, clock)) return
  throw new AppError('forbidden', 'Sign in again first, to confirm that it is you.', { reason: 'confirm_first' })
}

const isGood = (token: ReturnType<AccessTokens['read']>): token is CheckedToken =>
  token !== undefined && token !== 'unknown key'
