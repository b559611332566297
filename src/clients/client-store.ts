import {
  columnsOf,
  type Database,
  insertRow,
  type NewRow,
  type Queries,
  type TableRow,
  type Transaction,
} from '../storage/database.ts'
import type { Client, ClientKind, ClientSecrets, ClientType, DocumentTimes } from './client.ts'

type ClientRow = TableRow<'clients'>

type TimedRow = ClientRow & { read_at: number | null }

const COLUMNS = columnsOf('clients')
const SELECT = `SELECT ${COLUMNS}, server_time() AS read_at FROM clients`

/** A client as it is stored, with what nobody is shown. */
export interface StoredClient {
  client: Client
  secrets: ClientSecrets
  document: DocumentTimes | undefined
  /** The time of the database's server as it was read; undefined where there is no server. */
  readAtMs: number | undefined
}

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

const toStored = (row: TimedRow): StoredClient => ({
  client: toClient(row),
  secrets: {
    secretHash: row.secret_hash ?? undefined,
    formerSecretHash: row.former_secret_hash ?? undefined,
    formerUntilMs: row.former_until ?? undefined,
  },
  document:
    row.fetched_at === null || row.fresh_until === null
      ? undefined
      : { fetchedAtMs: row.fetched_at, freshUntilMs: row.fresh_until },
  readAtMs: row.read_at ?? undefined,
})

/** The row that every request of a client asks for. */
export const cacheClients = (db: Database) =>
  db.cachedRow<TimedRow, StoredClient>({ select: SELECT, key: 'id', mapRow: toStored })

const toRow = (client: Client): NewRow<'clients'> => ({
  id: client.id,
  kind: client.kind,
  type: client.type,
  name: client.name,
  redirect_uris: JSON.stringify(client.redirectUris),
  logout_uris: JSON.stringify(client.logoutUris),
  backchannel_logout_uri: client.backchannelLogoutUri ?? null,
  scopes: client.scopes === undefined ? null : JSON.stringify(client.scopes),
  resources: JSON.stringify(client.resources),
  first_party: client.firstParty ? 1 : 0,
  require_mfa: client.requireMfa ? 1 : 0,
  created_at: client.createdAtMs,
  used_at: client.usedAtMs ?? null,
  disabled_at: client.disabledAtMs ?? null,
})

export const insertClient = (
  db: Pick<Queries, 'run'>,
  client: Client,
  { secretHash, document }: { secretHash?: string | undefined; document?: DocumentTimes | undefined } = {},
): Promise<number> =>
  insertRow(db, 'clients', {
    ...toRow(client),
    secret_hash: secretHash ?? null,
    fetched_at: document?.fetchedAtMs ?? null,
    fresh_until: document?.freshUntilMs ?? null,
  })

/** Finds a client and keeps it as it is until the transaction ends. */
export const lockClient = async (transaction: Transaction, id: string): Promise<StoredClient | undefined> => {
  const row = await transaction.get<TimedRow>(`${SELECT} WHERE id = ? FOR UPDATE`, id)
  return row && toStored(row)
}

/** Finds the clients, the newest first; those that come after one, if it is named. */
export const findClients = async (db: Pick<Queries, 'all'>, most: number, after?: string): Promise<Client[]> => {
  const where = after === undefined ? '' : ' WHERE (created_at, id) < (SELECT created_at, id FROM clients WHERE id = ?)'
  const sql = `SELECT ${COLUMNS} FROM clients${where} ORDER BY created_at DESC, id DESC LIMIT ?`
  const rows = await db.all<ClientRow>(sql, ...(after === undefined ? [] : [after]), most)
  return rows.map(toClient)
}

/** Finds the clients with a name, the newest first, for commands. */
export const findClientsNamed = async (db: Pick<Queries, 'all'>, name: string): Promise<Client[]> => {
  const rows = await db.all<ClientRow>(
    `SELECT ${COLUMNS} FROM clients WHERE name = ? AND kind = 'operator' ORDER BY id DESC`,
    name,
  )
  return rows.map(toClient)
}

/** Writes what can change of a client: all but its id, kind, type, secrets and times. */
export const updateClient = (db: Pick<Queries, 'run'>, client: Client): Promise<number> => {
  const row = toRow(client)
  return db.run(
    `UPDATE clients SET name = ?, redirect_uris = ?, logout_uris = ?, backchannel_logout_uri = ?, scopes = ?,
     resources = ?, first_party = ?, require_mfa = ?, disabled_at = ? WHERE id = ?`,
    row.name,
    row.redirect_uris,
    row.logout_uris,
    row.backchannel_logout_uri ?? null,
    row.scopes ?? null,
    row.resources,
    row.first_party,
    row.require_mfa,
    row.disabled_at ?? null,
    row.id,
  )
}

export const updateDocumentTimes = (
  db: Pick<Queries, 'run'>,
  id: string,
  { fetchedAtMs, freshUntilMs }: DocumentTimes,
): Promise<number> =>
  db.run('UPDATE clients SET fetched_at = ?, fresh_until = ? WHERE id = ?', fetchedAtMs, freshUntilMs, id)

/** The former secret stays good until a time. */
export const replaceSecret = (
  db: Pick<Queries, 'run'>,
  id: string,
  { secretHash, formerUntilMs }: { secretHash: string; formerUntilMs: number },
): Promise<number> =>
  db.run(
    'UPDATE clients SET former_secret_hash = secret_hash, former_until = ?, secret_hash = ? WHERE id = ?',
    formerUntilMs,
    secretHash,
    id,
  )

/** Writes that a client was given a code, once a minute at most. */
export const updateClientUse = (db: Pick<Queries, 'run'>, id: string, nowMs: number): Promise<number> =>
  db.run('UPDATE clients SET used_at = ? WHERE id = ? AND COALESCE(used_at, 0) < ?', nowMs, id, nowMs - 60_000)

/** Tells whether a client exists and is not disabled; it stays so until the transaction ends. */
export const isClientEnabled = async (transaction: Transaction, id: string): Promise<boolean> =>
  (await transaction.get('SELECT id FROM clients WHERE id = ? AND disabled_at IS NULL FOR SHARE', id)) !== undefined

export const deleteClient = (db: Pick<Queries, 'run'>, id: string): Promise<number> =>
  db.run('DELETE FROM clients WHERE id = ?', id)

const UNUSED = "kind = 'registered' AND used_at IS NULL"

/** Deletes registered clients that were never given a code, but for the newest ones. */
export const deleteUnusedButNewest = (db: Pick<Queries, 'run'>, kept: number): Promise<number> =>
  db.run(
    `DELETE FROM clients WHERE ${UNUSED} AND id IN
     (SELECT id FROM clients WHERE ${UNUSED} ORDER BY created_at DESC, id DESC LIMIT 1000000 OFFSET ?)`,
    kept,
  )

/** Deletes some registered clients that were never given a code, and were made before a time. */
export const deleteUnusedBefore = (db: Pick<Queries, 'run'>, beforeMs: number, limit: number): Promise<number> =>
  db.run(
    `DELETE FROM clients WHERE ${UNUSED} AND id IN
     (SELECT id FROM clients WHERE ${UNUSED} AND created_at <= ? ORDER BY created_at LIMIT ?)`,
    beforeMs,
    limit,
  )

/** Finds the clients, not disabled, that nobody but themselves has made. */
export const findUncheckedClients = async (db: Pick<Queries, 'all'>): Promise<Client[]> => {
  const rows = await db.all<ClientRow>(
    `SELECT ${COLUMNS} FROM clients WHERE kind <> 'operator' AND disabled_at IS NULL ORDER BY id`,
  )
  return rows.map(toClient)
}
