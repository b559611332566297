import { randomUUIDv7 } from 'node:crypto'
import { AppError } from '../lib/errors.ts'
import { deriveKey } from '../lib/secrets.ts'
import type { Clock } from '../lib/time.ts'
import type { Database, Queries, Transaction } from '../storage/database.ts'
import type { AccessTokens, CheckedToken } from './access-token.ts'
import { beginSession, type Device, isFresh, isInGrace, type Lifetimes, moveOn } from './lifetime.ts'
import { createRefreshTokens, type RefreshClaim, readRefreshToken } from './refresh-token.ts'
import {
  cacheSessions,
  countSessions,
  deleteSession,
  deleteSessionOfUser,
  deleteSessionsOfUser,
  findSession,
  findSessionsOfUser,
  insertSession,
  lockSession,
  rotateSession,
  type Session,
  type SessionOfUser,
} from './session-store.ts'
import { type SignedIn, toSignedIn } from './signed-in.ts'
import type { SigningKeys } from './signing-keys.ts'

export type { Device } from './lifetime.ts'
export type { Session } from './session-store.ts'
export type { SignedIn } from './signed-in.ts'

interface Parts {
  db: Database
  clock: Clock
  keys: SigningKeys
  accessTokens: AccessTokens
  rootSecret: Uint8Array
  lifetimes: Lifetimes
  defaultAudience: string
}

/** What a browser is given, with the seconds for which each is good. */
export interface Tokens {
  sessionId: string
  accessToken: string
  accessTokenSeconds: number
  refreshToken: string
  sessionSeconds: number
}

interface Terms {
  /** When he was last seen to prove who he is; undefined when nobody can say. */
  authenticatedAtMs: number | undefined
  holds?: (transaction: Queries) => Promise<boolean>
  /** Sessions that end as this one begins. */
  replaces?: string[]
}

export type RefreshResult =
  | { outcome: 'rotated' | 'grace'; tokens: Tokens; signedIn: SignedIn }
  /** `reused`: a token past its grace came again; the session is dead, on disk. */
  | { outcome: 'unknown' | 'reused'; sessionId?: string; userId?: string }

/** What is remembered of a session: its row, and what is made of it for every request. */
const toKnown = (session: SessionOfUser) => ({ session, signedIn: toSignedIn(session) })
type Known = ReturnType<typeof toKnown>

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
      accessToken: accessTokens.issue(claims, await keys.signing(session.signingKeyId)),
      accessTokenSeconds: exp - Math.floor(nowMs / 1000),
      refreshToken: refreshTokens.make(session, session.generation),
      sessionSeconds: Math.max(0, Math.round((session.expiresAtMs - nowMs) / 1000)),
    }
  }

  /** The session of a genuine token, if it can still be refreshed. */
  const findClaimed = async (claim: RefreshClaim): Promise<Known | undefined> => {
    const found = await known.get(claim.sessionId)
    if (!found || !refreshTokens.isGenuine(found.session, claim)) return undefined
    return found.session.expiresAtMs > clock.now() && !found.session.user.disabled ? found : undefined
  }

  /** Undefined when another request, here or elsewhere, was first. */
  const rotate = async (found: Known, device: Device): Promise<Known | undefined> => {
    const next = moveOn(found.session, device, clock.now(), lifetimes)
    const rotated = toKnown(next)
    const committing = db.single((changes) => {
      // The user's row may have changed while the statement waited for its turn: then what was found is old.
      const isCurrent = changes === 1 && known.peek(next.id) === found
      if (isCurrent) known.replace(next.id, rotated)
      else known.forget(next.id)
    })
    return (await rotateSession(committing, next)) === 1 ? rotated : undefined
  }

  const trade = async ({ session, signedIn }: Known, audience: string) => ({
    tokens: await issue(session, audience),
    signedIn,
  })

  const endIn = async (transaction: Transaction, id: string): Promise<void> => {
    await deleteSession(transaction, id)
    transaction.afterCommit(() => known.forget(id))
  }

  const end = async (id: string): Promise<void> => {
    await deleteSession(
      db.single(() => known.forget(id)),
      id,
    )
  }

  const endAllIn = async (transaction: Transaction, userId: string, exceptId?: string): Promise<number> => {
    const changes = await deleteSessionsOfUser(transaction, userId, exceptId)
    transaction.afterCommit(() => known.forgetAll())
    return changes
  }

  /** A key that is not known here may have begun to sign elsewhere a moment ago. */
  const readAgain = async (accessToken: string): Promise<CheckedToken | undefined> => {
    const token = accessTokens.read(accessToken, await keys.reload())
    return token === 'unknown key' ? undefined : token
  }

  return {
    /**
     * Starts a session for a user, in place of those that his browser had. `holds` is asked in the same transaction
     * whether the reason to let him in still stands; undefined when it does not.
     */
    async start(
      userId: string,
      device: Device,
      { authenticatedAtMs, holds, replaces = [] }: Terms,
    ): Promise<Tokens | undefined> {
      const id = randomUUIDv7()
      const session = await db.inTransaction(async (transaction) => {
        if (holds && !(await holds(transaction))) return undefined
        for (const former of replaces) await endIn(transaction, former)
        await insertSession(
          transaction,
          beginSession({ id, userId, device, nowMs: clock.now(), authenticatedAtMs }, lifetimes),
        )
        return findSession(transaction, id)
      })
      return session && issue(session, parts.defaultAudience)
    },

    /** Who an access token stands for, by the rows as they are now; undefined when it stands for nobody. */
    async authenticate(accessToken: string): Promise<SignedIn | undefined> {
      const read = accessTokens.read(accessToken, keys.held())
      const token = read === 'unknown key' ? await readAgain(accessToken) : read
      if (!token) return undefined
      const { session, signedIn } = (await known.get(token.sessionId)) ?? {}
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
        const found = await findClaimed(claim)
        if (!found || claim.generation > found.session.generation) return { outcome: 'unknown' }
        const { session } = found
        if (claim.generation === session.generation) {
          const rotated = await rotate(found, device)
          if (rotated) return { outcome: 'rotated', ...(await trade(rotated, audience)) }
        } else if (isInGrace(session, claim.generation, clock.now(), lifetimes)) {
          // The winner's rotation may be on its way to the disk still; its token must not get out before it is there.
          await db.durable()
          return { outcome: 'grace', ...(await trade(found, audience)) }
        } else {
          await end(session.id)
          return { outcome: 'reused', sessionId: session.id, userId: session.userId }
        }
      }
    },

    /** The session of a refresh token that is good now, without refreshing it. */
    async identify(refreshToken: string): Promise<string | undefined> {
      const claim = readRefreshToken(refreshToken)
      return claim && (await findClaimed(claim))?.session.id
    },

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

    /** All but the session of who asks; `unauthorized` when it has ended. */
    endOthers: (userId: string, ownId: string): Promise<number> =>
      db.inTransaction(async (transaction) => {
        await requireIn(transaction, ownId, userId)
        return endAllIn(transaction, userId, ownId)
      }),

    requireIn,

    /** The same, and `forbidden` when the session is not fresh. */
    async requireFreshIn(transaction: Transaction, id: string, userId: string): Promise<void> {
      if (!isFresh(await requireIn(transaction, id, userId), clock.now())) throw staleSession()
    },

    /** Whether somebody has just proved who he is: what changes how he signs in asks for that (OWASP ASVS 5, 7.5.1). */
    isFresh: (signedIn: SignedIn): boolean => isFresh(signedIn, clock.now()),

    /** To be called in the transaction that changes a user's row. */
    userChanged: (transaction: Transaction): void => transaction.afterCommit(() => known.forgetAll()),

    /** So many sessions at most, `firstId` and then those last seen, and how many there are. */
    async list(userId: string, limit: number, firstId = ''): Promise<{ sessions: Session[]; count: number }> {
      const nowMs = clock.now()
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

const staleSession = (): AppError =>
  new AppError('forbidden', 'Sign in again first, to confirm that it is you.', { reason: 'confirm_first' })
