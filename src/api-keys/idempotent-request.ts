import { createHash } from 'node:crypto'
import { AppError } from '../lib/errors.ts'
import type { Transaction } from '../storage/database.ts'

/** What an answer says. */
export interface Answer {
  status: number
  content: string
}

declare const KEPT: unique symbol

/** A response that was handed to `Keep`. */
export type Kept<Response> = Response & { readonly [KEPT]: true }

/**
 * Stores a response in the transaction of its effect, where the request has an `Idempotency-Key`. The handler of a
 * `POST` cannot return any other response.
 */
export type Keep<Response> = (transaction: Transaction, response: Response) => Promise<Kept<Response>>

/** A request that says by its `Idempotency-Key` that it is to have one effect, however often it comes. */
export interface IdempotentRequest {
  apiKeyId: string
  idempotencyKey: string
  method: string
  /** Path and query. */
  target: string
  body: Uint8Array
}

/** The right to do what a request asks for. */
export interface Claim {
  /**
   * Stores the answer in the transaction of the effect. `conflict`, so that the transaction ends without an effect, when
   * another process has taken the request over.
   */
  keep(transaction: Transaction, answer: Answer): Promise<void>
  /** Stores the answer to a request that had no effect. */
  keepFailure(answer: Answer): Promise<void>
  /** Gives the request back after a failure that is not kept: it can be sent again at once. */
  release(): Promise<void>
}

export const IDEMPOTENCY_FIELD = 'Idempotency-Key'

/** What must be the same in each request with one key. */
export const textOf = ({ method, target, body }: IdempotentRequest): string =>
  `${method} ${target} ${createHash('sha256').update(body).digest('base64url')}`

const RETRY_AFTER_SECONDS = 1

export const underWay = (): AppError =>
  new AppError('conflict', 'The first request with this Idempotency-Key is still under way. Send it again.', {
    field: IDEMPOTENCY_FIELD,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  })

export const otherRequest = (): AppError =>
  new AppError('unprocessable', 'This Idempotency-Key came before, with another body or path. Use a new one.', {
    field: IDEMPOTENCY_FIELD,
  })
