import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '../lib/errors.ts'
import { startWorker, type WorkerDeps, type WorkerExit, type WorkerProcess } from './worker-process.ts'

/** A worker that ran for this long did not fail because of its start. */
const SETTLED_MS = 30_000
const FIRST_DELAY_MS = 100
const MAX_DELAY_MS = 10_000

/**
 * Returns how long to wait before a worker is replaced, from how long it ran. The first replacement is immediate; the
 * delay doubles while workers end soon after their start.
 */
export const createBackoff = () => {
  let delayMs = 0
  return (ranForMs: number): number => {
    const waitMs = ranForMs < SETTLED_MS ? delayMs : 0
    delayMs = Math.min(MAX_DELAY_MS, Math.max(FIRST_DELAY_MS, waitMs * 2))
    return waitMs
  }
}

/**
 * Whether a worker failed. One that was killed has no exit code: the supervisor kills workers that do not serve yet.
 */
const isFailure = ({ code }: WorkerExit): boolean => code !== 0 && code !== null

/** The worker processes of a supervisor. */
export interface Workers {
  /** Resolves to the address that all workers listen on. Rejects with the error of the first worker that fails. */
  start(): Promise<string>
  /** Resolves when all workers have finished their requests and ended. */
  stop(): Promise<void>
  /** Ends all workers at once. */
  kill(): void
  isStopping(): boolean
  alive(): Iterable<WorkerProcess>
}

/** Keeps as many workers running as the settings say: each worker that ends is replaced. */
export const createWorkers = (deps: WorkerDeps): Workers => {
  const { config, log } = deps
  const alive = new Set<WorkerProcess>()
  const stopping = new AbortController()

  const startOne = (): WorkerProcess => {
    const worker = startWorker(deps)
    alive.add(worker)
    void worker.ended.then(() => alive.delete(worker))
    return worker
  }

  const logEnd = async ({ pid, ended }: WorkerProcess): Promise<void> => {
    const exit = await ended
    if (stopping.signal.aborted && !isFailure(exit)) return
    log[exit.code === 0 ? 'info' : 'warn']({ pid, ...exit }, 'worker ended')
  }

  /** Starts a replacement after the delay. If the start itself fails, tries again as after a run of 0 ms. */
  const replace = async (
    nextDelayMs: (ranForMs: number) => number,
    ranForMs: number,
  ): Promise<WorkerProcess | undefined> => {
    await sleep(nextDelayMs(ranForMs), undefined, { signal: stopping.signal }).catch(() => {})
    if (stopping.signal.aborted) return undefined
    try {
      const worker = startOne()
      void worker.serving.then(() => log.info({ pid: worker.pid }, 'worker serves')).catch(() => {})
      return worker
    } catch (error) {
      log.error({ err: error }, 'worker cannot be started')
      return replace(nextDelayMs, 0)
    }
  }

  /** Replaces one worker, and each of its replacements, until the supervisor stops. */
  const keepRunning = async (first: WorkerProcess): Promise<void> => {
    const nextDelayMs = createBackoff()
    let worker: WorkerProcess | undefined = first
    while (worker) {
      const startedAtMs = performance.now()
      void logEnd(worker)
      await worker.stopping
      worker = await replace(nextDelayMs, performance.now() - startedAtMs)
    }
  }

  return {
    async start(): Promise<string> {
      const first = Array.from({ length: config.workers }, startOne)
      const [listen = ''] = await Promise.all(first.map(({ serving }) => serving))
      for (const worker of first) void keepRunning(worker)
      return listen
    },

    async stop(): Promise<void> {
      stopping.abort()
      const exits = [...alive].map(async (worker) => {
        worker.stop()
        return worker.ended
      })
      if ((await Promise.all(exits)).some(isFailure)) {
        throw new AppError('internal_error', 'Not all workers ended well.')
      }
    },

    kill: (): void => {
      for (const worker of alive) worker.kill()
    },

    isStopping: (): boolean => stopping.signal.aborted,

    alive: (): Iterable<WorkerProcess> => alive,
  }
}
