import { randomUUIDv7 } from 'node:crypto'
import type { RecordEvent } from '../../audit/audit-event.ts'
import type { Clock } from '../../lib/time.ts'
import { type Database, type Transaction, UniqueViolation } from '../../storage/database.ts'
import { endAll, type RemoveDeps } from '../change.ts'
import type { Passwords } from '../passwords/passwords.ts'
import type { NewUserRules } from '../registration.ts'
import type { UserRecord } from '../user-store.ts'
import { decide, type Decision, type FindConnected, freeUsernames, type IsWanted } from './decisions.ts'
import { deleteUsers, findReservedEmails, insertUsers } from './import-store.ts'
import type { ImportedIdentity } from './imported-identity.ts'
import { type ImportedUser, type ImportRules, keptId, requireImportedUser } from './imported-user.ts'

export type { ImportedUser } from './imported-user.ts'

/** Writes one event for each user, in the transaction of the change. */
type AnnounceAll = (
  transaction: Transaction,
  type: 'user.created' | 'user.deleted',
  ids: readonly string[],
) => Promise<void>

type Outcome = Exclude<Decision, { kind: 'new' }> | { kind: 'imported'; id: string }

interface WriteOptions {
  isWanted: IsWanted
  /** `true`: the application is told of the new users. */
  announces: boolean
}

/** Adds many users at once. */
export interface UserImport {
  /** Checks what a file says about one user; `unprocessable`, with the field. */
  read(value: unknown, options: Pick<ImportRules, 'withoutHashes' | 'isForeign'>): Promise<ImportedUser>
  /** Says what an import would do with each of these users. */
  check(users: readonly ImportedUser[]): Promise<Decision[]>
  /** Adds the users who are new, all in one transaction. Passwords are hashed before it begins. */
  write(users: readonly ImportedUser[], options: WriteOptions): Promise<Outcome[]>
  /** Gives the new users their places in the list of the server API, so that no request has to. Call it at the end. */
  place(): Promise<void>
  /** Deletes users who were just imported. */
  takeBack(ids: readonly string[], options: Pick<WriteOptions, 'announces'>): Promise<void>
}

interface Connection extends ImportedIdentity {
  userId: string
}

export interface UserImportDeps extends NewUserRules {
  db: Database
  clock: Clock
  passwords: Pick<Passwords, 'hash'>
  hashesAtOnce: number
  parsePasswordHash: (text: string) => unknown
  issuerOf: (provider: string) => string | undefined
  findConnected: FindConnected
  connect: (transaction: Transaction, identities: readonly Connection[], nowMs: number) => Promise<unknown>
  announceAll: AnnounceAll
  recordEvent: RecordEvent
  endGrants: RemoveDeps['endGrants']
  endSessions: RemoveDeps['endSessions']
}

/** Other requests may take a name between the look and the insert. */
const MAX_ATTEMPTS = 5
export const createUserImport = (deps: UserImportDeps): Omit<UserImport, 'place'> => {
  const { db, clock, findConnected, connect, announceAll, recordEvent } = deps

  const recordOf = (user: ImportedUser, username: string, hash: string | undefined): UserRecord => {
    const nowMs = clock.now()
    const canEnter = hash !== undefined || user.identities.length > 0
    return {
      id: keptId(user.sourceId) ?? randomUUIDv7(),
      email: user.email.shown,
      emailLower: user.email.lower,
      emailVerifiedAtMs: user.emailVerified ? nowMs : undefined,
      isSelfMade: false,
      // Nobody can sign in to it yet, as after an invitation.
      invitedAtMs: canEnter ? undefined : nowMs,
      username,
      name: user.name,
      language: user.language,
      passwordHash: hash ?? null,
      roles: user.roles,
      disabled: user.disabled,
      createdAtMs: user.createdAtMs ?? nowMs,
    }
  }

  const insertNew = async (
    transaction: Transaction,
    users: readonly ImportedUser[],
    { hashes, isWanted, announces }: WriteOptions & { hashes: Map<ImportedUser, string> },
  ): Promise<Outcome[]> => {
    const nowMs = clock.now()
    const decisions = await decide(transaction, users, { findConnected, nowMs })
    const fresh = users.filter((_, index) => decisions[index]?.kind === 'new')
    const records = new Map<ImportedUser, UserRecord>()
    for (const [user, username] of await freeUsernames(transaction, fresh, isWanted)) {
      records.set(user, recordOf(user, username, user.passwordHash ?? hashes.get(user)))
    }
    const rows = [...records.values()]
    await insertUsers(transaction, rows, nowMs)
    await requireUnreserved(transaction, rows, nowMs)
    const identities = [...records].flatMap(([user, { id }]) =>
      user.identities.map((identity) => ({ ...identity, userId: id })),
    )
    await connect(transaction, identities, nowMs)
    const ids = rows.map(({ id }) => id)
    if (announces) await announceAll(transaction, 'user.created', ids)
    if (ids.length > 0) await recordEvent(transaction, { type: 'import.added', details: { count: ids.length } })
    return users.map((user, index) => outcomeOf(decisions[index], records.get(user)))
  }

  return {
    read: (value, options) => requireImportedUser(value, { ...deps, ...options, nowMs: clock.now() }),

    check: (users) => decide(db, users, { findConnected, nowMs: clock.now() }),

    async write(users, options) {
      const hashes = await hashPasswords(users, deps)
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await db.inTransaction((transaction) => insertNew(transaction, users, { ...options, hashes }))
        } catch (error) {
          if (!(error instanceof UniqueViolation) || attempt === MAX_ATTEMPTS) throw error
        }
      }
    },

    takeBack: (ids, { announces }) =>
      db.inTransaction(async (transaction) => {
        // They may have signed in since.
        for (const id of ids) await endAll(transaction, id, deps)
        const deleted = await deleteUsers(transaction, ids)
        transaction.afterCommit(() => db.clearLog())
        if (announces && deleted > 0) await announceAll(transaction, 'user.deleted', ids)
        if (deleted > 0) await recordEvent(transaction, { type: 'import.taken_back', details: { count: deleted } })
      }),
  }
}

/** After the insert: only then has the unique index made sure that nobody is giving up one of the addresses. */
const requireUnreserved = async (transaction: Transaction, users: readonly UserRecord[], nowMs: number) => {
  const emails = users.map(({ emailLower }) => emailLower)
  const reserved = await findReservedEmails(transaction, emails, nowMs)
  if (reserved.length > 0) throw new UniqueViolation(['users.email_lower'], undefined)
}

const outcomeOf = (decision: Decision | undefined, record: UserRecord | undefined): Outcome => {
  if (decision && decision.kind !== 'new') return decision
  if (record) return { kind: 'imported', id: record.id }
  return { kind: 'refused', problem: 'username: no free one can be made from the email, so the file has to give one' }
}

interface HashPasswordsDeps {
  db: Database
  clock: Clock
  passwords: Pick<Passwords, 'hash'>
  /** No more are begun than run at the same time: the queue may have no places. */
  hashesAtOnce: number
  findConnected: FindConnected
}

/** Hashes the plain passwords of the users who are new: those who are there already cost nothing. */
const hashPasswords = async (
  users: readonly ImportedUser[],
  { db, clock, passwords, hashesAtOnce, findConnected }: HashPasswordsDeps,
): Promise<Map<ImportedUser, string>> => {
  const hashes = new Map<ImportedUser, string>()
  const plain = users.filter(({ password }) => password !== undefined)
  if (plain.length === 0) return hashes
  const decisions = await decide(db, plain, { findConnected, nowMs: clock.now() })
  const fresh = plain.filter((_, index) => decisions[index]?.kind === 'new')
  for (let start = 0; start < fresh.length; start += hashesAtOnce) {
    const together = fresh.slice(start, start + hashesAtOnce)
    const made = await Promise.all(together.map(({ password = '' }) => passwords.hash(password)))
    for (const [index, user] of together.entries()) hashes.set(user, made[index] ?? '')
  }
  return hashes
}
