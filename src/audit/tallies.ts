import { hash } from 'node:crypto'
import type { Caller } from '../lib/caller.ts'
import { readEmail } from '../lib/email-address.ts'
import { AppError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { monotonicClock } from '../lib/time.ts'
import type { Database, Queries, Transaction } from '../storage/database.ts'
import type { CountedEvent } from './audit-event.ts'
import { type AuditRow, detailsToJson } from './audit-row.ts'
import { type AuditTally, countInOwnRow, countInRestRow } from './audit-store.ts'
import { createOpenTallies, type OpenTally, placeOf, ROWS_OF_A_MINUTE } from './open-tallies.ts'

interface TallyWriterDeps {
  db: Database
  /** Finds the account that was tried: by the id of a user, as long as they exist, or by an email in lower case. */
  findAccount: (
    queries: Queries,
    tried: { userId?: string | undefined; email?: string | undefined },
  ) => Promise<string | undefined>
}

export interface TalliesDeps extends TallyWriterDeps {
  log: Log
  /** Hashes an email of no known user, or what else was entered for one, with a key. */
  pseudonymOf: (entered: string) => string
  /** Makes the row of an event, with its id and its time. */
  newRow: (event: CountedEvent, caller: Caller | undefined) => AuditRow
  /** Called after the commit, with the row as it is stored, but with the count of this part in its details and beside. */
  onWritten: (row: AuditRow, count: number) => void
}

const LEAST_PAUSE_MS = 100
/** A flood keeps one connection busy for at most a tenth of the time, unless that would be a longer pause. */
const PAUSE_FACTOR = 10
const MOST_PAUSE_MS = 2000

/**
 * Counts events of which there can be a flood, such as failed logins. Their requests wait for nothing: this process
 * adds up, and writes a moment later. Each account, network and minute has a row, and past a hundred rows of a kind and
 * minute, one row holds the count (docs/audit.md). What a killed process has counted in its last moment is lost.
 */
export const createTallies = (deps: TalliesDeps) => {
  const { log, pseudonymOf, newRow, onWritten } = deps
  const open = createOpenTallies()
  const write = createTallyWriter(deps)
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> | undefined
  let earliestMs = 0
  let isAway = false

  const report = ({ away, refused }: Outcome): void => {
    if (away && !isAway) log.warn({ err: away.error }, 'failed logins are not recorded until the database answers')
    isAway = away !== undefined
    if (refused)
      log.error(
        { err: refused.error, count: refused.count },
        'failed logins are not recorded: the database refuses them',
      )
  }

  const writeAll = async (): Promise<void> => {
    const startedMs = monotonicClock.elapsedMs()
    const outcome = await write(open.take())
    for (const { row, count } of outcome.written) onWritten(row, count)
    for (const tally of outcome.left) open.add(tally)
    report(outcome)
    const nowMs = monotonicClock.elapsedMs()
    const isWhole = !outcome.away && !outcome.refused
    const pauseMs = isWhole ? Math.max(LEAST_PAUSE_MS, PAUSE_FACTOR * (nowMs - startedMs)) : MOST_PAUSE_MS
    earliestMs = nowMs + Math.min(MOST_PAUSE_MS, pauseMs)
  }

  const writeNow = (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    writing ??= writeAll().finally(() => {
      writing = undefined
      if (!open.isEmpty) writeSoon()
    })
    return writing
  }

  const writeSoon = (): void => {
    if (writing) return
    timer ??= setTimeout(writeNow, Math.max(0, earliestMs - monotonicClock.elapsedMs())).unref()
  }

  return {
    tally(event: CountedEvent, caller?: Caller): void {
      const { userId, email, details } = event
      const tried = { userId, emailLower: email === undefined ? undefined : readEmail(email)?.lower }
      const account = email === undefined ? undefined : pseudonymOf(email)
      const row = newRow(event, caller)
      open.add({ tried, account, details, network: caller?.network ?? '', row, count: 1, isRest: false })
      writeSoon()
    },

    /** Writes what was counted until now; does not fail. */
    async flush(): Promise<void> {
      await writing
      // Another call that writes since then writes all that was counted before this one.
      await (open.isEmpty ? writing : writeNow())
    },
  }
}

interface Outcome {
  written: WrittenTally[]
  /** The tallies that are not written yet, since the database is away. */
  left: OpenTally[]
  away?: { error: unknown } | undefined
  /** The tallies that the database refused. To try them without end would keep all others from being written. */
  refused?: { count: number; error: unknown } | undefined
}

/** So few that a slow database, too, writes them within the timeout of an operation. */
const MOST_AT_ONCE = 50

/** Writes tallies in few transactions; where one is refused, in one for each half, down to the tally at fault. */
const createTallyWriter = ({ db, findAccount }: TallyWriterDeps) => {
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
  /** The row as it is stored, but with the count of this part in its details. */
  row: AuditRow
  count: number
}

const partOf = (row: AuditRow, count: number): WrittenTally => ({
  row: { ...row, details: JSON.stringify({ ...JSON.parse(row.details), count }) },
  count,
})
