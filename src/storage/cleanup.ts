import type { Log } from '../lib/log.ts'

export interface Job {
  name: string
  /** Deletes what is too old at this time; resolves to how many rows were deleted. */
  run: (nowMs: number) => Promise<number>
}

/** Of a job, which has the same name, for one process. */
export interface Reservation {
  name: string
  forMs: number
  /** The longest that a process reserves this job for. */
  longestMs: number
}

interface CleanupDeps {
  jobs: Job[]
  intervalMs: number
  /** The time that rows are deleted by; undefined while none may be. */
  findTime: () => Promise<number | undefined>
  /** False while another process has the job. */
  reserve: (reservation: Reservation) => Promise<boolean>
  log: Log
  /** Called with the number of rows that each job has deleted. */
  onDeleted?: (job: string, deleted: number) => void
}

/** A process that takes longer has died, or is so slow that a second process does no harm. */
const LONGEST_JOB_MS = 600_000

/** Deletes expired rows at an interval, one job after the other. Of several processes, one runs each job. */
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
