import type { Worker } from 'node:cluster'
import type { Config } from '../config/config.ts'
import { AppError, type ErrorCode } from '../lib/errors.ts'
import type { Snapshot } from '../metrics/registry.ts'

/** What a worker is started with in place of `serve`; means something to a child of a supervisor only. */
export const WORKER_COMMAND = 'worker'

/** What a worker tells its supervisor: it is there, it serves, it takes no more than it has, it cannot begin, and metrics. */
export type Report =
  | { kind: 'asks' }
  | { kind: 'serves'; listen: string }
  | { kind: 'lives' }
  | { kind: 'leaves' }
  | { kind: 'fails'; failure: Failure }
  | { kind: 'measures'; metrics: Snapshot | undefined }

/** What a worker works by: the settings of its supervisor's own start, whatever has changed since. */
export interface Settings {
  config: Config
  /** How long a stop may take beyond the drain, in milliseconds. */
  stopWithinMs: number
}

/** What a supervisor tells its workers. */
export type Order = ({ kind: 'begin' } & Settings) | { kind: 'ping' } | { kind: 'stop' } | { kind: 'measure' }

interface Failure {
  code: ErrorCode | undefined
  message: string
  cause: string | undefined
}

/** Sends a message to the other side; `then` is called when it is sent, or when there is nobody any more. */
export const tell = (worker: Worker, message: Report | Order, then: () => void = () => {}): void => {
  worker.send(message, then)
}

/** An error in a form that another process can be told. */
export const toFailure = (error: unknown): Failure => {
  const { message, cause } = error instanceof Error ? error : new Error(String(error))
  return {
    code: error instanceof AppError ? error.code : undefined,
    message,
    cause: cause instanceof Error ? cause.message : undefined,
  }
}

/** The error that another process has told of. */
export const toError = ({ code, message, cause }: Failure): Error => {
  const details = cause === undefined ? {} : { cause: new Error(cause) }
  return code === undefined ? new Error(message, details) : new AppError(code, message, details)
}
