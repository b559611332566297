import type { WhichGrants } from '../sessions/client-grants.ts'
import { findAll } from '../lib/sql-values.ts'
import { insertRow, type Queries } from '../storage/database.ts'

// What ends grants is loaded with every start, and needs no other file of clients but `grant-endings.ts`.

export interface EndedGrant {
  id: string
  userId: string
  clientId: string
}

export type OwnerAndClient = Pick<WhichGrants, 'userId' | 'clientId'>

const CONDITIONS = {
  id: 'id = ?',
  userId: 'user_id = ?',
  clientId: 'client_id = ?',
  exceptSessionId: "COALESCE(session_id, '') <> ?",
} satisfies Record<keyof WhichGrants, string>

/** No condition at all is an error. */
export const conditionsOf = (which: WhichGrants) => {
  const names = (Object.keys(CONDITIONS) as (keyof WhichGrants)[]).filter((name) => which[name] !== undefined)
  if (names.length === 0) throw new TypeError('Nothing says which grants end.')
  const values = names.map((name) => which[name]).filter((value) => value !== undefined)
  return { where: names.map((name) => CONDITIONS[name]).join(' AND '), values }
}

const deletion = (where: string): string =>
  `DELETE FROM grants WHERE ${where} RETURNING id, user_id AS "userId", client_id AS "clientId"`

/** Deletes the grants for which all conditions hold. */
export const deleteGrants = (db: Queries, which: WhichGrants): Promise<EndedGrant[]> => {
  const { where, values } = conditionsOf(which)
  return db.all(deletion(where), ...values)
}

/** Deletes what hangs on sessions, in the transaction that has deleted these. */
export const deleteGrantsOfSessions = (db: Queries, sessionIds: readonly string[]): Promise<EndedGrant[]> =>
  findAll(sessionIds, (list, piece) => db.all<EndedGrant>(deletion(`session_id IN ${list}`), ...piece))

export const deleteExpiredGrants = (db: Queries, nowMs: number, limit: number): Promise<EndedGrant[]> =>
  db.all(deletion('id IN (SELECT id FROM grants WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)'), nowMs, limit)

/** Deletes the codes of a user, of a client, or of both: a code of before would be traded for a grant of afterwards. */
export const deleteCodes = (db: Pick<Queries, 'run'>, of: OwnerAndClient): Promise<number> => {
  const { where, values } = conditionsOf(of)
  return db.run(`DELETE FROM authorization_codes WHERE ${where}`, ...values)
}

export const deleteOldestGrants = (db: Queries, limit: number): Promise<EndedGrant[]> =>
  db.all(deletion('id IN (SELECT id FROM grants ORDER BY id LIMIT ?)'), limit)

export const updateSessionOfGrants = (db: Queries, sessionId: string, successorId: string): Promise<{ id: string }[]> =>
  db.all('UPDATE grants SET session_id = ? WHERE session_id = ? RETURNING id', successorId, sessionId)

interface EndingClient {
  id: string
  name: string
  backchannel_logout_uri: string | null
}

export type EndingClients = ReadonlyMap<string, EndingClient>

export const findEndingClients = async (db: Queries, ids: readonly string[]): Promise<EndingClients> => {
  const rows = await findAll([...new Set(ids)], (list, piece) =>
    db.all<EndingClient>(`SELECT id, name, backchannel_logout_uri FROM clients WHERE id IN ${list}`, ...piece),
  )
  return new Map(rows.map((row) => [row.id, row]))
}

interface NewLogoutToken {
  /** It is the claim `jti`. */
  id: string
  clientId: string
  uri: string
  userId: string
  grantId: string
  createdAtMs: number
}

export const insertLogoutToken = (db: Pick<Queries, 'run'>, token: NewLogoutToken): Promise<number> =>
  insertRow(db, 'logout_tokens', {
    id: token.id,
    client_id: token.clientId,
    uri: token.uri,
    user_id: token.userId,
    grant_id: token.grantId,
    created_at: token.createdAtMs,
    attempts: 0,
    next_attempt_at: token.createdAtMs,
  })
