import type { Log } from './lib/log.ts'

interface Chore {
  name: string
  /** Resolves to how many rows were deleted. */
  run: () => Promise<number>
}

interface Parts {
  chores: Chore[]
  intervalMs: number
  log: Log
}

/** Deletes what is past its time, now and then, one chore after the other. */
export const createHousekeeping = ({ chores, intervalMs, log }: Parts) => {
  let timer: NodeJS.Timeout | undefined
  let round: Promise<void> | undefined

  const runAll = async (): Promise<void> => {
    for (const { name, run } of chores) {
      try {
        const deleted = await run()
        if (deleted > 0) log.info({ chore: name, deleted }, 'cleaned up')
      } catch (error) {
        log.warn({ chore: name, err: error }, 'clean-up failed')
      }
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
