import { randomUUIDv7 } from 'node:crypto'
import { AppError } from '../lib/errors.ts'
import { deriveKey, randomToken } from '../lib/secrets.ts'
import { type Clock, toTimestamp } from '../lib/time.ts'
import type { Database, Queries, Transaction } from '../storage/database.ts'
import type { AccessTokens } from './access-token.ts'
import { createRefreshTokens, type RefreshClaim, readRefreshToken } from './refresh-token.ts'
import {
  cacheSessions,
  deleteSession,
  deleteSessionOfUser,
  deleteSessionsOfUser,
  findSession,
  findSessionsOfUser,
  insertSession,
  rotateSession,
  type Session,
  type SessionOfUser,
} from './session-store.ts'
import type { SigningKeys } from './signing-keys.ts'

export type { Session } from './session-store.ts'

interface Lifetimes {
  accessTokenMs: number
  sessionMs: number
  idleMs: number
  /** How long a refresh token that was just replaced stays good. */
  graceMs: number
}

interface Parts {
  db: Database
  clock: Clock
  keys: SigningKeys
  accessTokens: AccessTokens
  rootSecret: Uint8Array
  lifetimes: Lifetimes
  defaultAudience: string
}

/** From where somebody signs in, for his list of sessions. */
export interface Device {
  userAgent: string
  address: string
}

/** What a browser is given, with the seconds for which each is good. */
export interface Tokens {
  sessionId: string
  accessToken: string
  accessTokenSeconds: number
  refreshToken: string
  sessionSeconds: number
}

/** Who is signed in, in which session. */
export interface SignedIn {
  sessionId: string
  userId: string
  email: string
  username: string
  createdAtMs: number
  /** When the session ends if nothing happens. */
  expiresAtMs: number
  /** The user as JSON, ready to be sent (`GET /auth/api/v1/user`). */
  userJson: string
}

export type RefreshResult =
  | { outcome: 'rotated' | 'grace'; tokens: Tokens; signedIn: SignedIn }
  /** `reused`: a token past its grace came again; the session is dead, on disk. */
  | { outcome: 'unknown' | 'reused'; sessionId?: string; userId?: string }

// Rotations that are remembered within one grace window: more than any honest browser makes.
const MAX_REMEMBERED_ROTATIONS = 64
const MAX_USER_AGENT_LENGTH = 512

/** Sessions: that somebody is here, on this browser. */
export const createSessions = (parts: Parts) => {
  const { db, clock, keys, accessTokens, lifetimes } = parts
  const refreshTokens = createRefreshTokens(deriveKey(parts.rootSecret, 'refresh tokens'))
  const known = cacheSessions(db, toKnown)

  const issue = async (session: SessionOfUser, audience: string): Promise<Tokens> => {
    const nowMs = clock.now()
    const exp = Math.floor(Math.min(nowMs + lifetimes.accessTokenMs, session.expiresAtMs) / 1000)
    const claims = { sub: session.userId, aud: audience, sid: session.id, roles: session.user.roles, exp }
    return {
      sessionId: session.id,
      accessToken: accessTokens.issue(claims, await keys.current()),
      accessTokenSeconds: exp - Math.floor(nowMs / 1000),
      refreshToken: refreshTokens.make(session, session.generation),
      sessionSeconds: Math.max(0, Math.round((session.expiresAtMs - nowMs) / 1000)),
    }
  }

  /** The session of a genuine token, if it can still be refreshed. */
  const findClaimed = async (claim: RefreshClaim): Promise<SessionOfUser | undefined> => {
    const session = (await known.get(claim.sessionId, db.foreignChanges()))?.session
    if (!session || !refreshTokens.isGenuine(session, claim)) return undefined
    return session.expiresAtMs > clock.now() && !session.user.disabled ? session : undefined
  }

  const withNextToken = (session: SessionOfUser, device: Device): SessionOfUser => {
    const nowMs = clock.now()
    const recent = session.replacedAtMs.filter((timeMs) => timeMs + lifetimes.graceMs > nowMs)
    return {
      ...session,
      ...trimmed(device),
      generation: session.generation + 1,
      replacedAtMs: [...recent, nowMs].slice(-MAX_REMEMBERED_ROTATIONS),
      lastSeenAtMs: nowMs,
      expiresAtMs: Math.min(nowMs + lifetimes.idleMs, session.absoluteExpiresAtMs),
    }
  }

  /** Undefined when another request, here or elsewhere, was first. */
  const rotate = (session: SessionOfUser, device: Device): Promise<SessionOfUser | undefined> => {
    const next = withNextToken(session, device)
    return db.inTransaction(async (transaction) => {
      const isFirst = (await rotateSession(transaction, next)) === 1
      transaction.afterCommit(() => (isFirst ? known.replace(next.id, toKnown(next)) : known.forget(next.id)))
      return isFirst ? next : undefined
    })
  }

  /** Whether a replaced token is still within its grace. */
  const isInGrace = (session: Session, generation: number): boolean => {
    const replacedAtMs = session.replacedAtMs.at(generation - session.generation)
    return replacedAtMs !== undefined && clock.now() < replacedAtMs + lifetimes.graceMs
  }

  const end = (id: string): Promise<void> =>
    db.inTransaction(async (transaction) => {
      await deleteSession(transaction, id)
      transaction.afterCommit(() => known.forget(id))
    })

  const endAllIn = async (transaction: Transaction, userId: string, exceptId?: string): Promise<number> => {
    const changes = await deleteSessionsOfUser(transaction, userId, exceptId)
    transaction.afterCommit(() => known.forgetAll())
    return changes
  }

  return {
    /**
     * Starts a session for a user. `holds` is asked in the same transaction whether the reason to let him in still
     * stands; undefined when it does not.
     */
    async start(
      userId: string,
      device: Device,
      holds: (transaction: Queries) => Promise<boolean> = async () => true,
    ): Promise<Tokens | undefined> {
      const nowMs = clock.now()
      const id = randomUUIDv7()
      const session = await db.inTransaction(async (transaction) => {
        if (!(await holds(transaction))) return undefined
        await insertSession(transaction, { ...newSession(id, userId, nowMs, lifetimes), ...trimmed(device) })
        return findSession(transaction, id)
      })
      return session && issue(session, parts.defaultAudience)
    },

    /** Who an access token stands for, by the rows as they are now; undefined when it stands for nobody. */
    async authenticate(accessToken: string): Promise<SignedIn | undefined> {
      const asOf = db.foreignChanges()
      const token = accessTokens.read(accessToken, await keys.current(asOf))
      if (!token) return undefined
      const { session, signedIn } = (await known.get(token.sessionId, asOf)) ?? {}
      if (!session || session.userId !== token.userId || session.user.disabled) return undefined
      return session.expiresAtMs > clock.now() ? signedIn : undefined
    },

    /**
     * Trades a refresh token for a new pair. A token replaced within the grace is good for the session's current one;
     * one replaced earlier is theft and ends the session (RFC 9700 section 4.14.2).
     */
    async refresh(refreshToken: string, device: Device, audience = parts.defaultAudience): Promise<RefreshResult> {
      const claim = readRefreshToken(refreshToken)
      if (!claim) return { outcome: 'unknown' }
      for (;;) {
        const session = await findClaimed(claim)
        if (!session || claim.generation > session.generation) return { outcome: 'unknown' }
        if (claim.generation === session.generation) {
          const rotated = await rotate(session, device)
          if (rotated)
            return { outcome: 'rotated', tokens: await issue(rotated, audience), signedIn: toSignedIn(rotated) }
        } else if (isInGrace(session, claim.generation)) {
          // The winner's rotation may be on its way to the disk still; its token must not get out before it is there.
          await db.durable()
          return { outcome: 'grace', tokens: await issue(session, audience), signedIn: toSignedIn(session) }
        } else {
          await end(session.id)
          return { outcome: 'reused', sessionId: session.id, userId: session.userId }
        }
      }
    },

    /** The session of a refresh token that is good now, without refreshing it. */
    async identify(refreshToken: string): Promise<string | undefined> {
      const claim = readRefreshToken(refreshToken)
      return claim && (await findClaimed(claim))?.id
    },

    end,

    /** `not_found` when the user has no such session. */
    async endOwn(userId: string, id: string): Promise<void> {
      await db.inTransaction(async (transaction) => {
        const changes = await deleteSessionOfUser(transaction, id, userId)
        if (changes === 0) throw new AppError('not_found', 'This session has ended already.', { field: 'session_id' })
        transaction.afterCommit(() => known.forget(id))
      })
    },

    /** Within a transaction: all sessions of a user, or all but one. */
    endAllIn,

    endAll: (userId: string, exceptId?: string): Promise<number> =>
      db.inTransaction((transaction) => endAllIn(transaction, userId, exceptId)),

    /** To be called in the transaction that changes a user's row. */
    userChanged: (transaction: Transaction): void => transaction.afterCommit(() => known.forgetAll()),

    list: (userId: string): Promise<Session[]> => findSessionsOfUser(db, userId, clock.now()),
  }
}

export type Sessions = ReturnType<typeof createSessions>

const newSession = (id: string, userId: string, nowMs: number, lifetimes: Lifetimes): Session => ({
  id,
  userId,
  salt: randomToken(16),
  generation: 1,
  replacedAtMs: [],
  createdAtMs: nowMs,
  lastSeenAtMs: nowMs,
  expiresAtMs: nowMs + Math.min(lifetimes.idleMs, lifetimes.sessionMs),
  absoluteExpiresAtMs: nowMs + lifetimes.sessionMs,
  userAgent: '',
  address: '',
})

const trimmed = ({ userAgent, address }: Device): Device => ({
  userAgent: userAgent.slice(0, MAX_USER_AGENT_LENGTH),
  address,
})

/** What is remembered of a session: its row, and what is made of it for every request. */
const toKnown = (session: SessionOfUser) => ({ session, signedIn: toSignedIn(session) })

const toSignedIn = ({ id, userId, expiresAtMs, user }: SessionOfUser): SignedIn => ({
  sessionId: id,
  userId,
  email: user.email,
  username: user.username,
  createdAtMs: user.createdAtMs,
  expiresAtMs,
  userJson: JSON.stringify({
    id: userId,
    email: user.email,
    username: user.username,
    roles: user.roles,
    disabled: user.disabled,
    created_at: toTimestamp(user.createdAtMs),
  }),
})
