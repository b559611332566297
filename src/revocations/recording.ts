import { createUuidSequence } from '../lib/uuid.ts'
import type { Clock } from '../lib/time.ts'
import type { Queries } from '../storage/database.ts'
import type { NewRevocation, Reason } from './revocation.ts'
import { insertRevocations } from './revocation-store.ts'

/** A session or a grant that has ended; its id is the claim `sid` of its tokens. */
interface EndedId {
  id: string
  userId: string
}

type In = Pick<Queries, 'run'>

/**
 * Writes what verifiers of tokens must know, in the transaction of what has happened. Nobody but a reader of the feed
 * reads it (`revocations.ts`).
 */
export interface RecordRevocations {
  /** `why` is the reason as records have it. `replacedBy` is the session that goes on in place of the only one. */
  sessionsEnded(transaction: In, ended: readonly EndedId[], why: string, replacedBy?: string): Promise<void>
  /** All sessions and grants end, or some of all do. */
  allSessionsEnded(transaction: In): Promise<void>
  /** Roles, email or its verification have changed. */
  claimsChanged(transaction: In, userId: string): Promise<void>
}

interface RecordingDeps {
  clock: Clock
  /** No token can be good for longer than this. */
  longestTokenMs: number
}

/** An entry is kept so much longer than any token that it is about. */
const KEPT_LONGER_MS = 300_000

/** An entry has no more ids. */
const MOST_IDS = 200

/** The reasons of records that are other ones here. Every other one is a security event of the account. */
const REASON_OF: Partial<Record<string, Reason>> = {
  logout: 'logout',
  session_revoked: 'ended',
  session_replaced: 'ended',
  revoked: 'ended',
  disconnected: 'ended',
  operator: 'ended',
  replaced: 'replaced',
  'session.refreshed_reuse': 'reused',
  refresh_reused: 'reused',
  other_client: 'reused',
  code_reused: 'reused',
  session_limit: 'limit',
  grant_limit: 'limit',
  expired: 'expired',
  disabled: 'disabled',
  deleted: 'deleted',
  client: 'client',
  revoked_by_client: 'client',
}

export const createRecordRevocations = ({ clock, longestTokenMs }: RecordingDeps): RecordRevocations => {
  const newId = createUuidSequence()

  const record = async (transaction: In, entries: Omit<NewRevocation, 'id'>[]): Promise<void> => {
    const nowMs = clock.now()
    const rows = entries.map((entry) => ({ ...entry, id: newId(nowMs) }))
    await insertRevocations(transaction, rows, { nowMs, keptMs: longestTokenMs + KEPT_LONGER_MS })
  }

  return {
    async sessionsEnded(transaction, ended, why, replacedBy) {
      const reason = REASON_OF[why] ?? 'security'
      const entries: Omit<NewRevocation, 'id'>[] = []
      for (const [userId, ofUser] of Map.groupBy(ended, (each) => each.userId)) {
        for (let start = 0; start < ofUser.length; start += MOST_IDS) {
          const sessionIds = ofUser.slice(start, start + MOST_IDS).map(({ id }) => id)
          entries.push({ type: 'session-revoked', userId, sessionIds, reason, replacedBy })
        }
      }
      if (entries.length > 0) await record(transaction, entries)
    },

    allSessionsEnded: (transaction) => record(transaction, [{ type: 'sessions-revoked' }]),
    claimsChanged: (transaction, userId) => record(transaction, [{ type: 'token-claims-change', userId }]),
  }
}
