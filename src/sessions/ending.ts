import type { Caller } from '../lib/caller.ts'
import { AppError } from '../lib/errors.ts'
import type { Transaction } from '../storage/database.ts'
import type { AuthenticatedSession } from './session.ts'
import { lockSession, updateAmr, findSession } from './session-store.ts'
import type { RemoveSessions } from './removal.ts'
import type { SessionDeps } from './session-deps.ts'
import type { SessionRules } from './sign-in-grant.ts'
import { findSessionIdsOfUser } from './user-sessions-store.ts'
import { setImmediate } from 'node:timers/promises'
import { findSessionIds } from './all-sessions-store.ts'

// Which event of an account ends its sessions stands in accounts/security-events.ts.

interface EndingDeps
  extends Pick<
    SessionDeps,
    | 'cachedSessions'
    | 'clientGrants'
    | 'db'
    | 'endPendingSignIns'
    | 'endPendingSignInsAfter'
    | 'recordEvent'
    | 'requireFactors'
    | 'requireRecentAuthentication'
  > {
  removeSessions: RemoveSessions
}

/** The batch is so small that other requests do not wait long for the database. */
const BATCH = 1000

/**
 * Ends the sign-ins of all users that wait for a second factor and all grants of clients, and then their sessions in
 * order of id, which is the order of their start. It resolves to how many sessions ended. One that starts during the
 * call may stay.
 */
const endInBatches = async (deps: EndingDeps): Promise<number> => {
  const { db, recordEvent, removeSessions } = deps
  await endPendingSignIns(deps)
  await endAllGrants(deps)
  let after = ''
  let ended = 0
  for (;;) {
    const ids = await findSessionIds(db, { after, limit: BATCH })
    const last = ids.at(-1)
    if (last === undefined) {
      // A code that a session gave before it ended may have become a grant since.
      await endAllGrants(deps)
      return ended
    }
    ended += await db.inTransaction(async (transaction) => {
      const { length: count } = await removeSessions(transaction, { ids }, { reason: 'operator', isOfAll: true })
      await recordEvent(transaction, { type: 'session.ended', details: { count } })
      return count
    })
    after = last
    await setImmediate()
  }
}

const endPendingSignIns = async ({ db, endPendingSignInsAfter }: EndingDeps): Promise<void> => {
  let after: string | undefined = ''
  while (after !== undefined) {
    after = await endPendingSignInsAfter(db, { after, limit: BATCH })
    await setImmediate()
  }
}

const endAllGrants = async ({ db, clientGrants }: EndingDeps): Promise<void> => {
  while ((await db.inTransaction((transaction) => clientGrants.endSomeGrants(transaction, BATCH))) > 0) {
    await setImmediate()
  }
}

export type EndingSession = Pick<AuthenticatedSession, 'sessionId' | 'userId'>

/** A user or an operator ends the sessions of a user. */
export interface OwnEnd {
  /** It is the session of the request. */
  ownId?: string | undefined
  /** It is left out for an operator. */
  caller?: Caller | undefined
}

/** Ends sessions. The cache forgets them at the instant of the commit, so that no request finds them afterwards. */
export const createEnding = (deps: EndingDeps) => {
  const { db, cachedSessions, clientGrants, recordEvent, removeSessions, endPendingSignIns } = deps
  const { endGrants, forgetGrantsOfUser } = clientGrants

  const forgetSessionsOfUser = async (transaction: Transaction, userId: string): Promise<void> => {
    forgetGrantsOfUser(transaction)
    const ids = await findSessionIdsOfUser(transaction, userId)
    transaction.afterCommit(() => ids.forEach(cachedSessions.forget))
  }

  const endSessions: SessionRules['endSessions'] = async (transaction, userId, reason, { exceptId, caller } = {}) => {
    const ended = await removeSessions(transaction, { userId, exceptId }, { reason, caller })
    return ended.length
  }

  const rules: SessionRules = {
    endSessions,
    requireSession,
    async requireRecentAuthentication(transaction, sessionId, userId) {
      await deps.requireRecentAuthentication(await requireSession(transaction, sessionId, userId), transaction)
    },
    async requireFactors(transaction, sessionId, userId) {
      await deps.requireFactors(await requireSession(transaction, sessionId, userId), transaction)
    },
    async noteMfa(transaction, sessionId, amr) {
      const changes = await updateAmr(transaction, sessionId, amr)
      if (changes > 0) transaction.afterCommit(() => cachedSessions.forget(sessionId))
    },
    // A cached session has its user in it.
    userChanged: forgetSessionsOfUser,
  }

  const remove = async (transaction: Transaction, id: string, reason: string, caller: Caller): Promise<boolean> => {
    const ended = await removeSessions(transaction, { ids: [id] }, { reason, caller })
    return ended.length > 0
  }

  const endAndRecord = async (transaction: Transaction, userId: string, { ownId, caller }: OwnEnd) => {
    const count = await endSessions(transaction, userId, REVOKED, { exceptId: ownId, caller })
    const event = { type: 'session.ended', userId, sessionId: ownId, details: { count } } as const
    if (count > 0) await recordEvent(transaction, event, caller)
    return count
  }

  return {
    rules,

    end: (session: EndingSession, why: 'logout' | 'session.refreshed_reuse', caller: Caller): Promise<void> =>
      db.inTransaction(async (transaction) => {
        if (await remove(transaction, session.sessionId, why, caller))
          await recordEvent(transaction, { type: why, userId: session.userId, sessionId: session.sessionId }, caller)
      }),

    endAny: (id: string, caller: Caller): Promise<void> =>
      db.inTransaction(async (transaction) => {
        const session = await findSession(transaction, id)
        if (!session) await endGrants(transaction, { id }, REVOKED, caller)
        if (!session || !(await remove(transaction, id, REVOKED, caller))) return
        const event = { type: 'session.ended', userId: session.userId, details: { endedSessionId: id } } as const
        await recordEvent(transaction, event, caller)
      }),

    async endOwn(userId: string, id: string, { ownId, caller }: OwnEnd = {}): Promise<void> {
      await db.inTransaction(async (transaction) => {
        if (ownId !== undefined) await requireSession(transaction, ownId, userId)
        const [ended] = await removeSessions(transaction, { ids: [id], userId }, { reason: REVOKED, caller })
        if (!ended && ownId === undefined && (await endGrants(transaction, { id, userId }, REVOKED))) return
        if (!ended)
          throw new AppError('not_found', 'This session has ended already.', {
            field: 'session_id',
            reason: 'session_gone',
          })
        const event = { type: 'session.ended', userId, sessionId: ownId, details: { endedSessionId: id } } as const
        await recordEvent(transaction, event, caller)
      })
    },

    endOthers: (userId: string, ownId: string, caller: Caller): Promise<number> =>
      db.inTransaction(async (transaction) => {
        await endPendingSignIns(transaction, userId)
        await requireSession(transaction, ownId, userId)
        return endAndRecord(transaction, userId, { ownId, caller })
      }),

    endAll: (userId: string, caller?: Caller): Promise<number> =>
      db.inTransaction(async (transaction) => {
        await endPendingSignIns(transaction, userId)
        await endGrants(transaction, { userId }, REVOKED, caller)
        return endAndRecord(transaction, userId, { caller })
      }),

    endEverySession: (): Promise<number> => endInBatches(deps),
  }
}

/** Grants whose sessions a user or an operator ends have this reason in their records. */
const REVOKED = 'session_revoked'

const requireSession = async (transaction: Transaction, id: string, userId: string) => {
  const session = await lockSession(transaction, id, userId)
  if (session) return session
  throw new AppError('unauthorized', 'You were logged out meanwhile, and nothing was changed. Log in again.', {
    reason: 'logged_out',
  })
}
