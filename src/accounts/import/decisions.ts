import type { Queries } from '../../storage/database.ts'
import { findReservedEmails, findUsersWith } from './import-store.ts'
import type { ImportedIdentity } from './imported-identity.ts'
import { type ImportedUser, keptId } from './imported-user.ts'

/** What happens to a user of the file. `there`: there is such a user, who is left as they are. */
export type Decision = { kind: 'new' } | { kind: 'there'; id: string } | { kind: 'refused'; problem: string }

type ProviderAccount = Pick<ImportedIdentity, 'issuer' | 'subject'>

/** Finds at least those of these provider accounts that are connected. */
export type FindConnected = (db: Queries, accounts: readonly ProviderAccount[]) => Promise<ProviderAccount[]>

const identityKey = ({ issuer, subject }: ProviderAccount): string => JSON.stringify([issuer, subject])

interface Known {
  ids: Set<string>
  idsByEmail: Map<string, string>
  usernames: Set<string>
  reserved: Set<string>
  connected: Set<string>
}

/** Compares users with those in the database, in their order. */
export const decide = async (
  db: Queries,
  users: readonly ImportedUser[],
  { findConnected, nowMs }: { findConnected: FindConnected; nowMs: number },
): Promise<Decision[]> => {
  const emails = users.map(({ email }) => email.lower)
  const byId = await findUsersWith(
    db,
    'id',
    users.flatMap(({ sourceId }) => keptId(sourceId) ?? []),
  )
  const byUsername = await findUsersWith(
    db,
    'username',
    users.flatMap(({ username }) => username ?? []),
  )
  const known: Known = {
    ids: new Set(byId.map(({ id }) => id)),
    idsByEmail: new Map((await findUsersWith(db, 'email_lower', emails)).map((user) => [user.email_lower, user.id])),
    usernames: new Set(byUsername.map(({ username }) => username)),
    reserved: new Set(await findReservedEmails(db, emails, nowMs)),
    connected: new Set(
      (
        await findConnected(
          db,
          users.flatMap(({ identities }) => identities),
        )
      ).map(identityKey),
    ),
  }
  return users.map((user) => decideOne(user, known))
}

const decideOne = (user: ImportedUser, known: Known): Decision => {
  const id = keptId(user.sourceId)
  const there = id !== undefined && known.ids.has(id) ? id : known.idsByEmail.get(user.email.lower)
  if (there !== undefined) return { kind: 'there', id: there }
  const problems: string[] = []
  if (known.reserved.has(user.email.lower)) {
    problems.push('email: it is kept for the account that had it before, which can still take it back')
  }
  if (user.username !== undefined && known.usernames.has(user.username)) {
    problems.push(`username: another account has ${user.username} already`)
  }
  for (const [index, identity] of user.identities.entries()) {
    if (!known.connected.has(identityKey(identity))) continue
    problems.push(`identities[${index}]: this account at ${identity.provider} is connected to another user already`)
  }
  return problems.length > 0 ? { kind: 'refused', problem: problems.join('; ') } : { kind: 'new' }
}
