import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { createMutex } from './mutex.ts'

export type CheckpointMode = 'PASSIVE' | 'RESTART'

/** About 8 MB of log at two pages a commit. */
const COMMITS_BETWEEN_CHECKPOINTS = 1000

interface CheckpointsDeps {
  file: string
  turns: ReturnType<typeof createMutex>
  /** A checkpoint that fails leaves a longer log and nothing worse; somebody should know. */
  onFailure: (error: Error) => void
}

/**
 * Moves the log into the database file on another thread, because a checkpoint syncs, and a sync on the main thread
 * stops every request. The bulk goes while commits go on (`PASSIVE`); then ours wait for the short rest (`RESTART`),
 * so that the next commit writes the log from its beginning again and it never grows.
 */
export const createCheckpoints = ({ file, turns, onFailure }: CheckpointsDeps) => {
  let commits = 0
  let worker: Worker | undefined
  let underWay: Promise<void> | undefined

  const ask = async (mode: CheckpointMode): Promise<void> => {
    worker ??= startWorker(file)
    worker.postMessage(mode)
    await once(worker, 'message')
  }

  const checkpoint = async (): Promise<void> => {
    try {
      await ask('PASSIVE')
      await turns.runExclusive(() => ask('RESTART'))
    } catch (error) {
      worker = undefined
      onFailure(error instanceof Error ? error : new Error(String(error)))
    }
  }

  return {
    afterCommit(): void {
      commits += 1
      if (commits < COMMITS_BETWEEN_CHECKPOINTS || underWay) return
      commits = 0
      underWay = checkpoint().finally(() => {
        underWay = undefined
      })
    },
    async stop(): Promise<void> {
      await underWay
      if (!worker) return
      // It may be all that is left open, and its end must be waited for.
      worker.ref()
      worker.postMessage('STOP')
      await once(worker, 'exit')
    },
  }
}

const startWorker = (file: string): Worker => {
  const worker = new Worker(new URL('./checkpoint-worker.ts', import.meta.url), {
    workerData: file,
    resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 },
  })
  worker.unref()
  return worker
}
