import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Mutex } from './mutex.ts'

type CheckpointMode = 'PASSIVE' | 'RESTART'

/** About 8 MB of log at two pages a write; writes that share a commit also share pages. */
const WRITES_BETWEEN_CHECKPOINTS = 1000

interface CheckpointsDeps {
  file: string
  /** Held while a `RESTART` runs, so that no commit of this process does. */
  mutex: Mutex
  /** Called when a checkpoint fails, which only makes the log longer. */
  onFailure: (error: Error) => void
}

interface Checkpoints {
  /** Counts committed writes; every thousandth starts a checkpoint. */
  afterWrites(count: number): void
  /** Resolves when no checkpoint runs and the thread has ended. */
  stop(): Promise<void>
}

/**
 * Moves the log into the database file on another thread, because a checkpoint syncs, and a sync on the main thread
 * stops every request. Most pages move while commits go on (`PASSIVE`). Then commits wait until the few remaining pages
 * are moved (`RESTART`), so that the next commit writes the log from its start and it never grows.
 */
export const createCheckpoints = ({ file, mutex, onFailure }: CheckpointsDeps): Checkpoints => {
  let writes = 0
  let worker: Worker | undefined
  let running: Promise<void> | undefined

  const runCheckpoint = async (mode: CheckpointMode): Promise<void> => {
    worker ??= startWorker(file)
    worker.postMessage(mode)
    await once(worker, 'message')
  }

  const runBoth = async (): Promise<void> => {
    try {
      await runCheckpoint('PASSIVE')
      await mutex.runExclusive(() => runCheckpoint('RESTART'))
    } catch (error) {
      worker = undefined
      onFailure(error instanceof Error ? error : new Error(String(error)))
    }
  }

  return {
    afterWrites(count) {
      writes += count
      if (writes < WRITES_BETWEEN_CHECKPOINTS || running) return
      writes = 0
      running = runBoth().finally(() => {
        running = undefined
      })
    },
    async stop() {
      await running
      if (!worker) return
      // `startWorker` called `unref`: without `ref` the process could end before the thread has closed the database.
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
