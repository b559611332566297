import { hash } from 'node:crypto'
import { AppError } from '../lib/errors.ts'
import type { Database, Queries, Transaction } from '../storage/database.ts'
import { detailsToJson } from './audit-row.ts'
import { type AuditRow, type AuditTally, countInOwnRow, countInRestRow } from './audit-store.ts'
import { type OpenTally, placeOf, ROWS_OF_A_MINUTE } from './open-tallies.ts'

export interface TallyWriterDeps {
  db: Database
  /** Whose account was tried: a user's by their id, as long as they exist, or that of an email in lower case. */
  findAccount: (
    queries: Queries,
    tried: { userId?: string | undefined; email?: string | undefined },
  ) => Promise<string | undefined>
}

export interface Outcome {
  written: WrittenTally[]
  /** What is not written yet, since the database is away. */
  left: OpenTally[]
  away?: { error: unknown } | undefined
  /** What the database refused. To try it again without end would keep all others from being written. */
  refused?: { count: number; error: unknown } | undefined
}

/** So few that a slow database, too, writes them within the timeout of an operation. */
const MOST_AT_ONCE = 50

/** Writes tallies in few transactions; where one is refused, in one for each half, down to the tally at fault. */
export const createTallyWriter = ({ db, findAccount }: TallyWriterDeps) => {
  const toAuditTally = async (queries: Queries, tally: OpenTally): Promise<AuditTally> => {
    const { tried, network, row, count } = tally
    const userId = await findAccount(queries, { userId: tried.userId, email: tried.emailLower })
    const account = userId === undefined ? tally.account : undefined
    const details = detailsToJson({ count, ...tally.details, account })
    return {
      row: { ...row, userId, details },
      count,
      place: placeOf(row),
      key: hash('sha256', `${userId ?? account ?? ''}/${network}`, 'base64url').slice(0, 16),
    }
  }

  const writeOne = async (transaction: Transaction, tally: OpenTally): Promise<WrittenTally> => {
    const { count, row, isRest } = tally
    const own = isRest
      ? undefined
      : await countInOwnRow(transaction, await toAuditTally(transaction, tally), ROWS_OF_A_MINUTE)
    return partOf(own ?? (await countInRestRow(transaction, { row, count, place: placeOf(row) })), count)
  }

  const writePart = async (transaction: Transaction, part: readonly OpenTally[]): Promise<WrittenTally[]> => {
    const written: WrittenTally[] = []
    for (const tally of part) written.push(await writeOne(transaction, tally))
    return written
  }

  return async (tallies: OpenTally[]): Promise<Outcome> => {
    const outcome: Outcome = { written: [], left: [] }
    const parts = split(tallies, MOST_AT_ONCE)
    for (let part = parts.pop(); part; part = parts.pop()) {
      try {
        const each = part
        outcome.written.push(...(await db.inTransaction((transaction) => writePart(transaction, each))))
      } catch (error) {
        if (isAway(error)) return { ...outcome, left: [...parts.flat(), ...part], away: { error } }
        if (part.length > 1) parts.push(...split(part, Math.ceil(part.length / 2)))
        else outcome.refused = { count: (outcome.refused?.count ?? 0) + (part[0]?.count ?? 0), error }
      }
    }
    return outcome
  }
}

const isAway = (error: unknown): boolean => error instanceof AppError && error.code === 'unavailable'

const split = (tallies: OpenTally[], length: number): OpenTally[][] =>
  Array.from({ length: Math.ceil(tallies.length / length) }, (_, index) =>
    tallies.slice(index * length, (index + 1) * length),
  )

interface WrittenTally {
  /** As it is stored, but that its details have the count of this part. */
  row: AuditRow
  count: number
}

const partOf = (row: AuditRow, count: number): WrittenTally => ({
  row: { ...row, details: JSON.stringify({ ...JSON.parse(row.details), count }) },
  count,
})
