import { randomUUIDv7 } from 'node:crypto'
import { findAll, inPieces } from '../lib/sql-values.ts'
import { uuidAfter } from '../lib/uuid.ts'
import { insertRows, type Queries } from '../storage/database.ts'
import { IDENTITY_COLUMNS, type Identity, type IdentityRow, toIdentity, toIdentityRow } from './identity-store.ts'

/** Issuer and subject identify an account at a provider. */
type ProviderAccount = Pick<Identity, 'issuer' | 'subject'>

/** Finds the provider accounts with one of these subjects that are connected to any user. */
export const findConnected = (db: Queries, accounts: readonly ProviderAccount[]): Promise<ProviderAccount[]> => {
  const subjects = [...new Set(accounts.map(({ subject }) => subject))]
  return findAll(subjects, (list, piece) =>
    db.all<ProviderAccount>(`SELECT issuer, subject FROM identities WHERE subject IN ${list}`, ...piece),
  )
}

/** The connections of a user are listed in the order of their ids, which shall be the one that was given. */
const idsInOrder = (identities: readonly Pick<Identity, 'userId'>[]): string[] => {
  const ids: string[] = []
  for (const [index, { userId }] of identities.entries()) {
    const isOfSameUser = identities[index - 1]?.userId === userId
    ids.push(isOfSameUser ? uuidAfter(ids[index - 1] ?? '') : randomUUIDv7())
  }
  return ids
}

/** Inserts them for new users, in a transaction; it throws `UniqueViolation` as `insertIdentity` does. */
export const insertIdentities = async (
  db: Queries,
  identities: readonly Omit<Identity, 'id' | 'createdAtMs'>[],
  nowMs: number,
): Promise<void> => {
  const ids = idsInOrder(identities)
  const rows = identities.map((identity, index) =>
    toIdentityRow({ ...identity, id: ids[index] ?? '', createdAtMs: nowMs }),
  )
  for (const piece of inPieces(rows)) await insertRows(db, 'identities', piece)
}

/** Finds the connections of the users from one id up to another, in the order of the users. */
export const findIdentitiesBetween = async (
  db: Pick<Queries, 'all'>,
  firstId: string,
  lastId: string,
): Promise<Identity[]> => {
  const rows = await db.all<IdentityRow>(
    `SELECT ${IDENTITY_COLUMNS} FROM identities WHERE user_id >= ? AND user_id <= ? ORDER BY user_id, id`,
    firstId,
    lastId,
  )
  return rows.map(toIdentity)
}
