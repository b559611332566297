import { columnsOf, insertRow, type Queries, type TableRow, type Transaction } from '../storage/database.ts'
import type { AuthorizationCode } from './authorization-code.ts'

type CodeRow = TableRow<'authorization_codes'>

const SELECT = `SELECT ${columnsOf('authorization_codes')} FROM authorization_codes WHERE id = ?`

const toCode = (row: CodeRow): AuthorizationCode => ({
  clientId: row.client_id,
  userId: row.user_id,
  sessionId: row.session_id ?? undefined,
  grantId: row.grant_id ?? undefined,
  redirectUri: row.redirect_uri,
  challenge: row.challenge,
  scopes: row.scopes ? row.scopes.split(' ') : [],
  resource: row.resource ?? undefined,
  nonce: row.nonce ?? undefined,
  authenticatedAtMs: row.authenticated_at ?? undefined,
  amr: (row.amr ? row.amr.split(' ') : []) as AuthorizationCode['amr'],
  expiresAtMs: row.expires_at,
  usedAtMs: row.used_at ?? undefined,
})

/** `id` is the hash of the code. */
export const insertCode = (db: Pick<Queries, 'run'>, id: string, code: AuthorizationCode): Promise<number> =>
  insertRow(db, 'authorization_codes', {
    id,
    client_id: code.clientId,
    user_id: code.userId,
    session_id: code.sessionId ?? null,
    redirect_uri: code.redirectUri,
    challenge: code.challenge,
    scopes: code.scopes.join(' '),
    resource: code.resource ?? null,
    nonce: code.nonce ?? null,
    authenticated_at: code.authenticatedAtMs ?? null,
    amr: code.amr.length > 0 ? code.amr.join(' ') : null,
    expires_at: code.expiresAtMs,
  })

export const findCode = async (db: Pick<Queries, 'get'>, id: string): Promise<AuthorizationCode | undefined> => {
  const row = await db.get<CodeRow>(SELECT, id)
  return row && toCode(row)
}

/** Finds a code and keeps it as it is until the transaction ends. */
export const lockCode = async (transaction: Transaction, id: string): Promise<AuthorizationCode | undefined> => {
  const row = await transaction.get<CodeRow>(`${SELECT} FOR UPDATE`, id)
  return row && toCode(row)
}

export const updateUsedCode = (
  db: Pick<Queries, 'run'>,
  id: string,
  { usedAtMs, grantId }: { usedAtMs: number; grantId: string },
): Promise<number> =>
  db.run('UPDATE authorization_codes SET used_at = ?, grant_id = ? WHERE id = ?', usedAtMs, grantId, id)

export const deleteCodesBefore = (db: Pick<Queries, 'run'>, expiredBeforeMs: number, limit: number): Promise<number> =>
  db.run(
    `DELETE FROM authorization_codes WHERE id IN
     (SELECT id FROM authorization_codes WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)`,
    expiredBeforeMs,
    limit,
  )
