import { randomUUIDv7 } from 'node:crypto'
import type { Notify } from '../accounts/account-notice.ts'
import type { RecordEvent } from '../audit/audit-event.ts'
import type { Caller } from '../lib/caller.ts'
import { randomToken } from '../lib/secrets.ts'
import type { Clock } from '../lib/time.ts'
import { currentTimeMs } from '../sessions/lifetime.ts'
import type { CachedRow, Database, Transaction } from '../storage/database.ts'
import type { AuthorizationCode } from './authorization-code.ts'
import type { Client } from './client.ts'
import { rememberGrant } from './consent-store.ts'
import type { GrantEndings } from './grant-endings.ts'
import {
  cacheGrants,
  countGrantsOfClient,
  findGrantsAboveLimit,
  findLiveGrants,
  findNewGrant,
  insertGrant,
} from './grant-store.ts'
import { kindOfRedirect } from './redirect-uri.ts'
import { type CachedGrant, type Grant, type GrantWithUser, hangsOnSession, YEAR_MS } from './grant.ts'

/** Nobody has as many programs. A program that asks for a grant before each of its requests gets no further. */
const MAX_GRANTS_OF_USER = 50
const MAX_GRANTS_OF_DOCUMENT = 20

interface NewGrant {
  code: AuthorizationCode
  client: Client
  nowMs: number
  /** It is the browser in which the user has allowed it. The request itself comes from the client. */
  device: Caller['device']
}

/** Other parts of the OAuth server read grants here. */
export interface Grants {
  rows: CachedRow<CachedGrant>
  /** Finds a grant that has not ended, by its row as it is now. */
  find(id: string): Promise<CachedGrant | undefined>
  /** Lists the live grants of a user, the last used first. */
  list(userId: string): Promise<Grant[]>
  listOfClient(clientId: string): Promise<Grant[]>
  /** Counts the live grants of a client, up to a number. */
  countOfClient(clientId: string, most: number): Promise<number>
  /** Ends a grant of a user, if it is there. */
  endOfUser(userId: string, which: { id: string }, reason: string, caller: Caller): Promise<unknown>
  /**
   * Makes the grant of a code, in the transaction that has locked the user and the session; it resolves to the grant as
   * it is there. Its end afterwards takes nothing back from the client that has made it.
   */
  create(transaction: Transaction, given: NewGrant, caller: Caller): Promise<CachedGrant>
}

interface GrantsDeps {
  db: Database
  clock: Clock
  grantIdleMs: number
  clientGrants: GrantEndings
  recordEvent: RecordEvent
  notify: Notify
}

export const createGrants = ({ db, clock, grantIdleMs, clientGrants, recordEvent, notify }: GrantsDeps): Grants => {
  const rows = cacheGrants(db)
  const { endGrants } = clientGrants

  const endAboveLimit = async (transaction: Transaction, grant: Grant, client: Client, caller: Caller) => {
    const { userId, id: newId, createdAtMs: nowMs } = grant
    const ofUser = await findGrantsAboveLimit(transaction, { userId, newId, nowMs, limit: MAX_GRANTS_OF_USER })
    const about = { userId, newId, nowMs, clientId: client.id, limit: MAX_GRANTS_OF_DOCUMENT }
    const ofClient = client.kind === 'document' ? await findGrantsAboveLimit(transaction, about) : []
    for (const id of new Set([...ofUser, ...ofClient])) await endGrants(transaction, { id }, 'grant_limit', caller)
  }

  /** Tells the user of the first grant to a client. */
  const tellOfFirst = async (transaction: Transaction, { code, client, nowMs, device }: NewGrant): Promise<void> => {
    const { userId } = code
    if (client.firstParty || !(await rememberGrant(transaction, { userId, clientId: client.id }, nowMs))) return
    const { name, kind } = client
    const host = hostOfClient(client, code.redirectUri)
    const about = { kind: 'application_connected', name, isNameVouched: kind === 'operator', host } as const
    await notify(transaction, userId, about, { device })
  }

  return {
    rows,

    async find(id) {
      const found = await rows.get(id)
      if (!found || isUsable(found.grant, clock)) return found
      // The session that it hangs on may have been renewed since the row was read.
      if (found.grant.sessionExpiresAtMs === undefined) return undefined
      rows.forget(id)
      const again = await rows.get(id)
      return again && isUsable(again.grant, clock) ? again : undefined
    },

    list: (userId) => findLiveGrants(db, { userId }, clock.now()),
    listOfClient: (clientId) => findLiveGrants(db, { clientId }, clock.now()),
    countOfClient: (clientId, most) => countGrantsOfClient(db, { clientId, nowMs: clock.now(), most }),
    endOfUser: (userId, which, reason, caller) =>
      db.inTransaction((transaction) => endGrants(transaction, { ...which, userId }, reason, caller)),

    async create(transaction, given, caller) {
      const { code, client } = given
      const grant = newGrant(given, grantIdleMs)
      await insertGrant(transaction, grant)
      const { id: grantId, userId, scopes } = grant
      const details = { grantId, clientId: client.id, clientName: client.name, scopes }
      await recordEvent(transaction, { type: 'grant.created', userId, sessionId: code.sessionId, details }, caller)
      await endAboveLimit(transaction, grant, client, caller)
      await tellOfFirst(transaction, given)
      return findNewGrant(transaction, grantId)
    },
  }
}

/** Names the host of the metadata document, or else of the redirect, in ASCII. */
const hostOfClient = ({ kind, id }: Client, redirectUri: string): string | undefined => {
  if (kind === 'document') return new URL(id).host
  return kindOfRedirect(redirectUri) === 'https' ? new URL(redirectUri).host : undefined
}

const newGrant = ({ code, client, nowMs }: NewGrant, idleMs: number): Grant => ({
  id: randomUUIDv7(),
  userId: code.userId,
  clientId: client.id,
  sessionId: hangsOnSession(client.type, code.scopes) ? code.sessionId : undefined,
  salt: randomToken(16),
  generation: 1,
  replacedAtMs: [],
  createdAtMs: nowMs,
  lastUsedAtMs: nowMs,
  expiresAtMs: nowMs + Math.min(idleMs, YEAR_MS),
  absoluteExpiresAtMs: nowMs + YEAR_MS,
  scopes: code.scopes,
  resource: code.resource,
  authenticatedAtMs: code.authenticatedAtMs,
  amr: code.amr,
})

const isUsable = (grant: GrantWithUser, clock: Clock): boolean => {
  const { expiresAtMs, sessionId, sessionExpiresAtMs = 0, user, isClientDisabled } = grant
  const nowMs = currentTimeMs(grant, clock)
  const hasSession = sessionId === undefined || sessionExpiresAtMs > nowMs
  return expiresAtMs > nowMs && hasSession && !user.disabled && !isClientDisabled
}
