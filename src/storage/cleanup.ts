import type { Log } from '../lib/log.ts'

export interface Job {
  name: string
  /** Resolves to how many rows were deleted. */
  run: () => Promise<number>
}

interface CleanupDeps {
  jobs: Job[]
  intervalMs: number
  /** Reserves a job for this process for a time in milliseconds; false while another process has it. */
  reserve: (job: string, forMs: number) => Promise<boolean>
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

export const createCleanup = ({ jobs, intervalMs, reserve, log, onDeleted }: CleanupDeps): Cleanup => {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined

  const runReserved = async ({ name, run }: Job): Promise<void> => {
    if (!(await reserve(name, LONGEST_JOB_MS))) return
    try {
      const deleted = await run()
      onDeleted?.(name, deleted)
      if (deleted > 0) log.info({ chore: name, deleted }, 'cleaned up')
    } finally {
      await reserve(name, intervalMs)
    }
  }

  const runAll = async (): Promise<void> => {
    for (const job of jobs) {
      await runReserved(job).catch((error: unknown) => {
        log.warn({ chore: job.name, err: error }, 'clean-up failed')
      })
    }
  }

  return {
    start() {
      timer = setInterval(() => {
        running ??= runAll().finally(() => {
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
