import type { Queries } from '../../storage/database.ts'
import { localPart, usernamesFor } from '../username.ts'
import { findUsersWith } from './import-store.ts'
import type { ImportedUser } from './imported-user.ts'

/** Whether a username belongs to a user of the file. */
export type IsWanted = (username: string) => boolean

/** The username of each user: their own, or one that is made from the email, which nobody has or wants. */
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
