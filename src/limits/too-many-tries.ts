import { AppError } from '../lib/errors.ts'
import type { LimitName } from './limit-table.ts'

const secondsOf = (waitMs: number): number => Math.max(1, Math.ceil(waitMs / 1000))

/** A try that was refused (`rate_limited`), and the limit whose window ends last, in so many milliseconds. */
export class TooManyTries extends AppError {
  readonly limit: LimitName

  constructor(limit: LimitName, waitMs: number) {
    const retryAfterSeconds = secondsOf(waitMs)
    super('rate_limited', `Too many tries. Try again in ${retryAfterSeconds} seconds.`, { retryAfterSeconds })
    this.name = 'TooManyTries'
    this.limit = limit
  }
}
