import cluster from 'node:cluster'
import { AppError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { Snapshot } from '../metrics/registry.ts'
import { PING_EVERY_MS, startHeartbeat } from './heartbeat.ts'
import { deserializeError, type MessageFromWorker, send, type WorkerSettings } from './worker-messages.ts'

/** How a worker process ended. */
export interface WorkerExit {
  code: number | null
  signal: string | null
  /** The error that the worker reported, or why it was killed. */
  problem?: string
}

/** Threads for everything but password hashes, as in bin/svc.js. */
const OTHER_THREADS = 4

export interface WorkerDeps extends WorkerSettings {
  log: Log
  pingEveryMs?: number
}

/** A worker as its supervisor sees it. */
export interface WorkerProcess {
  pid: number | undefined
  /** Resolves to the address that the worker listens on. Rejects if the worker ends before. */
  serving: Promise<string>
  /** Resolves when the worker begins to stop, or has ended: it can be replaced from then on. */
  stopping: Promise<void>
  /** Resolves when the process has ended. */
  ended: Promise<WorkerExit>
  /** Lets the worker finish its requests. A worker that does not serve yet has none, and is killed. */
  stop(): void
  /** Undefined when the worker does not serve or ends before it answers. A stuck worker does not answer. */
  measure(): Promise<Snapshot | undefined>
  kill(): boolean
}

/** Starts a worker process, and kills it when it is stuck. */
export const startWorker = (deps: WorkerDeps): WorkerProcess => {
  const { config, stopWithinMs, log, pingEveryMs = PING_EVERY_MS } = deps
  const serving = Promise.withResolvers<string>()
  const stopping = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<WorkerExit>()
  let isServing = false
  let failure: Error | undefined
  let pendingMetrics: PromiseWithResolvers<Snapshot | undefined> | undefined

  const resolveMetrics = (metrics: Snapshot | undefined): void => {
    pendingMetrics?.resolve(metrics)
    pendingMetrics = undefined
  }

  const onExit = (code: number | null, signal: string | null): void => {
    heartbeat.stop()
    const how = signal ?? `exit code ${code}`
    serving.reject(failure ?? new AppError('internal_error', `A worker ended before it could serve (${how}).`))
    stopping.resolve()
    resolveMetrics(undefined)
    ended.resolve({ code, signal, ...(failure && { problem: failure.message }) })
  }

  const onMessage = (message: MessageFromWorker): void => {
    heartbeat.messageReceived()
    if (message.kind === 'started') send(worker, { kind: 'settings', config, stopWithinMs })
    if (message.kind === 'stopping') stopping.resolve()
    if (message.kind === 'failed') failure = deserializeError(message.failure)
    if (message.kind === 'metrics') resolveMetrics(message.metrics)
    if (message.kind === 'serving') {
      isServing = true
      heartbeat.servingBegan()
      serving.resolve(message.listen)
    }
  }

  const onStuck = (problem: string): void => {
    log.warn({ pid: worker.process.pid }, `worker ${problem}: it is killed`)
    failure = new AppError('internal_error', `A worker ${problem}.`)
    worker.process.kill('SIGKILL')
  }

  // A replacement that fails to start is no unhandled rejection: `ended` reports it.
  serving.promise.catch(() => {})
  const worker = cluster.fork({ UV_THREADPOOL_SIZE: String(config.hashesAtOnce + OTHER_THREADS) })
  const heartbeat = startHeartbeat({ pingEveryMs, ping: () => send(worker, { kind: 'ping' }), onStuck })
  worker.on('message', onMessage)
  worker.once('exit', onExit)
  worker.on('error', (error: Error) => {
    // A process that could not be created emits no `exit`.
    if (worker.process.pid !== undefined) return
    failure = error
    onExit(null, null)
  })

  return {
    pid: worker.process.pid,
    serving: serving.promise,
    stopping: stopping.promise,
    ended: ended.promise,
    stop(): void {
      if (isServing) send(worker, { kind: 'stop' })
      else worker.process.kill('SIGKILL')
    },
    async measure(): Promise<Snapshot | undefined> {
      if (!isServing) return undefined
      if (pendingMetrics) return pendingMetrics.promise
      pendingMetrics = Promise.withResolvers()
      send(worker, { kind: 'get-metrics' })
      return pendingMetrics.promise
    },
    kill: (): boolean => worker.process.kill('SIGKILL'),
  }
}
