import type { Caller } from '../lib/caller.ts'
import { readEmail } from '../lib/email-address.ts'
import type { Log } from '../lib/log.ts'
import { monotonicClock } from '../lib/time.ts'
import type { Database } from '../storage/database.ts'
import type { CountedEvent } from './audit-event.ts'
import type { AuditRow } from './audit-store.ts'
import { createTallyWriter, type OpenTally, placeOf, ROWS_OF_A_MINUTE, type TallyWriterDeps } from './tally-writer.ts'

export interface TalliesDeps extends TallyWriterDeps {
  db: Database
  log: Log
  /** The row of an event, with its id and its time. */
  newRow: (event: CountedEvent, caller: Caller | undefined) => AuditRow
  /** Called after the commit, with the row as far as this process knows it, and by how much its count has grown. */
  onWritten: (row: AuditRow, count: number) => void
}

/** Bounds memory, and what one transaction writes. */
const MOST_OPEN = 2 * ROWS_OF_A_MINUTE

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
  const { db, log, newRow } = deps
  const write = createTallyWriter(deps)
  let open = new Map<string, OpenTally>()
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> | undefined
  let earliestMs = 0
  let isFailing = false

  const add = (key: string, tally: OpenTally): void => {
    const known = open.get(key)
    if (known) {
      known.count += tally.count
      known.event = tally.event
    } else open.set(key, tally)
  }

  const addBounded = (tally: OpenTally): void => {
    const place = placeOf(tally.row)
    const key = `${place}/${tally.email ?? tally.row.userId ?? ''}/${tally.network}`
    if (open.size < MOST_OPEN || open.has(key)) add(key, tally)
    else add(place, { ...tally, isRest: true })
  }

  const writeAll = async (): Promise<void> => {
    const tallies = [...open]
    open = new Map()
    const startedMs = monotonicClock.elapsedMs()
    try {
      // Every process in one order: otherwise two would wait for each other's rows.
      tallies.sort(([one], [other]) => (one < other ? -1 : 1))
      const written = await db.inTransaction((transaction) =>
        write(
          transaction,
          tallies.map(([, tally]) => tally),
        ),
      )
      for (const { row, count } of written) deps.onWritten(row, count)
      isFailing = false
    } catch (error) {
      for (const [, tally] of tallies) addBounded(tally)
      if (!isFailing) log.warn({ err: error }, 'failed logins are not recorded until the database answers')
      isFailing = true
    }
    const tookMs = monotonicClock.elapsedMs() - startedMs
    const pauseMs = isFailing ? MOST_PAUSE_MS : Math.min(MOST_PAUSE_MS, Math.max(LEAST_PAUSE_MS, PAUSE_FACTOR * tookMs))
    earliestMs = monotonicClock.elapsedMs() + pauseMs
  }

  const writeNow = (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    writing ??= writeAll().finally(() => {
      writing = undefined
      if (open.size > 0) writeSoon()
    })
    return writing
  }

  const writeSoon = (): void => {
    if (writing) return
    timer ??= setTimeout(writeNow, Math.max(0, earliestMs - monotonicClock.elapsedMs())).unref()
  }

  return {
    tally(event: CountedEvent, caller?: Caller): void {
      const email = event.email === undefined ? undefined : lowerOf(event.email)
      addBounded({ event, email, network: caller?.network ?? '', row: newRow(event, caller), count: 1, isRest: false })
      writeSoon()
    },

    /** Writes what is counted until now; does not fail. */
    async flush(): Promise<void> {
      await writing
      if (open.size > 0) await writeNow()
    },
  }
}

/** Every spelling of an email is one account. */
const lowerOf = (email: string): string => readEmail(email)?.lower ?? email.trim().toLowerCase()
