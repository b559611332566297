import type { Log } from '../lib/log.ts'
import { type Clock, MAX_CLOCK_SKEW_MS, monotonicClock, toTimestamp } from '../lib/time.ts'
import { coalesce } from '../lib/turns.ts'
import type { Queries } from './database.ts'
import { compareClocks } from './server-clock.ts'

export interface Job {
  name: string
  /** Deletes the rows that are too old at this time; resolves to how many. */
  run: (nowMs: number) => Promise<number>
}

/** Reserves the job of the same name for one process. */
export interface Reservation {
  name: string
  forMs: number
  /** A process reserves this job for this time at most. */
  longestMs: number
}

interface CleanupDeps {
  jobs: Job[]
  intervalMs: number
  /** Finds the time that rows are deleted by; resolves to undefined while none may be. */
  findTime: () => Promise<number | undefined>
  /** Resolves to false while another process has the job. */
  reserve: (reservation: Reservation) => Promise<boolean>
  log: Log
  /** It is called with the number of rows that each job has deleted. */
  onDeleted?: (job: string, deleted: number) => void
}

/** A process that takes longer has died, or is so slow that a second process does no harm. */
const LONGEST_JOB_MS = 600_000

/** Deletes expired rows at an interval, one job after the other. If there are several processes, one runs each job. */
export interface Cleanup {
  start(): void
  /** Resolves when the job under way has ended. */
  stop(): Promise<void>
}

export const createCleanup = ({ jobs, intervalMs, findTime, reserve, log, onDeleted }: CleanupDeps): Cleanup => {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined

  const longestMs = Math.max(LONGEST_JOB_MS, intervalMs)

  const runReserved = async ({ name, run }: Job, nowMs: number): Promise<void> => {
    if (!(await reserve({ name, forMs: LONGEST_JOB_MS, longestMs }))) return
    try {
      const deleted = await run(nowMs)
      onDeleted?.(name, deleted)
      if (deleted > 0) log.info({ chore: name, deleted }, 'cleaned up')
    } finally {
      await reserve({ name, forMs: intervalMs, longestMs })
    }
  }

  const runAll = async (): Promise<void> => {
    const nowMs = await findTime()
    if (nowMs === undefined) return
    for (const job of jobs) {
      await runReserved(job, nowMs).catch((error: unknown) => {
        log.warn({ chore: job.name, err: error }, 'clean-up failed')
      })
    }
  }

  return {
    start() {
      timer = setInterval(() => {
        running ??= runAll()
          .catch((error: unknown) => log.warn({ err: error }, 'clean-up failed'))
          .finally(() => {
            running = undefined
          })
      }, intervalMs).unref()
    },
    async stop() {
      clearInterval(timer)
      await running
    },
  }
}

const DAY_MS = 24 * 3_600_000

/** The log names a wrong clock so often. */
const WARN_EVERY_MS = 600_000

/** This row of `installation` holds two times: `LATEST JUMPED`, of which the second is 0 unless the clock jumped. */
const ROW = 'cleanup time'

interface CleanupTimeDeps {
  db: Pick<Queries, 'get' | 'run'>
  clock: Clock
  log: Log
}

/**
 * Finds the time by which rows are too old: that of the database's server. It is undefined while the time is doubtful,
 * since rows that a wrong clock deletes, such as records of an attack, do not come back when the clock is set right:
 *
 * - The clock of this machine differs from that of the server by more than a minute.
 * - The time is more than a day ahead of that of the last clean-up, and svc has not run for so long. A clock was set,
 *   or svc was stopped. It is believed after a day.
 */
export const createCleanupTime = ({ db, clock, log }: CleanupTimeDeps): (() => Promise<number | undefined>) => {
  const elapsedMs = (): number => (clock.elapsedMs ?? monotonicClock.elapsedMs)()
  /** The time was last believed then, or this process began. */
  let believedAtMs = elapsedMs()
  let warnedAtMs = Number.NEGATIVE_INFINITY

  const warn = (facts: object, message: string): undefined => {
    if (elapsedMs() - warnedAtMs < WARN_EVERY_MS) return
    warnedAtMs = elapsedMs()
    log.warn(facts, message)
  }

  /** Finds when the time jumped ahead; resolves to 0 when it did not. */
  const findJump = async (nowMs: number, passedMs: number): Promise<number> => {
    const row = await db.get<{ value: string }>('SELECT value FROM installation WHERE name = ?', ROW)
    const [latestMs = nowMs, jumpedMs = 0] = row?.value.split(' ').map(Number) ?? []
    if (nowMs - latestMs - passedMs <= DAY_MS) return 0
    const isBelieved = jumpedMs > 0 && nowMs - jumpedMs > DAY_MS
    if (isBelieved) return 0
    // The clock was set back before the time of the jump.
    const sinceMs = jumpedMs > 0 && jumpedMs <= nowMs ? jumpedMs : nowMs
    if (sinceMs !== jumpedMs) await store(latestMs, sinceMs)
    return sinceMs
  }

  const store = (latestMs: number, jumpedMs: number): Promise<number> =>
    db.run(
      'INSERT INTO installation (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
      ROW,
      `${latestMs} ${jumpedMs}`,
    )

  // One at a time: of two at once, the one that began before a pause could be stored last, and look like a jump.
  return coalesce(async () => {
    // The time is read before the database is asked: the time that passes during the answer counts twice, and is never
    // a jump.
    const askedAtMs = elapsedMs()
    const { nowMs, aheadMs } = await compareClocks(db, clock)
    if (Math.abs(aheadMs) > MAX_CLOCK_SKEW_MS) {
      return warn({ ahead_ms: aheadMs }, 'the clock of this machine is not that of the database: nothing is deleted')
    }
    const jumpedMs = await findJump(nowMs, askedAtMs - believedAtMs)
    if (jumpedMs > 0) {
      const until = toTimestamp(jumpedMs + DAY_MS)
      return warn({ until }, 'the time is far ahead of the last clean-up: nothing is deleted until then')
    }
    believedAtMs = askedAtMs
    await store(nowMs, 0)
    return nowMs
  })
}
