import { hash } from 'node:crypto'
import type { Queries } from '../storage/database.ts'
import { conditionsOf, type OwnerAndClient } from './grant-ending-store.ts'

/** A user allows a client these scopes at a resource. */
export interface Consent {
  userId: string
  clientId: string
  resource: string | undefined
  scopes: readonly string[]
}

/** The URL of a client and of a resource may have any character but a line feed. */
const idOf = ({ userId, clientId, resource = '' }: Consent): string =>
  hash('sha256', `${userId}\n${clientId}\n${resource}`, 'base64url')

const scopesIn = (row: { scopes: string } | undefined): string[] => row?.scopes.split(' ').filter(Boolean) ?? []

/** Tells whether the user has allowed all of it before. */
export const isRemembered = async (db: Pick<Queries, 'get'>, consent: Consent): Promise<boolean> => {
  const row = await db.get<{ scopes: string }>('SELECT scopes FROM consents WHERE id = ?', idOf(consent))
  const allowed = new Set(scopesIn(row))
  return row !== undefined && consent.scopes.every((scope) => allowed.has(scope))
}

/** Remembers a consent beside what the user has allowed before. */
export const remember = async (db: Queries, consent: Consent, nowMs: number): Promise<void> => {
  const { userId, clientId, resource = '', scopes } = consent
  const id = idOf(consent)
  const row = await db.get<{ scopes: string }>('SELECT scopes FROM consents WHERE id = ? FOR UPDATE', id)
  const all = [...new Set([...scopesIn(row), ...scopes])].join(' ')
  await db.run(
    `INSERT INTO consents (id, user_id, client_id, resource, scopes, created_at) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET scopes = excluded.scopes`,
    id,
    userId,
    clientId,
    resource,
    all,
    nowMs,
  )
}

/**
 * Remembers that a user has given a client a grant; it resolves to true the first time, until the consents of the user
 * are forgotten. The id of this row is the hash of user and client alone, which no consent has.
 */
export const rememberGrant = async (
  db: Pick<Queries, 'run'>,
  { userId, clientId }: Pick<Consent, 'userId' | 'clientId'>,
  nowMs: number,
): Promise<boolean> => {
  const changes = await db.run(
    `INSERT INTO consents (id, user_id, client_id, resource, scopes, created_at) VALUES (?, ?, ?, '', '', ?)
     ON CONFLICT (id) DO NOTHING`,
    hash('sha256', `${userId}\n${clientId}`, 'base64url'),
    userId,
    clientId,
    nowMs,
  )
  return changes > 0
}

/** Forgets what one user, or each, has allowed one client, or each, so that it has to ask again. */
export const forgetConsents = (db: Pick<Queries, 'run'>, of: OwnerAndClient): Promise<number> => {
  const { where, values } = conditionsOf(of)
  return db.run(`DELETE FROM consents WHERE ${where}`, ...values)
}
