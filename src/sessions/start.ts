import { randomUUIDv7 } from 'node:crypto'
import type { Caller } from '../lib/caller.ts'
import type { Queries, Transaction } from '../storage/database.ts'
import type { SessionAuthentication } from './session.ts'
import { lockSession, findSession, insertSession } from './session-store.ts'
import type { EndingSession } from './ending.ts'
import { byServerTime, currentTimeMs, type Device, newSession, type ServerReading } from './lifetime.ts'
import type { Replacement } from './replacement.ts'
import type { SessionDeps } from './session-deps.ts'
import type { SignInGrant } from './sign-in-grant.ts'
import type { Tokens } from './issue-tokens.ts'
import type { RemoveSessions } from './removal.ts'
import { findSessionsAboveLimit, lockUserOfSession, updateFirstSession } from './user-sessions-store.ts'

/** Nobody has as many devices. A program that logs in before each of its requests gets no further. */
const MAX_SESSIONS_OF_USER = 100

interface StartedSession {
  id: string
  userId: string
  nowMs: number
  caller: Caller
}

/**
 * Ends the sessions that were not seen for longest if the user has more than 100 live sessions. It runs in the
 * transaction that has inserted a session and locked its user.
 */
const createSessionLimit =
  ({ log, removeSessions, recordEvent }: StartDeps) =>
  async (transaction: Transaction, { id, userId, nowMs, caller }: StartedSession): Promise<void> => {
    const limit = MAX_SESSIONS_OF_USER
    const ended = await findSessionsAboveLimit(transaction, { userId, newId: id, nowMs, limit })
    if (ended.length === 0) return
    const reason = 'session_limit'
    await removeSessions(transaction, { ids: ended }, { reason, caller })
    const details = { count: ended.length, reason }
    await recordEvent(transaction, { type: 'session.ended', userId, sessionId: id, details }, caller)
    transaction.afterCommit(() => {
      log.info(
        { user_id: userId, session_ids: ended.slice(0, MAX_SESSIONS_OF_USER), sessions: ended.length },
        'session limit reached: longest unseen sessions ended',
      )
    })
  }

/** `isReused` says that the browser has shown it with a refresh token that was replaced before, past its grace. */
interface ReplacedByStart extends EndingSession {
  isReused: boolean
}

export interface StartOptions {
  /** These sessions end when this one begins: the browser had them before. */
  replaces?: ReplacedByStart[] | undefined
  /**
   * It is awaited in the transaction of the start before it changes anything; if it rejects, its error ends the start.
   */
  admitted?: Promise<unknown> | undefined
  /** It does more work in the transaction of the start, first of all. */
  also?: ((transaction: Transaction) => Promise<unknown>) | undefined
  /** It is asked then, and tells whether a session may start now. If not, the work of `also` stays. */
  mayStart?: ((transaction: Queries) => Promise<boolean>) | undefined
  /** Recognises the browser, in the transaction of the start; it resolves to the hash of its secret. */
  recogniseBrowser: (transaction: Transaction) => Promise<string>
  /** It is a session with `mfa`, whose authentication stays that of the user: the grant proves less. */
  keepsMfaOf?: string | undefined
  /** It says how the user has signed in, for the record of the start; if it is left out, there is no record. */
  login?: { method: string } | undefined
}

export type SessionCaller = Caller & { device: Device }

interface StartDeps
  extends Pick<SessionDeps, 'clock' | 'db' | 'defaultAudience' | 'issueTokens' | 'lifetimes' | 'log' | 'recordEvent'> {
  removeSessions: RemoveSessions
  replaceSession: Replacement['replaceSession']
}

/** Starts sessions, all in one transaction: check of the grant, new row, end of the sessions that it replaces. */
export const createStart = (deps: StartDeps) => {
  const { db, clock, lifetimes, defaultAudience, issueTokens, recordEvent } = deps
  const endAboveLimit = createSessionLimit(deps)

  return async (
    grant: SignInGrant,
    caller: SessionCaller,
    { replaces = [], admitted, also, mayStart, recogniseBrowser, keepsMfaOf, login }: StartOptions,
  ): Promise<Tokens | undefined> => {
    const id = randomUUIDv7()
    const { userId, isStillValid } = grant
    const { device } = caller
    const session = await db.inTransaction(async (transaction) => {
      const askedAtMs = clock.now()
      const user = await lockUserOfSession(transaction, userId)
      if (!user) return undefined
      const proven = provenBy(grant, { ...user, askedAtMs })
      if (!(await isStillValid(transaction))) return undefined
      await admitted
      await also?.(transaction)
      if (mayStart && !(await mayStart(transaction))) return undefined
      const deviceHash = await recogniseBrowser(transaction)
      const nowMs = currentTimeMs(user, clock)
      const kept = keepsMfaOf === undefined ? undefined : await lockSession(transaction, keepsMfaOf, userId)
      const authentication = kept?.amr.includes('mfa') ? authenticationOf(kept) : proven
      const row = newSession({ id, userId, device, nowMs, ...authentication, deviceHash }, lifetimes)
      await insertSession(transaction, row)
      if (!user.hasHadSession) await updateFirstSession(transaction, userId, nowMs)
      if (login)
        await recordEvent(transaction, { type: 'login.succeeded', userId, sessionId: id, details: login }, caller)
      for (const { sessionId, userId: owner, isReused } of replaces) {
        const by = { id, isOfSameUser: owner === userId, isReused }
        const hasEnded = await deps.replaceSession(transaction, sessionId, by, nowMs)
        if (hasEnded && isReused)
          await recordEvent(transaction, { type: 'session.refreshed_reuse', userId: owner, sessionId }, caller)
      }
      await endAboveLimit(transaction, { id, userId, nowMs, caller })
      return findSession(transaction, id)
    })
    return session && issueTokens(session, defaultAudience)
  }
}

type Authentication = Pick<SessionAuthentication, 'authenticatedAtMs' | 'amr' | 'provider'>

/** Uses the time of the database's server, if there is one. */
const provenBy = ({ authenticatedAtMs, amr, provider }: SignInGrant, reading: ServerReading): Authentication => ({
  authenticatedAtMs: authenticatedAtMs && byServerTime(authenticatedAtMs, reading),
  amr,
  provider,
})

const authenticationOf = ({ authenticatedAtMs, amr, provider }: Authentication): Authentication => ({
  authenticatedAtMs,
  amr,
  provider,
})
