import { AppError } from '../lib/errors.ts'
import type { Database, Transaction } from '../storage/database.ts'
import type { CachedSessions } from './cached-sessions.ts'
import { endInBatches } from './end-in-batches.ts'
import type { RecentAuthentication } from './recent-authentication.ts'
import { lockSession, updateAmr } from './session-lock-store.ts'
import { deleteSession } from './session-store.ts'
import type { SessionRules } from './sign-in-grant.ts'
import { deleteSessionOfUser, deleteSessionsOfUser, findSessionIdsOfUser } from './user-sessions-store.ts'

interface EndingDeps extends Pick<RecentAuthentication, 'requireRecentAuthentication' | 'requireFactors'> {
  db: Database
  cachedSessions: CachedSessions
}

/** Ends sessions. The cache forgets them at the instant of the commit, so that no request finds them afterwards. */
export const createEnding = (deps: EndingDeps) => {
  const { db, cachedSessions } = deps

  /** Before the rows are deleted: afterwards their ids could not be found. */
  const forgetSessionsOfUser = async (transaction: Transaction, userId: string): Promise<void> => {
    const ids = await findSessionIdsOfUser(transaction, userId)
    transaction.afterCommit(() => ids.forEach(cachedSessions.forget))
  }

  const endSessions = async (transaction: Transaction, userId: string, exceptId?: string): Promise<number> => {
    await forgetSessionsOfUser(transaction, userId)
    return deleteSessionsOfUser(transaction, userId, exceptId)
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
    // What is cached of a session has its user in it.
    userChanged: forgetSessionsOfUser,
  }

  return {
    rules,

    async end(id: string): Promise<void> {
      await deleteSession(
        db.autocommit(() => cachedSessions.forget(id)),
        id,
      )
    },

    async endOwn(userId: string, id: string, ownId?: string): Promise<void> {
      await db.inTransaction(async (transaction) => {
        if (ownId !== undefined) await requireSession(transaction, ownId, userId)
        const changes = await deleteSessionOfUser(transaction, id, userId)
        if (changes === 0) throw new AppError('not_found', 'This session has ended already.', { field: 'session_id' })
        transaction.afterCommit(() => cachedSessions.forget(id))
      })
    },

    endOthers: (userId: string, ownId: string): Promise<number> =>
      db.inTransaction(async (transaction) => {
        await requireSession(transaction, ownId, userId)
        return endSessions(transaction, userId, ownId)
      }),

    endAll: (userId: string): Promise<number> => db.inTransaction((transaction) => endSessions(transaction, userId)),

    endEverySession: (): Promise<number> => endInBatches(db, cachedSessions),
  }
}

const requireSession = async (transaction: Transaction, id: string, userId: string) => {
  const session = await lockSession(transaction, id, userId)
  if (session) return session
  throw new AppError('unauthorized', 'You were logged out meanwhile, and nothing was changed. Log in again.', {
    reason: 'logged_out',
  })
}
