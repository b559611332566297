import type { Queries } from '../../storage/database.ts'
import { inList, MAX_LIST } from '../user-list-store.ts'
import { toRecord, USER_ROW_COLUMNS, type UserRecord, type UserRow } from '../user-store.ts'
import type { TableRow } from '../../storage/rows.ts'

interface ShownIdentity {
  /** The provider's name in the settings. */
  provider: string
  issuer: string
  subject: string
  /** The provider's email of the user when they were connected. */
  email: string | undefined
}

/** The server API shows this of a user, beyond their row. */
export interface ShownFacts {
  /** When anything changed that is shown, but for `lastSeenAtMs`. */
  updatedAtMs: number
  /** The user was seen in a session that has not ended, or at a sign-in in a known browser; undefined: never. */
  lastSeenAtMs: number | undefined
  /** Oldest first. */
  identities: ShownIdentity[]
  /** `true`: there is an authenticator app. */
  hasCodes: boolean
  passkeys: number
}

export type ShownUserRecord = UserRecord & ShownFacts

interface DirectoryUserRow extends UserRow {
  updated_at: number
  session_seen_at: number | null
  browser_seen_at: number | null
  codes: number
  passkeys: number
}

type IdentityRow = Omit<TableRow<'identities'>, 'id' | 'created_at'>

const findIdentities = async (db: Queries, userIds: string[]): Promise<Map<string, IdentityRow[]>> => {
  const [where, ...values] = inList('user_id', userIds)
  const sql = `SELECT user_id, provider, issuer, subject, email FROM identities WHERE ${where} ORDER BY id`
  return Map.groupBy(await db.all<IdentityRow>(sql, ...values), (row) => row.user_id)
}

const lastSeenAt = ({ session_seen_at, browser_seen_at }: DirectoryUserRow): number | undefined =>
  Math.max(session_seen_at ?? 0, browser_seen_at ?? 0) || undefined

const findBatch = async (db: Queries, ids: string[]): Promise<ShownUserRecord[]> => {
  const [where, ...values] = inList('id', ids)
  const rows = await db.all<DirectoryUserRow>(
    `SELECT ${USER_ROW_COLUMNS}, updated_at,
       (SELECT MAX(last_seen_at) FROM sessions WHERE sessions.user_id = users.id) AS session_seen_at,
       (SELECT MAX(seen_at) FROM known_browsers WHERE known_browsers.user_id = users.id) AS browser_seen_at,
       (SELECT COUNT(*) FROM one_time_codes WHERE one_time_codes.user_id = users.id) AS codes,
       (SELECT COUNT(*) FROM passkeys WHERE passkeys.user_id = users.id) AS passkeys
     FROM users WHERE ${where}`,
    ...values,
  )
  const identities = await findIdentities(db, ids)
  return rows.map((row) => ({
    ...toRecord(row),
    updatedAtMs: row.updated_at,
    lastSeenAtMs: lastSeenAt(row),
    hasCodes: row.codes > 0,
    passkeys: row.passkeys,
    identities: (identities.get(row.id) ?? []).map(({ provider, issuer, subject, email }) => ({
      provider,
      issuer,
      subject,
      email: email ?? undefined,
    })),
  }))
}

/** Finds the users with these ids, in the same order; leaves out those who do not exist. */
export const findDirectoryUsers = async (db: Queries, ids: string[]): Promise<ShownUserRecord[]> => {
  const found = new Map<string, ShownUserRecord>()
  for (let start = 0; start < ids.length; start += MAX_LIST) {
    for (const user of await findBatch(db, ids.slice(start, start + MAX_LIST))) found.set(user.id, user)
  }
  return ids.flatMap((id) => found.get(id) ?? [])
}
