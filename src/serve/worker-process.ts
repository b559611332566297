import cluster from 'node:cluster'
import { AppError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { Snapshot } from '../metrics/registry.ts'
import { PING_EVERY_MS, watchWorker } from './heartbeat.ts'
import { type Report, type Settings, tell, toError } from './worker-messages.ts'

/** How a worker ended; `problem` says why, where it could still tell. */
interface End {
  code: number | null
  signal: string | null
  problem?: string
}

/** Threads beyond those for password hashes, as in bin/svc.js. */
const OTHER_THREADS = 4

export interface WorkerDeps extends Settings {
  log: Log
  /** How often each of them is looked after. */
  pingEveryMs?: number
}

/** Starts a worker process; the parts of its life are promises. One that is stuck is killed. */
export const startWorker = ({ config, stopWithinMs, log, pingEveryMs = PING_EVERY_MS }: WorkerDeps) => {
  const served = Promise.withResolvers<string>()
  const left = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<End>()
  let isServing = false
  let failure: Error | undefined
  let measuring: PromiseWithResolvers<Snapshot | undefined> | undefined

  const measured = (metrics: Snapshot | undefined): void => {
    measuring?.resolve(metrics)
    measuring = undefined
  }

  const end = (code: number | null, signal: string | null): void => {
    watch.end()
    const how = signal ?? `exit code ${code}`
    served.reject(failure ?? new AppError('internal_error', `A worker ended before it could serve (${how}).`))
    left.resolve()
    measured(undefined)
    ended.resolve({ code, signal, ...(failure && { problem: failure.message }) })
  }

  const hear = (report: Report): void => {
    watch.heard()
    if (report.kind === 'asks') tell(worker, { kind: 'begin', config, stopWithinMs })
    if (report.kind === 'leaves') left.resolve()
    if (report.kind === 'fails') failure = toError(report.failure)
    if (report.kind === 'measures') measured(report.metrics)
    if (report.kind === 'serves') {
      isServing = true
      watch.serves()
      served.resolve(report.listen)
    }
  }

  const giveUp = (what: string): void => {
    log.warn({ pid: worker.process.pid }, `worker ${what}: it is killed`)
    failure = new AppError('internal_error', `A worker ${what}.`)
    worker.process.kill('SIGKILL')
  }

  served.promise.catch(() => {})
  const worker = cluster.fork({ UV_THREADPOOL_SIZE: String(config.hashesAtOnce + OTHER_THREADS) })
  const watch = watchWorker({ pingEveryMs, ping: () => tell(worker, { kind: 'ping' }), giveUp })
  worker.on('message', hear)
  worker.once('exit', end)
  worker.on('error', (error: Error) => {
    // Where no process could be made, there is none that could exit.
    if (worker.process.pid !== undefined) return
    failure = error
    end(null, null)
  })

  return {
    pid: worker.process.pid,
    /** Where it listens, once it does; rejects when it ends before. */
    served: served.promise,
    /** Resolves when it takes no new connections any more. */
    left: left.promise,
    /** Resolves when the process is gone. */
    ended: ended.promise,
    /** Lets it finish what it has begun; one that does not serve yet has begun nothing. */
    stop(): void {
      if (isServing) tell(worker, { kind: 'stop' })
      else worker.process.kill('SIGKILL')
    },
    /** Resolves to its metrics as soon as it answers; to undefined when it has none, or ends. */
    async measure(): Promise<Snapshot | undefined> {
      if (!isServing) return undefined
      if (measuring) return measuring.promise
      measuring = Promise.withResolvers()
      tell(worker, { kind: 'measure' })
      return measuring.promise
    },
    kill: (): boolean => worker.process.kill('SIGKILL'),
  }
}

export type WorkerProcess = ReturnType<typeof startWorker>
