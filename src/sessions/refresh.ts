import type { Caller } from '../lib/caller.ts'
import type { AuthenticatedSession, CachedSession, SessionWithUser } from './session.ts'
import { updateRotatedSession, updateUnansweredSession } from './session-store.ts'
import type { EndingSession } from './ending.ts'
import { type Device, isUsable, rotateSession } from './lifetime.ts'
import type { Replacement } from './replacement.ts'
import type { SessionDeps } from './session-deps.ts'
import { createRotation } from './rotation.ts'
import type { SessionCaller } from './start.ts'
import type { Tokens } from './issue-tokens.ts'
import { readRefreshToken, type UnverifiedRefreshToken } from './tokens/refresh-token.ts'

interface SessionRefreshDeps
  extends Pick<
    SessionDeps,
    'cachedSessions' | 'clock' | 'db' | 'defaultAudience' | 'issueTokens' | 'lifetimes' | 'refreshTokens'
  > {
  endSession: (session: EndingSession, why: 'logout' | 'session.refreshed_reuse', caller: Caller) => Promise<void>
  findSuccessor: Replacement['findSuccessor']
}

/**
 * A refresh token has met one of these fates. `grace`: it was replaced a moment ago and is still good. `reused`: it
 * came again past its grace, and the session has been ended on disk. `replaced`: the browser has had a newer session
 * for a moment, and this token gives no part of it.
 */
export type RefreshResult =
  | { outcome: 'rotated' | 'grace'; tokens: Tokens; session: AuthenticatedSession }
  | { outcome: 'unknown' | 'reused' | 'replaced'; sessionId?: string; userId?: string }

/** It is the session of a genuine refresh token. `isReused`: the token was replaced, and its grace is over. */
export interface IdentifiedSession {
  session: AuthenticatedSession
  isReused: boolean
}

/** A refresh token can be traded, or only looked at. */
export const createSessionRefresh = (deps: SessionRefreshDeps) => {
  const { db, clock, lifetimes, defaultAudience, refreshTokens, cachedSessions, issueTokens, endSession } = deps
  const rotation = createRotation<SessionWithUser, CachedSession>({
    db,
    clock,
    graceMs: lifetimes.graceMs,
    cached: cachedSessions,
    rowOf: ({ session }) => session,
    updateRotated: updateRotatedSession,
    updateUnanswered: updateUnansweredSession,
  })

  /** Finds the session of a genuine token, if it can still be refreshed. */
  const findUsableSession = async (token: UnverifiedRefreshToken): Promise<CachedSession | undefined> => {
    const found = await cachedSessions.get(token.sessionId)
    if (!found || !refreshTokens.isGenuine(found.session, token, found.refreshToken)) return undefined
    return isUsable(found.session, clock) ? found : undefined
  }

  const issue = async ({ session, authenticated, refreshToken }: CachedSession, audience: string) => ({
    tokens: await issueTokens(session, audience, refreshToken),
    session: authenticated,
  })

  const rotate = (found: CachedSession, device: Device, audience: string) => {
    const toNext = (nowMs: number): CachedSession => {
      const next = rotateSession(found.session, device, nowMs, lifetimes)
      const authenticated = { ...found.authenticated, expiresAtMs: next.expiresAtMs }
      return { session: next, authenticated, refreshToken: refreshTokens.make(next) }
    }
    return rotation.rotate(found, toNext, (rotated) => issue(rotated, audience))
  }

  return {
    async refresh(refreshToken: string, caller: SessionCaller, audience = defaultAudience): Promise<RefreshResult> {
      const token = readRefreshToken(refreshToken)
      if (!token) return { outcome: 'unknown' }
      // Another request may rotate the session between the look at it and the write: then it is looked at again.
      for (;;) {
        const found = await findUsableSession(token)
        if (!found) return { outcome: (await deps.findSuccessor(token)) ? 'replaced' : 'unknown' }
        const { session } = found
        const age = rotation.ageOf(session, token.generation)
        if (age === 'unknown') return { outcome: 'unknown' }
        if (age === 'current') {
          const rotated = await rotate(found, caller.device, audience)
          if (rotated) return { outcome: 'rotated', ...rotated }
        } else if (age === 'grace') {
          // The rotation of the other request may not be on disk yet; its token must not get out before it is.
          await db.waitUntilDurable()
          return { outcome: 'grace', ...(await issue(found, audience)) }
        } else if (!(await rotation.settle(session.id))) {
          // An attacker has used this token, or uses it now (RFC 9700 section 4.14.2).
          await endSession(found.authenticated, 'session.refreshed_reuse', caller)
          return { outcome: 'reused', sessionId: session.id, userId: session.userId }
        }
      }
    },

    async identify(refreshToken: string): Promise<IdentifiedSession | undefined> {
      const token = readRefreshToken(refreshToken)
      const found = token && (await findUsableSession(token))
      if (!found) return undefined
      const { session, authenticated } = found
      const age = rotation.ageOf(session, token.generation)
      if (age === 'unknown') return undefined
      const isGood = age !== 'old' || (await rotation.settle(session.id))
      return { session: authenticated, isReused: !isGood }
    },

    /** It resolves to the sessions that it ended. */
    async endSuccessor(refreshToken: string, caller: Caller): Promise<AuthenticatedSession[]> {
      const token = readRefreshToken(refreshToken)
      if (!token) return []
      const ended: AuthenticatedSession[] = []
      // The successor may be replaced in the same moment.
      for (;;) {
        const successor = await deps.findSuccessor(token)
        if (!successor) return ended
        await endSession(successor.authenticated, 'logout', caller)
        ended.push(successor.authenticated)
      }
    },
  }
}
