import type { Caller } from '../lib/caller.ts'
import { readEmail } from '../lib/email-address.ts'
import type { Log } from '../lib/log.ts'
import { monotonicClock } from '../lib/time.ts'
import type { CountedEvent } from './audit-event.ts'
import type { AuditRow } from './audit-store.ts'
import { createOpenTallies } from './open-tallies.ts'
import { createTallyWriter, type Outcome, type TallyWriterDeps } from './tally-writer.ts'

export interface TalliesDeps extends TallyWriterDeps {
  log: Log
  /** A keyed hash of an email of no known user, and of what else was entered for one. */
  pseudonymOf: (entered: string) => string
  /** The row of an event, with its id and its time. */
  newRow: (event: CountedEvent, caller: Caller | undefined) => AuditRow
  /** Called after the commit, with the row as it is stored, and the count of this part of it in its details and here. */
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

    /** Writes what is counted until now; does not fail. */
    async flush(): Promise<void> {
      await writing
      // What another call writes since then has all that was counted before this one.
      await (open.isEmpty ? writing : writeNow())
    },
  }
}
