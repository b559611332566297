import { toJsonText } from '../../lib/control-characters.ts'
import { toTimestamp } from '../../lib/time.ts'
import type { Database, Queries } from '../../storage/database.ts'
import { countUsers, findUsers } from '../user-list-store.ts'
import type { UserRecord } from '../user-store.ts'

type Reads = Pick<Queries, 'all' | 'get'>

interface Connection {
  userId: string
  provider: string
  issuer: string
  subject: string
  email: string | undefined
}

/** These are only named, and not exported. */
interface Factors {
  userId: string
  /** 1 with an authenticator app. */
  codes: number
  passkeys: number
}

export interface UserExportDeps {
  db: Database
  /** The connections of the users from one id up to another. */
  findConnections: (db: Reads, firstId: string, lastId: string) => Promise<Connection[]>
  /** The second factors and passkeys of the users from one id up to another. */
  findFactors: (db: Reads, firstId: string, lastId: string) => Promise<Factors[]>
  countUsersWithSessions: (db: Reads) => Promise<number>
}

/** How many users there are, and how many of them lose something that is not exported. */
export interface ExportSummary {
  users: number
  withSessions: number
  withCodes: number
  withPasskeys: number
}

interface ExportOptions {
  withHashes: boolean
  /** Called with each page of lines, and how many users there are in all. */
  onPage: (lines: string, users: number, total: number) => Promise<void>
}

/** Writes all users as lines that an import takes: those of one moment, in the order of their ids. */
export type UserExport = (options: ExportOptions) => Promise<ExportSummary>

const PAGE_USERS = 500

export const createUserExport =
  ({ db, findConnections, findFactors, countUsersWithSessions }: UserExportDeps): UserExport =>
  ({ withHashes, onPage }) =>
    db.inSnapshot(async (snapshot) => {
      const total = await countUsers(snapshot)
      let [withCodes, withPasskeys] = [0, 0]
      for (let last = ''; ; ) {
        const users = await findUsers(snapshot, { after: last, limit: PAGE_USERS })
        const [first] = users
        if (!first) {
          return { users: total, withSessions: await countUsersWithSessions(snapshot), withCodes, withPasskeys }
        }
        last = users.at(-1)?.id ?? last
        const connections = Map.groupBy(await findConnections(snapshot, first.id, last), ({ userId }) => userId)
        const factors = await findFactors(snapshot, first.id, last)
        withCodes += factors.filter(({ codes }) => codes > 0).length
        withPasskeys += factors.filter(({ passkeys }) => passkeys > 0).length
        const factorsOf = new Map(factors.map((each) => [each.userId, each]))
        const lines = users.map((user) =>
          toLine(user, { connections: connections.get(user.id) ?? [], factors: factorsOf.get(user.id), withHashes }),
        )
        await onPage(lines.join(''), users.length, total)
      }
    })

interface LineOptions {
  connections: Connection[]
  factors: Factors | undefined
  withHashes: boolean
}

const toLine = (user: UserRecord, { connections, factors, withHashes }: LineOptions): string => {
  const line = {
    id: user.id,
    email: user.email,
    username: user.username,
    name: user.name ?? undefined,
    language: user.language ?? undefined,
    roles: user.roles,
    password_hash: withHashes ? (user.passwordHash ?? undefined) : undefined,
    email_verified: user.emailVerifiedAtMs !== undefined,
    disabled: user.disabled,
    created_at: toTimestamp(user.createdAtMs),
    identities:
      connections.length > 0
        ? connections.map(({ provider, issuer, subject, email }) => ({ provider, issuer, subject, email }))
        : undefined,
    // Only named, so that an import can say who loses them.
    second_factors: factors?.codes ? ['totp'] : undefined,
    passkeys: factors?.passkeys || undefined,
  }
  return `${toJsonText(line)}\n`
}
