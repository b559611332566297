import type { Clock } from '../lib/time.ts'
import type { Database } from '../storage/database.ts'
import type { AuthenticatedSession } from './authenticated-session.ts'
import { type CachedSession, type CachedSessions, toCachedSession } from './cached-session.ts'
import type { createIssue, Tokens } from './issue-tokens.ts'
import { currentTimeMs, type Device, isInGrace, isUsable, type Lifetimes, moveOn } from './lifetime.ts'
import { type RefreshClaim, type RefreshTokens, readRefreshToken } from './refresh-token.ts'
import type { Replacement } from './replacement.ts'
import { rotateSession } from './session-store.ts'

interface RefreshDeps {
  db: Database
  clock: Clock
  lifetimes: Lifetimes
  defaultAudience: string
  refreshTokens: RefreshTokens
  known: CachedSessions
  issue: ReturnType<typeof createIssue>
  /** Ends a session, whoever has it. */
  end: (id: string) => Promise<void>
  findSuccessor: Replacement['findSuccessor']
}

export type RefreshResult =
  | { outcome: 'rotated' | 'grace'; tokens: Tokens; signedIn: AuthenticatedSession }
  /** `reused`: a token past its grace came again; the session is dead, on disk. */
  /** `replaced`: the browser has a newer session since a moment ago, and this token gives no part of it. */
  | { outcome: 'unknown' | 'reused' | 'replaced'; sessionId?: string; userId?: string }

/** What a refresh token is good for. */
export const createRefresh = (deps: RefreshDeps) => {
  const { db, clock, lifetimes, defaultAudience, refreshTokens, known, issue, end, findSuccessor } = deps

  /** The session of a genuine token, if it can still be refreshed. */
  const findClaimed = async (claim: RefreshClaim): Promise<CachedSession | undefined> => {
    const found = await known.get(claim.sessionId)
    if (!found || !refreshTokens.isGenuine(found.session, claim)) return undefined
    return isUsable(found.session, clock) ? found : undefined
  }

  /** Undefined when another request, here or elsewhere, was first. */
  const rotate = async (found: CachedSession, device: Device): Promise<CachedSession | undefined> => {
    const next = moveOn(found.session, device, currentTimeMs(found.session, clock), lifetimes)
    const rotated = toCachedSession(next)
    const committing = db.single((changes) => {
      // The user's row may have changed while the statement waited for its turn: then what was found is old.
      const isCurrent = changes === 1 && known.peek(next.id) === found
      if (isCurrent) known.replace(next.id, rotated)
      else known.forget(next.id)
    })
    return (await rotateSession(committing, next)) === 1 ? rotated : undefined
  }

  const trade = async ({ session, signedIn }: CachedSession, audience: string) => ({
    tokens: await issue(session, audience),
    signedIn,
  })

  return {
    /**
     * Trades a refresh token for a new pair. A token replaced within the grace is good for the session's current one;
     * one replaced earlier is theft and ends the session (RFC 9700 section 4.14.2).
     */
    async refresh(refreshToken: string, device: Device, audience = defaultAudience): Promise<RefreshResult> {
      const claim = readRefreshToken(refreshToken)
      if (!claim) return { outcome: 'unknown' }
      for (;;) {
        const found = await findClaimed(claim)
        if (!found) return { outcome: (await findSuccessor(claim)) ? 'replaced' : 'unknown' }
        if (claim.generation > found.session.generation) return { outcome: 'unknown' }
        const { session } = found
        if (claim.generation === session.generation) {
          const rotated = await rotate(found, device)
          if (rotated) return { outcome: 'rotated', ...(await trade(rotated, audience)) }
        } else if (isInGrace(session, claim.generation, currentTimeMs(session, clock), lifetimes)) {
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
    async identify(refreshToken: string): Promise<AuthenticatedSession | undefined> {
      const claim = readRefreshToken(refreshToken)
      return claim && (await findClaimed(claim))?.signedIn
    },

    /**
     * Ends the session that took the place of the one of this refresh token a moment ago, in the same browser; resolves
     * to those that it ended.
     */
    async endSuccessor(refreshToken: string): Promise<AuthenticatedSession[]> {
      const claim = readRefreshToken(refreshToken)
      if (!claim) return []
      const ended: AuthenticatedSession[] = []
      // The successor may be replaced in the same moment.
      for (;;) {
        const successor = await findSuccessor(claim)
        if (!successor) return ended
        await end(successor.session.id)
        ended.push(successor.signedIn)
      }
    },
  }
}
