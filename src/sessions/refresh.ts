import type { Caller } from '../lib/caller.ts'
import type { AuthenticatedSession, CachedSession, SessionWithUser } from './session.ts'
import { updateRotatedSession } from './session-store.ts'
import { createClockSteps } from './clock-steps.ts'
import type { EndingSession } from './ending.ts'
import { currentTimeMs, type Device, isUsable, replacedAt, rotateSession } from './lifetime.ts'
import type { Replacement } from './replacement.ts'
import type { SessionDeps } from './session-deps.ts'
import type { SessionCaller } from './start.ts'
import type { Tokens } from './issue-tokens.ts'
import { readRefreshToken, type UnverifiedRefreshToken } from './tokens/refresh-token.ts'
import { createUnansweredRotations } from './unanswered-rotations.ts'

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
  const unanswered = createUnansweredRotations(deps)
  const clockSteps = createClockSteps(clock)

  /** Tells whether the token of an earlier generation was replaced so recently that it is still good. */
  const isInGrace = (session: SessionWithUser, generation: number): boolean => {
    const timeMs = replacedAt(session, generation)
    return timeMs !== undefined && clockSteps.ageMs(timeMs, currentTimeMs(session, clock)) < lifetimes.graceMs
  }

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

  /**
   * A server that was frozen in between may get the statement long after this process has given it up. If the token
   * were replaced then, its honest owner would be taken for a thief.
   */
  const deadlineOf = ({ session: { readAtMs = 0 } }: CachedSession): number => readAtMs + (db.timeoutMs ?? 0)

  /** It resolves to undefined when another request, here or in another process, was first. */
  const rotate = async (found: CachedSession, device: Device, audience: string) => {
    const nowMs = currentTimeMs(found.session, clock)
    clockSteps.observe(nowMs)
    const next = rotateSession(found.session, device, nowMs, lifetimes)
    const rotated = {
      session: next,
      authenticated: { ...found.authenticated, expiresAtMs: next.expiresAtMs },
      refreshToken: refreshTokens.make(next),
    }
    let hasCommitted = false
    const committing = db.autocommit((changes) => {
      hasCommitted = true
      // The user's row may have changed while the statement waited for its turn: then the found row is outdated.
      const isCurrent = changes === 1 && cachedSessions.peek(next.id) === found
      if (isCurrent) cachedSessions.replace(next.id, rotated)
      else cachedSessions.forget(next.id)
    })
    const update = updateRotatedSession(committing, next, deadlineOf(found))
    const write = unanswered.watch(next, update, () => hasCommitted)
    // The tokens are signed while the disk writes.
    const [changes, issued] = await Promise.all([write, issue(rotated, audience)])
    return changes === 1 ? issued : undefined
  }

  return {
    async refresh(refreshToken: string, caller: SessionCaller, audience = defaultAudience): Promise<RefreshResult> {
      const token = readRefreshToken(refreshToken)
      if (!token) return { outcome: 'unknown' }
      // Another request may rotate the session between the look at it and the write: then it is looked at again.
      for (;;) {
        const found = await findUsableSession(token)
        if (!found) return { outcome: (await deps.findSuccessor(token)) ? 'replaced' : 'unknown' }
        if (token.generation > found.session.generation) return { outcome: 'unknown' }
        const { session } = found
        if (token.generation === session.generation) {
          const rotated = await rotate(found, caller.device, audience)
          if (rotated) return { outcome: 'rotated', ...rotated }
        } else if (isInGrace(session, token.generation)) {
          // The rotation of the other request may not be on disk yet; its token must not get out before it is.
          await db.waitUntilDurable()
          return { outcome: 'grace', ...(await issue(found, audience)) }
        } else if (!(await unanswered.settle(session.id))) {
          // An attacker has used this token, or uses it now (RFC 9700 section 4.14.2).
          await endSession(found.authenticated, 'session.refreshed_reuse', caller)
          return { outcome: 'reused', sessionId: session.id, userId: session.userId }
        }
      }
    },

    async identify(refreshToken: string): Promise<IdentifiedSession | undefined> {
      const token = readRefreshToken(refreshToken)
      const found = token && (await findUsableSession(token))
      if (!found || token.generation > found.session.generation) return undefined
      const { session, authenticated } = found
      const isGood =
        token.generation === session.generation ||
        isInGrace(session, token.generation) ||
        (await unanswered.settle(session.id))
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
