import { randomUUID } from 'node:crypto'
import type { RecordEvent } from '../audit/audit-event.ts'
import type { Clock } from '../lib/time.ts'
import type { RecordRevocations } from '../revocations/recording.ts'
import { type ClientGrants, EXPIRED, type GrantsEnd, type WhichGrants } from '../sessions/client-grants.ts'
import type { Transaction } from '../storage/database.ts'
import {
  deleteCodes,
  deleteExpiredGrants,
  deleteGrants,
  deleteGrantsOfSessions,
  deleteOldestGrants,
  type EndedGrant,
  type EndingClients,
  findEndingClients,
  insertLogoutToken,
  updateSessionOfGrants,
} from './grant-ending-store.ts'

interface GrantEndingsDeps {
  clock: Clock
  /** While the OAuth server is switched off, no client is told of a logout. */
  hasClients: boolean
  recordEvent: RecordEvent
  revocations: RecordRevocations
}

/** What remembers grants, and what sends logout tokens, is told at the instant of the commit. */
interface GrantWatcher {
  forget: (ids: readonly string[]) => void
  forgetAll: () => void
  wake: () => void
}

export interface GrantEndings extends ClientGrants {
  watch(watcher: GrantWatcher): void
  /** Ends some grants that have expired; it resolves to how many. */
  expireSomeGrants(transaction: Transaction, nowMs: number, limit: number): Promise<number>
}

/** Ends grants of clients: THE one place where their rows are deleted. */
export const createGrantEndings = ({ clock, hasClients, recordEvent, revocations }: GrantEndingsDeps): GrantEndings => {
  let watcher: GrantWatcher | undefined

  /** Tells clients that have a URI for it. */
  const insertLogoutTokens = async (
    transaction: Transaction,
    ended: readonly EndedGrant[],
    clients: EndingClients,
  ): Promise<void> => {
    const nowMs = clock.now()
    for (const { id: grantId, userId, clientId } of ended) {
      const uri = clients.get(clientId)?.backchannel_logout_uri
      if (!uri) continue
      await insertLogoutToken(transaction, { id: randomUUID(), clientId, uri, userId, grantId, createdAtMs: nowMs })
    }
  }

  /** Tells everybody who must know: caches, the application, and clients. */
  const announce = async (transaction: Transaction, ended: readonly EndedGrant[]): Promise<EndingClients> => {
    const clientIds = ended.map(({ clientId }) => clientId)
    const clients = await findEndingClients(transaction, clientIds)
    if (hasClients) await insertLogoutTokens(transaction, ended, clients)
    transaction.afterCommit(() => {
      watcher?.forget(ended.map(({ id }) => id))
      watcher?.wake()
    })
    return clients
  }

  const endEach = async (transaction: Transaction, ended: readonly EndedGrant[], { reason, caller }: GrantsEnd) => {
    await revocations.sessionsEnded(transaction, ended, reason)
    // Nobody has ended those whose time is up.
    if (ended.length === 0 || reason === EXPIRED) return
    const clients = await announce(transaction, ended)
    for (const { id: grantId, userId, clientId } of ended) {
      const details = { grantId, clientId, clientName: clients.get(clientId)?.name, reason }
      await recordEvent(transaction, { type: 'grant.ended', userId, details }, caller)
    }
  }

  return {
    watch(given) {
      watcher = given
    },

    async endGrants(transaction, which, reason, caller) {
      if (meansAll(which)) await deleteCodes(transaction, which)
      const ended = await deleteGrants(transaction, which)
      await endEach(transaction, ended, { reason, caller })
      return ended.length
    },

    endHanging: async (transaction, sessionIds, end) =>
      endEach(transaction, await deleteGrantsOfSessions(transaction, sessionIds), end),

    async endSomeGrants(transaction, limit) {
      const ended = await deleteOldestGrants(transaction, limit)
      if (ended.length === 0) return 0
      await announce(transaction, ended)
      await revocations.allSessionsEnded(transaction)
      const details = { count: ended.length, reason: 'operator' }
      await recordEvent(transaction, { type: 'grant.ended', details })
      return ended.length
    },

    async expireSomeGrants(transaction, nowMs, limit) {
      const ended = await deleteExpiredGrants(transaction, nowMs, limit)
      await endEach(transaction, ended, { reason: EXPIRED })
      return ended.length
    },

    async moveGrants(transaction, sessionId, successorId) {
      const moved = await updateSessionOfGrants(transaction, sessionId, successorId)
      if (moved.length > 0) transaction.afterCommit(() => watcher?.forget(moved.map(({ id }) => id)))
    },

    forgetGrantsOfUser(transaction) {
      if (watcher) transaction.afterCommit(watcher.forgetAll)
    },
  }
}

/** Codes go with all grants of a user or of a client. One that was given in a session goes with that. */
const meansAll = ({ id, exceptSessionId }: WhichGrants): boolean => (id ?? exceptSessionId) === undefined
