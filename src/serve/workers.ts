import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '../lib/errors.ts'
import { startWorker, type WorkerDeps, type WorkerProcess } from './worker-process.ts'

/** A worker that has lived so long did not die of its start. */
const SETTLED_MS = 30_000
const FIRST_DELAY_MS = 100
const LONGEST_DELAY_MS = 10_000

/** How long to wait before the next worker in the place of one that lived so long: at first not at all. */
export const createBackoff = () => {
  let delayMs = 0
  return (livedMs: number): number => {
    const waitMs = livedMs < SETTLED_MS ? delayMs : 0
    delayMs = Math.min(LONGEST_DELAY_MS, Math.max(FIRST_DELAY_MS, waitMs * 2))
    return waitMs
  }
}

/** By itself: whoever did not serve yet is ended by a signal. */
const isFailure = ({ code }: { code: number | null }): boolean => code !== 0 && code !== null

/** The worker processes of a supervisor: as many as the settings say, and another one for each that dies. */
export const createWorkers = (parts: WorkerDeps) => {
  const { config, log } = parts
  const alive = new Set<WorkerProcess>()
  const stopping = new AbortController()

  const add = (): WorkerProcess => {
    const worker = startWorker(parts)
    alive.add(worker)
    void worker.ended.then(() => alive.delete(worker))
    return worker
  }

  const noteEnd = async ({ pid, ended }: WorkerProcess): Promise<void> => {
    const end = await ended
    if (stopping.signal.aborted && !isFailure(end)) return
    log[end.code === 0 ? 'info' : 'warn']({ pid, ...end }, 'worker ended')
  }

  /** Another worker for one that has left, after the pause that is due. A start that fails outright is a life of 0 ms. */
  const replace = async (pause: (livedMs: number) => number, livedMs: number): Promise<WorkerProcess | undefined> => {
    await sleep(pause(livedMs), undefined, { signal: stopping.signal }).catch(() => {})
    if (stopping.signal.aborted) return undefined
    try {
      const worker = add()
      void worker.served.then(() => log.info({ pid: worker.pid }, 'worker serves')).catch(() => {})
      return worker
    } catch (error) {
      log.error({ err: error }, 'worker cannot be started')
      return replace(pause, 0)
    }
  }

  const keepPlace = async (first: WorkerProcess): Promise<void> => {
    const pause = createBackoff()
    let worker: WorkerProcess | undefined = first
    while (worker) {
      const sinceMs = performance.now()
      void noteEnd(worker)
      await worker.left
      worker = await replace(pause, performance.now() - sinceMs)
    }
  }

  return {
    /** Resolves to where all of them listen; rejects with what kept the first of them from it. */
    async start(): Promise<string> {
      const first = Array.from({ length: config.workers }, add)
      const [listen = ''] = await Promise.all(first.map(({ served }) => served))
      for (const worker of first) void keepPlace(worker)
      return listen
    },

    /** Resolves when all have finished what they had begun and are gone. */
    async stop(): Promise<void> {
      stopping.abort()
      const ends = [...alive].map(async (worker) => {
        worker.stop()
        return worker.ended
      })
      if ((await Promise.all(ends)).some(isFailure)) throw new AppError('internal_error', 'Not all workers ended well.')
    },

    /** Ends all of them at once. */
    kill: (): void => {
      for (const worker of alive) worker.kill()
    },

    isStopping: (): boolean => stopping.signal.aborted,

    alive: (): Iterable<WorkerProcess> => alive,
  }
}

export type Workers = ReturnType<typeof createWorkers>
