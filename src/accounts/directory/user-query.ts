import { createHash } from 'node:crypto'

/** Which users to list. What is undefined does not count; all that is given must hold. */
export interface UserQuery {
  /** At most 100. Those that no user has are left out. */
  ids?: readonly string[] | undefined
  /** In the form that is compared. */
  emailLower?: string | undefined
  username?: string | undefined
  role?: string | undefined
  disabled?: boolean | undefined
  /** In the email or the username, in any case. */
  search?: string | undefined
  /** Changed, or created, at this time or later, in milliseconds since 1970. */
  updatedSinceMs?: number | undefined
}

/** A page of a list. */
export interface PageRequest extends UserQuery {
  /** 1 to 1000. */
  limit: number
  /** As an earlier page of the same list gave it; undefined: the first page. */
  cursor?: string | undefined
}

/** What stands in a cursor for the query, so that it is of no use with another one. */
const hashOf = ({ ids, emailLower, username, role, disabled, search, updatedSinceMs }: UserQuery): string => {
  const query = [ids && [...new Set(ids)].sort(), emailLower, username, role, disabled, search, updatedSinceMs]
  return createHash('sha256').update(JSON.stringify(query)).digest('base64url').slice(0, 16)
}

/** Where a list goes on: after this position. */
export const toCursor = (position: number, query: UserQuery): string =>
  Buffer.from(`${position} ${hashOf(query)}`).toString('base64url')

/** The position after which a list goes on; undefined when the cursor is of another list, or of none. */
export const readCursor = (cursor: string, query: UserQuery): number | undefined => {
  const position = Number(/^\d{1,15}/.exec(Buffer.from(cursor, 'base64url').toString())?.[0])
  return cursor === toCursor(position, query) ? position : undefined
}
