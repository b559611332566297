import { columnsOf, type Queries, type TableRow } from '../storage/database.ts'
import type { Client, ClientKind, ClientType } from './client.ts'

type ClientRow = TableRow<'clients'>

const COLUMNS = columnsOf('clients')

const toClient = (row: ClientRow): Client => ({
  id: row.id,
  kind: row.kind as ClientKind,
  type: row.type as ClientType,
  name: row.name,
  redirectUris: JSON.parse(row.redirect_uris) as string[],
  logoutUris: JSON.parse(row.logout_uris) as string[],
  backchannelLogoutUri: row.backchannel_logout_uri ?? undefined,
  scopes: row.scopes === null ? undefined : (JSON.parse(row.scopes) as string[]),
  resources: JSON.parse(row.resources) as string[],
  firstParty: row.first_party === 1,
  requireMfa: row.require_mfa === 1,
  createdAtMs: row.created_at,
  usedAtMs: row.used_at ?? undefined,
  disabledAtMs: row.disabled_at ?? undefined,
})

export const findClient = async (db: Pick<Queries, 'get'>, id: string): Promise<Client | undefined> => {
  const row = await db.get<ClientRow>(`SELECT ${COLUMNS} FROM clients WHERE id = ?`, id)
  return row && toClient(row)
}
