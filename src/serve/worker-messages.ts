import type { Worker } from 'node:cluster'
import type { Config } from '../config/config.ts'
import { AppError, type ErrorCode } from '../lib/errors.ts'
import type { Snapshot } from '../metrics/registry.ts'

/** The argument of a worker process, in place of `serve`. Only a child of a supervisor accepts it. */
export const WORKER_COMMAND = 'worker'

export type MessageFromWorker =
  /** The process runs and waits for its settings. */
  | { kind: 'started' }
  | { kind: 'serving'; listen: string }
  /** The answer to a ping. */
  | { kind: 'pong' }
  /** The worker begins to stop: it drains, finishes its requests and ends. */
  | { kind: 'stopping' }
  | { kind: 'failed'; failure: SerializedError }
  | { kind: 'metrics'; metrics: Snapshot | undefined }

/** The supervisor's own settings, so that a worker that is replaced later gets the same. */
export interface WorkerSettings {
  config: Config
  /** How long a stop may take beyond the drain, in milliseconds. */
  stopWithinMs: number
}

export type MessageToWorker =
  | ({ kind: 'settings' } & WorkerSettings)
  | { kind: 'ping' }
  | { kind: 'stop' }
  | { kind: 'get-metrics' }

interface SerializedError {
  code: ErrorCode | undefined
  message: string
  cause: string | undefined
}

/** Sends a message to the other process. Calls `done` when it is sent, or cannot be because the process has ended. */
export const send = (
  worker: Worker,
  message: MessageFromWorker | MessageToWorker,
  done: () => void = () => {},
): void => {
  worker.send(message, done)
}

export const serializeError = (error: unknown): SerializedError => {
  const { message, cause } = error instanceof Error ? error : new Error(String(error))
  return {
    code: error instanceof AppError ? error.code : undefined,
    message,
    cause: cause instanceof Error ? cause.message : undefined,
  }
}

export const deserializeError = ({ code, message, cause }: SerializedError): Error => {
  const options = cause === undefined ? {} : { cause: new Error(cause) }
  return code === undefined ? new Error(message, options) : new AppError(code, message, options)
}
