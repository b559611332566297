import type { Log } from './lib/log.ts'

interface Chore {
  name: string
  /** Resolves to how many rows were deleted. */
  run: () => Promise<number>
}

interface Parts {
  chores: Chore[]
  intervalMs: number
  /** Reserves a chore for this process for so long; false while another process has it. */
  reserve: (chore: string, forMs: number) => Promise<boolean>
  log: Log
  /** Hears how many rows each chore has deleted. */
  onDeleted?: (chore: string, deleted: number) => void
}

/** Who takes longer is dead, or so slow that help does no harm. */
const LONGEST_CHORE_MS = 600_000

/** Deletes what is past its time, now and then, one chore after the other; of several processes, one does each. */
export const createHousekeeping = ({ chores, intervalMs, reserve, log, onDeleted }: Parts) => {
  let timer: NodeJS.Timeout | undefined
  let round: Promise<void> | undefined

  const runReserved = async ({ name, run }: Chore): Promise<void> => {
    if (!(await reserve(name, LONGEST_CHORE_MS))) return
    try {
      const deleted = await run()
      onDeleted?.(name, deleted)
      if (deleted > 0) log.info({ chore: name, deleted }, 'cleaned up')
    } finally {
      await reserve(name, intervalMs)
    }
  }

  const runAll = async (): Promise<void> => {
    for (const chore of chores) {
      await runReserved(chore).catch((error: unknown) => {
        log.warn({ chore: chore.name, err: error }, 'clean-up failed')
      })
    }
  }

  return {
    start(): void {
      timer = setInterval(() => {
        round ??= runAll().finally(() => {
          round = undefined
        })
      }, intervalMs).unref()
    },
    async stop(): Promise<void> {
      clearInterval(timer)
      await round
    },
  }
}
