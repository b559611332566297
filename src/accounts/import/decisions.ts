import type { Queries } from '../../storage/database.ts'
import { localPart, usernamesFor } from '../username.ts'
import { findReservedEmails, findUsersWith } from './import-store.ts'
import type { ImportedIdentity } from './imported-identity.ts'
import { type ImportedUser, keptId } from './imported-user.ts'

/** An import decides this about a user of the file. `there`: there is such a user, who is left as they are. */
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
  const identities = users.flatMap((user) => user.identities)
  const usernames = users.flatMap(({ username }) => username ?? [])
  const ids = users.flatMap(({ sourceId }) => keptId(sourceId) ?? [])
  // What can refuse a user is looked up first: when another import adds them in the meantime, they are there.
  const connected = new Set((await findConnected(db, identities)).map(identityKey))
  const reserved = new Set(await findReservedEmails(db, emails, nowMs))
  const byUsername = await findUsersWith(db, 'username', usernames)
  const byEmail = await findUsersWith(db, 'email_lower', emails)
  const byId = await findUsersWith(db, 'id', ids)
  const known: Known = {
    ids: new Set(byId.map(({ id }) => id)),
    idsByEmail: new Map(byEmail.map((user) => [user.email_lower, user.id])),
    usernames: new Set(byUsername.map(({ username }) => username)),
    reserved,
    connected,
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

/** Tells whether a username belongs to a user of the file. */
export type IsWanted = (username: string) => boolean

/** Gives each user their username: their own, or one that is made from the email, which nobody has or wants. */
export const freeUsernames = async (
  db: Queries,
  users: readonly ImportedUser[],
  isWanted: IsWanted,
): Promise<Map<ImportedUser, string>> => {
  const found = new Map<ImportedUser, string>()
  const taken = new Set<string>()
  for (const user of users) if (user.username !== undefined) found.set(user, user.username)
  let searching = users.flatMap((user) =>
    user.username === undefined ? [{ user, candidates: usernamesFor(localPart(user.email.lower)) }] : [],
  )
  while (searching.length > 0) {
    const tried = searching.flatMap((search) => {
      const candidate = nextFree(search.candidates, (name) => taken.has(name) || isWanted(name))
      if (candidate !== undefined) taken.add(candidate)
      return candidate === undefined ? [] : [{ ...search, candidate }]
    })
    const names = tried.map(({ candidate }) => candidate)
    const others = new Set((await findUsersWith(db, 'username', names)).map(({ username }) => username))
    for (const { user, candidate } of tried) if (!others.has(candidate)) found.set(user, candidate)
    searching = tried.filter(({ candidate }) => others.has(candidate))
  }
  return found
}

const nextFree = (candidates: Iterator<string>, isTaken: (name: string) => boolean): string | undefined => {
  for (;;) {
    const { value, done } = candidates.next()
    if (done) return undefined
    if (!isTaken(value)) return value
  }
}
