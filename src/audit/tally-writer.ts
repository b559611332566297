import { hash } from 'node:crypto'
import type { Queries, Transaction } from '../storage/database.ts'
import type { CountedEvent } from './audit-event.ts'
import { detailsToJson } from './audit-row.ts'
import { type AuditTally, countInOwnRow, countInRestRow, type AuditRow } from './audit-store.ts'

export interface TallyWriterDeps {
  /** Whose account was tried: a user's by their id, as long as they exist, or that of an email in lower case. */
  findAccount: (
    queries: Queries,
    tried: { userId?: string | undefined; email?: string | undefined },
  ) => Promise<string | undefined>
  /** A keyed hash of an email of no known user. */
  pseudonymOf: (email: string) => string
}

/** What was counted, and is not in the database yet. */
export interface OpenTally {
  event: CountedEvent
  email: string | undefined
  network: string
  row: AuditRow
  count: number
  /** Whether it has no room among the others, whatever it is about. */
  isRest: boolean
}

const MINUTE_MS = 60_000
export const ROWS_OF_A_MINUTE = 100

/** The kind and the minute of a row. */
export const placeOf = ({ type, atMs }: AuditRow): string => `${Math.floor(atMs / MINUTE_MS)}/${type}`

/** Writes tallies in a transaction; resolves to what it has written. */
export const createTallyWriter = ({ findAccount, pseudonymOf }: TallyWriterDeps) => {
  const toAuditTally = async (queries: Queries, tally: OpenTally): Promise<AuditTally> => {
    const { event, email, network, row, count } = tally
    const userId = await findAccount(queries, { userId: event.userId, email })
    const account = userId === undefined && email !== undefined ? pseudonymOf(email) : undefined
    const details = detailsToJson({ count, ...event.details, account })
    return {
      row: { ...row, userId, details },
      count,
      place: placeOf(row),
      key: hash('sha256', `${userId ?? account ?? ''}/${network}`, 'base64url').slice(0, 16),
      detailsEnd: details.slice(`{"count":${count}`.length),
    }
  }

  const writeOne = async (transaction: Transaction, tally: OpenTally): Promise<WrittenTally> => {
    const own = tally.isRest ? undefined : await toAuditTally(transaction, tally)
    if (own && (await countInOwnRow(transaction, own, ROWS_OF_A_MINUTE))) return own
    const { count, row } = tally
    const rest = { ...row, ...NOTHING_KNOWN, details: JSON.stringify({ count }) }
    await countInRestRow(transaction, { row: rest, count, place: placeOf(row) })
    return { row: rest, count }
  }

  return async (transaction: Transaction, tallies: readonly OpenTally[]): Promise<WrittenTally[]> => {
    const written: WrittenTally[] = []
    for (const tally of tallies) written.push(await writeOne(transaction, tally))
    return written
  }
}

type WrittenTally = Pick<AuditTally, 'row' | 'count'>

const NOTHING_KNOWN = {
  userId: undefined,
  address: undefined,
  userAgent: undefined,
  requestId: undefined,
  sessionId: undefined,
}
