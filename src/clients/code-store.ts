import { insertRow, type Queries } from '../storage/database.ts'
import type { AuthorizationCode } from './authorization-code.ts'

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
