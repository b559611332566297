import { randomUUID } from 'node:crypto'
import type { RecordEvent } from '../audit/audit-event.ts'
import type { Clock } from '../lib/time.ts'
import type { ClientGrants, WhichGrants } from '../sessions/client-grants.ts'
import type { Transaction } from '../storage/database.ts'
import {
  deleteCodes,
  deleteGrants,
  deleteOldestGrants,
  type EndedGrant,
  findEndingClients,
  insertLogoutToken,
  updateSessionOfGrants,
} from './grant-ending-store.ts'

interface GrantEndingsDeps {
  clock: Clock
  /** While the OAuth server is switched off, no client is told of a logout. */
  hasClients: boolean
  recordEvent: RecordEvent
}

/** What remembers grants, and what sends logout tokens, is told at the instant of the commit. */
interface GrantWatcher {
  forget: (ids: readonly string[]) => void
  forgetAll: () => void
  wake: () => void
}

export interface GrantEndings extends ClientGrants {
  watch(watcher: GrantWatcher): void
}

/** Ends grants of clients: THE one place where they end before their time. */
export const createGrantEndings = ({ clock, hasClients, recordEvent }: GrantEndingsDeps): GrantEndings => {
  let watcher: GrantWatcher | undefined

  /** Tells everybody who must know: caches, clients that have a URI for it, and nobody else so far. */
  const announce = async (transaction: Transaction, ended: readonly EndedGrant[]) => {
    const clients = await findEndingClients(
      transaction,
      ended.map((grant) => grant.client_id),
    )
    const nowMs = clock.now()
    // The revocation feed belongs here: all of these ids are claims `sid` that are good no longer.
    for (const { id: grantId, user_id: userId, client_id: clientId } of hasClients ? ended : []) {
      const uri = clients.get(clientId)?.backchannel_logout_uri
      if (!uri) continue
      await insertLogoutToken(transaction, { id: randomUUID(), clientId, uri, userId, grantId, createdAtMs: nowMs })
    }
    transaction.afterCommit(() => {
      watcher?.forget(ended.map(({ id }) => id))
      watcher?.wake()
    })
    return clients
  }

  return {
    watch(given) {
      watcher = given
    },

    async endGrants(transaction, which, reason, caller) {
      if (meansAll(which)) await deleteCodes(transaction, which)
      const ended = await deleteGrants(transaction, which)
      if (ended.length === 0) return 0
      const clients = await announce(transaction, ended)
      for (const { id: grantId, user_id: userId, client_id: clientId } of ended) {
        const details = { grantId, clientId, clientName: clients.get(clientId)?.name, reason }
        await recordEvent(transaction, { type: 'grant.ended', userId, details }, caller)
      }
      return ended.length
    },

    async endSomeGrants(transaction, limit) {
      const ended = await deleteOldestGrants(transaction, limit)
      if (ended.length === 0) return 0
      await announce(transaction, ended)
      const details = { count: ended.length, reason: 'operator' }
      await recordEvent(transaction, { type: 'grant.ended', details })
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
const meansAll = ({ id, sessionId, exceptSessionId, hanging }: WhichGrants): boolean =>
  (id ?? sessionId ?? exceptSessionId ?? hanging) === undefined
